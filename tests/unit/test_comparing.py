"""What `treelings compare` says, in words and in JSON."""

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from referee.cli.comparing import Gauge, outcome, print_outcome
from referee.cli.show import SafeConsole
from referee.comparison import PATIENCE, Comparison
from referee.model import GameRecord, Submission, VoidGame
from referee.strength import Sprt
from tests.unit.test_comparison import CRASH, LOST, SHARED, WON, compared, deal

NAMES = {"bot": "OLD", "bot-2": "NEW"}


def said(comparison: Comparison, capsys: pytest.CaptureFixture[str]) -> str:
    print_outcome(comparison, NAMES)
    return " ".join(capsys.readouterr().out.split())


def deals(*games: Sequence[Sequence[int]]) -> list[list[GameRecord]]:
    return [deal(number, ranks) for number, ranks in enumerate(games)]


def test_an_improvement_is_told_with_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(compared(deals(SHARED, *[WON] * 25), test=Sprt(0, 50)), capsys)
    assert text.startswith("Yes: NEW is better. LLR +2.")
    assert "has reached +2.94: H1 is accepted. Of tests in which NEW is at most as strong as OLD, 5 % at most" in text
    assert "score 97.1 % 95 %: 90.8 % to 100.0 %" in text
    assert "to +∞" in text
    assert "deals 17 34 games" in text


def test_no_improvement_is_told_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(compared(deals(*[LOST, SHARED] * 40), test=Sprt(0, 50, beta=0.1)), capsys)
    assert text.startswith("No: NEW is not better. LLR -2.")
    assert "Of tests in which NEW is at least 50 nElo stronger than OLD, 10 % at most end like this" in text


def test_a_test_for_no_harm_says_good_enough(capsys: pytest.CaptureFixture[str]) -> None:
    yes = said(compared(deals(*[WON, SHARED] * 40), test=Sprt(-50, 0)), capsys)
    assert yes.startswith("Yes: NEW is good enough.")
    assert "Of tests in which NEW is at least 50 nElo weaker than OLD, 5 % at most end like this" in yes
    no = said(compared(deals(*[LOST, SHARED] * 40), test=Sprt(-50, -5)), capsys)
    assert no.startswith("No: NEW is not good enough.")
    assert "NEW is at most 5 nElo weaker than OLD" in no


def test_what_stays_open_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(compared(deals(WON)), capsys).startswith(
        "Undecided after 1 deal. LLR +0.04 is still between -2.94 (H0) and +2.94 (H1)."
    )
    assert said(compared([]), capsys).startswith("Undecided after 0 deals. LLR +0.00")


def test_a_bot_that_forfeits_every_game_is_told_with_its_first_fault(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(compared([deal(number, LOST, [CRASH]) for number in range(PATIENCE)]), capsys)
    assert text.startswith("Nothing to compare: NEW forfeited every game. `treelings check BOT` shows what goes wrong.")
    assert "NEW forfeited 10 of 10 games. The first: table/0/r0, turn 7: crash: the bot ended" in text


def test_void_deals_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    comparison = Comparison("bot", "bot-2", 2, Sprt())
    for number in range(PATIENCE):
        comparison.add(number, [VoidGame("table/0/r0", ("the disk is full",))] * 2)
    text = said(comparison, capsys)
    assert text.startswith("Nothing to compare: deal after deal failed on our side.")
    assert "Void on our side and not counted, deals: 5. The last: the disk is full" in text


def test_text_of_a_bot_cannot_style_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    fault = replace(CRASH, detail="[red]boom[/red] [link=x]")
    assert "crash: [red]boom[/red] [link=x]" in said(compared([deal(0, LOST, [fault])]), capsys)


def test_without_a_terminal_a_line_comes_ever_more_seldom(capsys: pytest.CaptureFixture[str]) -> None:
    comparison = Comparison("bot", "bot-2", 2, Sprt())
    with Gauge(comparison, lambda: 0.0) as gauge:
        for number in range(30):
            comparison.add(number, deal(number, SHARED))
            gauge.deals_done()
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["1 deal", "2 deals", "5 deals", "10 deals", "20 deals"]
    assert lines[-1] == "20 deals: LLR -0.03, score 50.0 %, Elo +0 (-49 to +49)"


@pytest.mark.parametrize(("encoding", "interactive"), [("ascii", True), ("utf-8", False)])
def test_a_terminal_that_cannot_draw_a_line_again_gets_plain_ones(encoding: str, interactive: bool) -> None:
    file = io.TextIOWrapper(io.BytesIO(), encoding, "backslashreplace")
    console = SafeConsole(file=file, force_terminal=True, force_interactive=interactive, width=80, color_system=None)
    comparison = Comparison("bot", "bot-2", 2, Sprt())
    with Gauge(comparison, lambda: 0.0, console) as gauge:
        comparison.add(0, deal(0, SHARED))
        gauge.deals_done()
    file.seek(0)
    assert file.read().startswith("1 deal: LLR -0.00, score 50.0 %, ")


def test_what_went_wrong_is_told_on_the_way(capsys: pytest.CaptureFixture[str]) -> None:
    comparison = Comparison("bot", "bot-2", 2, Sprt())
    comparison.add(0, [VoidGame("table/0/r0", ("the disk is full",))] * 2)
    comparison.add(1, deal(1, LOST, [CRASH]))
    with Gauge(comparison, lambda: 0.0) as gauge:
        gauge.deals_done()
    assert capsys.readouterr().err.endswith(", forfeits: 2, void deals: 1\n")


def test_the_outcome_is_plain_json_also_where_elo_is_infinite() -> None:
    old = Submission("bot", "Ann", "sha256:1", Path(), ("x",), "python")
    text = json.dumps(outcome(compared(deals(WON, WON)), old, old), allow_nan=False)
    told = json.loads(text)
    assert told["elo"]["mean"] is None
    assert told["nelo"] is None
    assert (told["verdict"], told["better"], told["deals"], told["half_points"]) == ("open", False, 2, [0, 0, 0, 0, 2])
