"""What is told of a run while it goes on."""

import pytest

from referee.cli.progress import GameProgress, result_of
from referee.model import VoidGame
from tests.support.records import forfeited, record


def test_only_who_made_a_fault_forfeits_in_the_last_result() -> None:
    game = forfeited(2, 1)
    (fault,) = game.faults
    words = {seat: f"{game.seats[seat].bot} {'forfeits' if seat == fault.seat else 'wins'}" for seat in (0, 1)}
    assert result_of(game) == f"{words[0]} · {words[1]}"


def test_a_game_that_was_played_out_shows_its_scores() -> None:
    game = record()
    assert game.scores is not None
    assert result_of(game) == " · ".join(
        f"{seat.bot} {score}" for seat, score in zip(game.seats, game.scores, strict=True)
    )


def test_a_fault_is_one_line_for_programs_with_bot_game_turn_kind_and_detail(
    capsys: pytest.CaptureFixture[str],
) -> None:
    game = forfeited(2, 1)
    (fault,) = game.faults
    with GameProgress("night 1") as progress:
        progress.game_done(game)
    expected = f"  {game.seats[fault.seat].bot} forfeits ({game.id}, turn {fault.turn}): {fault.kind}: {fault.detail}\n"
    assert capsys.readouterr().err == expected


def test_who_fails_in_every_game_is_told_of_three_times_and_then_once_that_it_goes_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with GameProgress("night 1") as progress:
        for _ in range(9):
            progress.game_done(forfeited(2, 1))
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 4
    assert "forfeits again" in told[3]


def test_a_void_game_is_told_with_its_last_reason(capsys: pytest.CaptureFixture[str]) -> None:
    with GameProgress("night 1") as progress:
        progress.game_void(VoidGame("d/r0", ("the engine was busy", "the disk is full")))
    assert capsys.readouterr().err == "  void: d/r0: the disk is full\n"
