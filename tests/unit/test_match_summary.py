"""How the outcome of a match looks: what its numbers mean is said below them."""

from dataclasses import replace

import pytest

from referee.cli.summary import print_summary
from tests.support.records import record


@pytest.mark.parametrize(("players", "told"), [(2, False), (3, True), (5, True)])
def test_what_a_score_is_at_a_table_of_more_than_two_is_told(
    players: int, *, told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    print_summary("a match", [record(players)])
    shown = capsys.readouterr().out
    assert ("the share of the other seats that were beaten" in shown) is told


def test_a_single_game_is_one_game(capsys: pytest.CaptureFixture[str]) -> None:
    print_summary("a match", [record()])
    assert capsys.readouterr().out.startswith("a match: 1 deal, 1 game\n")


@pytest.mark.parametrize("deals", [1, 2])
def test_a_question_mark_is_explained_where_there_is_one(deals: int, capsys: pytest.CaptureFixture[str]) -> None:
    print_summary("a match", [replace(record(seed=seed), deal=f"a match/{seed}") for seed in range(deals)])
    shown = capsys.readouterr().out
    assert ("± ?" in shown, "?: these are too few deals" in shown) == (deals == 1, deals == 1)
