"""What the author of each broken bot is told by `treelings check`: which step fails, why, and what to do."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from referee.cli.app import app
from tests.support.broken import Broken, broken_bots

BOTS = broken_bots()
TRIES = 3
"""A machine that is too busy for a fair game says so, and is asked again."""


def check(bot: Broken, league: Path) -> Result:
    (league / "league.toml").write_text(bot.league_toml())
    command = ["check", str(bot.folder), "--league", str(league), "--sandbox", bot.sandbox, "--trust-bots"]
    for _ in range(TRIES):
        done = CliRunner().invoke(app, command)
        if "could not be checked" not in done.output:
            break
    return done


@pytest.mark.parametrize(
    "bot",
    [pytest.param(bot, id=bot.name, marks=pytest.mark.docker if bot.sandbox == "docker" else ()) for bot in BOTS],
)
def test_the_author_is_told_what_is_broken(bot: Broken, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if bot.sandbox == "docker":
        request.getfixturevalue("runtime_image")
    done = check(bot, tmp_path)
    print(done.stdout)
    marks = {name: mark for mark, name in re.findall(r"^([✓!✗?–]) \d (.+?)(?:  .*)?$", done.stdout, re.MULTILINE)}
    # A plain process is a warning of its own; a slow start is the machine's.
    assert {name for name, mark in marks.items() if mark == "!"} - {"sandbox", "start"} == set(bot.warns)
    assert [name for name, mark in marks.items() if mark == "✗"] == ([bot.step] if bot.step else [])
    assert done.exit_code == bool(bot.step)
    for words in bot.says:
        assert words in done.stdout
    rows = dict(re.findall(r"^  (got|next) +(.*)$", done.stdout, re.MULTILINE))
    assert rows.get("got", "").partition(":")[0] == bot.fault
    assert bot.hint in rows.get("next", "")
    if bot.step:
        assert "is not ready to play" in done.stdout
        assert all(mark == "–" for name, mark in list(marks.items())[list(marks).index(bot.step) + 1 :])
    else:
        assert "is ready to play, with " in done.stdout


def test_there_are_dozens_of_ways_to_break_a_bot() -> None:
    assert len(BOTS) >= 12
    assert {bot.fault for bot in BOTS} >= {"startup", "timeout", "illegal_move", "crash", "out_of_memory"}
    assert all(bot.does for bot in BOTS)
