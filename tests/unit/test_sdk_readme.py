"""What sdk/README.md shows to bot writers is true: its code runs and its tables name what there is."""

import random
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from referee.limits import Limits
from tests.support.local import play
from treelings import Bot, Clock, GameStart, State, View, derive_deck
from treelings.bot import comment_of
from treelings.server import told_where

README = (Path(__file__).parents[2] / "sdk" / "README.md").read_text()
DECK = derive_deck(bytes(32), "demo/0")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def run(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "readme"}
    exec(compile(source, "README.md", "exec"), names)
    return names


def test_the_ten_line_bot_has_ten_lines_and_plays_a_game() -> None:
    source = blocks("python")[0]
    bot: type[Bot] = run(source)["FirstBot"]
    assert len(source.splitlines()) == 10
    assert play([bot, bot, bot], DECK)[0].over


def test_the_bot_toml_is_one() -> None:
    (source,) = blocks("toml")
    assert tomllib.loads(source).keys() == {"name", "author", "command", "runtime"}


def test_the_forward_model_example_tells_moves_apart() -> None:
    view = View.of(State.deal(DECK, 2))
    worth = run(blocks("python")[1])["worth"]
    values = [worth(view, move, 20, random.Random(0)) for move in view.legal_moves]
    assert len(set(values)) > 1


def test_the_bot_of_playouts_plays_by_the_clock_and_says_why() -> None:
    bot: type[Bot] = run(blocks("python")[2])["PlayoutBot"]
    first: type[Bot] = run(blocks("python")[0])["FirstBot"]
    assert play([bot, first], DECK, clock=Clock(move_ms=2))[0].over
    player = bot()
    player.start(GameStart("demo/0/r0", 0, 2, "start", Clock()))
    view = View.of(State.deal(DECK, 2), limit_ms=1, bank_ms=1)
    assert player.choose(view) in view.legal_moves
    assert re.fullmatch(r"[+-]\d+\.\d points, the mean of \d+ deals", comment_of(player))


def test_what_a_bot_in_a_debugger_prints_is_as_shown() -> None:
    (shown,) = blocks("text")
    command, printed = shown.split("\n", 1)
    assert command == "$ python bot.py"
    assert printed == "".join(f"{line}\n" for line in told_where("MyBot", "127.0.0.1:50051"))


def test_every_field_of_a_view_is_in_the_table() -> None:
    told = re.findall(r"^\| `(\w+)` \| ", README, re.MULTILINE)
    assert sorted(told) == sorted([*View._fields, "pile"])


@pytest.mark.parametrize(
    "name",
    ["legal_moves", "play", "playout", "copy", "scores", "margin", "scoring", "parse", "heights", "market", "unseen"],
)
def test_every_name_of_a_state_in_the_table_is_one(name: str) -> None:
    assert f"`{name}" in README
    assert hasattr(State, name)


def test_the_limits_in_the_table_are_the_defaults() -> None:
    limits, clock = Limits(), Clock()
    mb, kb = 1024 * 1024, 1024
    rows = dict(re.findall(r"^\| ([\w -]+) \| (.+) \|$", README.split("## Where your bot runs")[1], re.MULTILINE))
    numbers = {what: [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", rows[what])] for what in rows}
    assert {what: found for what, found in numbers.items() if found} == {
        "files": [limits.tmp_bytes // mb],
        "memory": [limits.memory_bytes // mb],
        "processes and threads": [limits.pids],
        "processor": [int(limits.cpus)],
        "log": [limits.log_bytes // mb],
        "sent to the referee": [limits.sent_bytes // kb],
        "start-up": [clock.startup_ms],
        "a move": [clock.move_ms],
        "a game": [clock.bank_ms, clock.increment_ms],
    }


def test_the_packages_that_are_there_are_those_of_the_kit() -> None:
    kit = tomllib.loads((Path(__file__).parents[2] / "sdk" / "pyproject.toml").read_text())["project"]
    told = README.split("There is Python ")[1].split("no other package")[0]
    assert f"Python {told.split()[0]}" == f"Python {kit['requires-python'].removeprefix('>=')}"
    named = {*re.findall(r"`(\w+)`", told)} - {"treelings"}
    of_its_own = {re.split(r"[^\w]", each)[0] for each in kit["dependencies"]}
    assert named == of_its_own | {"grpcio"}  # which is for bots that serve by themselves
