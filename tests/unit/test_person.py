"""A person's turn: what is typed, what that comes to, and what is shown meanwhile."""

import os
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from referee.adviser import Adviser
from referee.cli.keyboard import Keyboard
from referee.cli.person import Hints, Left, Narrator, Person, duration
from referee.errors import SandboxError
from referee.game import play_game
from referee.model import FaultKind, GameRecord, GameSpec, SeatHolder, Submission
from referee.ports import Answer, Failure, Player, RunningBot
from referee.records import problems
from tests.support.players import Act, FakeLink, FakePlayer, FakeSandbox
from tests.support.positions import position
from treelings import Clock, GameStart, Move, View, derive_deck

NAMES = ("you", "bob", "cid")
STATE = position("R3 O1", "G2", "B1", market="ROOYB")  # R, O, and new: Y, B
VIEW = View.of(STATE)
MANY = View.of(position("R3", "G2", "B1", market="OYGBP"))
EVIL = "\x1b]0;pwned\x07\x1b[2J\u202e[bold]"


class Typed:
    """A person at the first seat who types these lines, a second of whose time goes by with every look at the clock."""

    def __init__(self, text: str, hints: Hints | None = None) -> None:
        read, write = os.pipe()
        os.write(write, text.encode())
        os.close(write)
        self.descriptor = read
        self.person = Person(NAMES, Keyboard(read), map(float, count()).__next__, hints)


@pytest.fixture
def typing() -> Iterator[list[Typed]]:
    found: list[Typed] = []
    yield found
    for typed in found:
        os.close(typed.descriptor)


def hints(*acts: Act, start: Failure | None = None, sandbox: FakeSandbox | None = None) -> Hints:
    """Hints of a bot that acts so."""
    player = FakePlayer(acts, start=start)

    def connect(bot: RunningBot) -> FakeLink:
        return FakeLink(bot, lambda _: player)

    bot = Submission("sage", "Tests", "sha256:sage", Path("/nowhere"), ("python", "bot.py"), "python")
    return Hints("sage", Adviser(bot, "demo", sandbox or FakeSandbox(), connect), Clock())


async def asked(typing: list[Typed], text: str, view: View = VIEW, hints: Hints | None = None) -> str:
    """The move that typing this text comes to."""
    typing.append(Typed(text, hints))
    person = typing[-1].person
    assert await person.start(GameStart("demo/0/r0", 0, 3, "start", Clock())) is None
    return (await person.ask(view)).text


@pytest.mark.parametrize(
    ("typed", "move"),
    [
        ("1\n", "R"),  # the first of the list
        ("2\n", "O"),
        ("*\n1\n", "*>YB"),  # all singles, next how
        ("*\n>by\n", "*>BY"),
        ("R\n", "R"),
        (" r \n", "R"),
        ("y<y\n", "Y<Y"),
        ("*<y>b\n", "*<Y>B"),
        ("Y\n<Y\n", "Y<Y"),  # the take, next the place alone
        ("Y\n\nR\n", "R"),  # Enter goes back
        ("0\n10\nzz\nG\nR<R\n>\n?\nh\n\nR\n", "R"),  # nothing that is no move ends the turn
        ("q\n\nq\nn\nR\n", "R"),  # to leave must be meant
        ("9" * 9_000 + "\nR\n", "R"),  # more digits than Python makes a number of
    ],
)
async def test_what_is_typed_comes_to_a_move(typing: list[Typed], typed: str, move: str) -> None:
    assert await asked(typing, typed) == move


async def test_many_moves_are_chosen_in_steps(typing: list[Typed], capsys: pytest.CaptureFixture[str]) -> None:
    assert await asked(typing, "6\n3\n1\n1\n1\n", MANY) in {move.notation for move in MANY.legal_moves}
    assert "ways to place O, Y, G, B, P" in " ".join(capsys.readouterr().out.split())


async def test_a_take_that_is_named_again_is_placed_from_the_first_guild_on(typing: list[Typed]) -> None:
    move = await asked(typing, "*\n<P\n*\n<O\n<Y\n<G\n1\n", MANY)
    assert move.startswith("*<OYG")


def steps_of(screen: str) -> list[list[str]]:
    """What each list of choices says, in the order in which they were shown."""
    lists = re.split(r"^ *# +move .*\n", screen, flags=re.MULTILINE)[1:]
    return [re.findall(r"^ *\d+ +.*\S", shown, flags=re.MULTILINE) for shown in lists]


async def test_a_list_of_moves_is_whole_in_a_narrow_terminal(
    typing: list[Typed], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    await asked(typing, "R\n")
    wide = steps_of(capsys.readouterr().out)
    monkeypatch.setenv("COLUMNS", "30")
    await asked(typing, "R\n")
    assert steps_of(capsys.readouterr().out) == wide


async def test_what_is_no_move_is_told_with_what_was_expected(
    typing: list[Typed], capsys: pytest.CaptureFixture[str]
) -> None:
    await asked(typing, f"99\n{EVIL}\nP\n*<Q\nR\n")
    shown = capsys.readouterr().out
    assert "99: expected a number from 1 to 5" in shown
    assert "not a move" in shown
    assert "no P in the market" in shown
    assert all(char.isprintable() or char == "\n" for char in shown)


async def test_a_turn_takes_as_long_as_the_person_does(typing: list[Typed]) -> None:
    typing.append(Typed("R\n"))
    assert await typing[0].person.ask(VIEW) == Answer("R", 1_000.0)


@pytest.mark.parametrize(("typed", "asked_to"), [("q\ny\n", True), ("q\nYes\n", True), ("", False), ("q\n", False)])
async def test_a_person_may_leave_or_be_cut_off(typing: list[Typed], typed: str, asked_to: bool) -> None:
    with pytest.raises(Left) as left:
        await asked(typing, typed)
    assert left.value.asked == asked_to


async def test_the_screen_is_the_same_however_the_cards_face_down_lie(
    typing: list[Typed], capsys: pytest.CaptureFixture[str]
) -> None:
    screens = []
    for pile in ("RG" * 20, "GR" * 20, "R" * 20 + "G" * 20):
        await asked(typing, "R\n", View.of(position("R3 O1", "G2", "B1", market="ROOYB", pile=pile)))
        screens.append(capsys.readouterr().out)
    assert len(set(screens)) == 1


async def test_a_hint_is_what_the_bot_would_play_and_says_of_it(
    typing: list[Typed], capsys: pytest.CaptureFixture[str]
) -> None:
    sage = hints(Answer("O", 12.5, comment=f"two at once {EVIL}"))
    assert await asked(typing, "h\nR\n", hints=sage) == "R"
    shown = capsys.readouterr().out
    assert "sage would play O" in shown
    assert "12.5 ms" in shown
    assert "two at once" in shown
    assert all(char.isprintable() or char == "\n" for char in shown)


@pytest.mark.parametrize("act", ["nonsense", Failure(FaultKind.TIMEOUT, f"too late {EVIL}")])
async def test_a_bot_without_a_hint_is_no_reason_to_end_the_game(
    typing: list[Typed], capsys: pytest.CaptureFixture[str], act: Act
) -> None:
    assert await asked(typing, "h\nR\n", hints=hints(act)) == "R"
    assert "sage has no hint: " in capsys.readouterr().out


async def test_a_bot_that_never_starts_gives_no_hint(typing: list[Typed], capsys: pytest.CaptureFixture[str]) -> None:
    sage = hints(start=Failure(FaultKind.STARTUP, "it has no main"))
    assert await asked(typing, "h\nR\n", hints=sage) == "R"
    assert "sage has no hint: startup: it has no main" in capsys.readouterr().out


@pytest.mark.parametrize("error", [SandboxError("no room"), OSError(28, "no room")])
async def test_a_bot_that_cannot_be_started_again_is_no_reason_to_end_the_game(
    typing: list[Typed], capsys: pytest.CaptureFixture[str], error: SandboxError | OSError
) -> None:
    sage = hints(Failure(FaultKind.CRASH, "gone"), sandbox=FakeSandbox([None, error, error, error]))
    assert await asked(typing, "h\nh\nR\n", hints=sage) == "R"
    shown = capsys.readouterr().out
    assert "sage has no hint: crash: gone" in shown
    assert "no room" in shown


async def told(*players: FakePlayer) -> GameRecord:
    """A game of three bots of which the narrator tells all."""
    spec = GameSpec("demo/0/r0", "", None, "bob-vs-cid-vs-you", "demo/0", 0, "start", NAMES)
    narrator = Narrator(NAMES)
    seats = [SeatHolder(name, "sha256:" + 64 * "0") for name in NAMES]
    heard: list[Player] = [narrator.hearing(player) for player in players]
    record = await play_game(spec, derive_deck(bytes(32), "demo/0"), seats, heard, Clock())
    assert problems(record) == []
    narrator.up_to([Move.parse(played.move) for played in record.moves])
    return record


async def test_every_move_is_told_once_and_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    record = await told(FakePlayer(), FakePlayer([Answer("", 3.25, comment=f"why not {EVIL}")]), FakePlayer())
    shown = capsys.readouterr().out
    lines = [line.split()[:2] for line in shown.splitlines() if "“" not in line]
    assert lines == [[NAMES[played.seat], played.move] for played in record.moves]
    assert "“why not" in shown
    assert all(char.isprintable() or char == "\n" for char in shown)


@pytest.mark.parametrize(
    ("cid", "words"),
    [
        (FakePlayer(["nonsense"]), "cid forfeits: illegal_move: not a move: 'nonsense'"),
        (FakePlayer([Failure(FaultKind.CRASH, "it fell")]), "cid forfeits: crash: it fell"),
        (FakePlayer(start=Failure(FaultKind.STARTUP, "no main")), "cid forfeits: startup: no main"),
    ],
)
async def test_a_forfeit_is_told_and_that_the_referee_moves_from_then_on(
    capsys: pytest.CaptureFixture[str], cid: FakePlayer, words: str
) -> None:
    record = await told(FakePlayer(), FakePlayer(), cid)
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.count("cid forfeits") == 1
    assert words in shown
    assert shown.count("moved by the referee") == sum(played.by_referee for played in record.moves) > 1


@pytest.mark.parametrize(
    ("ms", "words"), [(0.04, "0.0 ms"), (999.0, "999.0 ms"), (1_000.0, "1.0 s"), (61_000, "61.0 s")]
)
def test_a_time_is_told_in_the_unit_that_fits(ms: float, words: str) -> None:
    assert duration(ms) == words
