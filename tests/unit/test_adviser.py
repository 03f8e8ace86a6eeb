"""A bot that is asked about positions: begun afresh after a failure of its own or of ours."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from referee.adviser import Advice, Adviser, judge, seen
from referee.errors import EngineGone, Overloaded, SandboxError
from referee.model import FaultKind, Submission
from referee.ports import Answer, Failure, RunningBot
from tests.support.players import FakeLink, FakePlayer, FakeSandbox
from tests.support.positions import notations, position, row_of
from treelings import Clock, GameEnd, GameStart, View
from treelings.bot import LONGEST_COMMENT

BOT = Submission("ann", "Tests", "sha256:ann", Path("/nowhere"), ("python", "bot.py"), "python")
START = GameStart("demo/0/r0", 0, 2, "start", Clock())
VIEW = View.of(position("R1 O2", "G3", market="ROOYB"))
TIMEOUT = Failure(FaultKind.TIMEOUT, "too late")
GONE = Failure(FaultKind.STARTUP, "it does not start")


class Table:
    """An adviser whose process is played by one FakePlayer after the other, the last ones well-behaved."""

    def __init__(self, *players: FakePlayer, failures: Sequence[SandboxError | OSError | None] = ()) -> None:
        self.waiting = list(players)
        self.sandbox = FakeSandbox(failures)
        self.players: list[FakePlayer] = []
        self.adviser = Adviser(BOT, "ann-vs-bob", self.sandbox, self.connect)

    def connect(self, bot: RunningBot) -> FakeLink:
        return FakeLink(bot, self.player)

    def player(self, _: str) -> FakePlayer:
        self.players.append(self.waiting.pop(0) if self.waiting else FakePlayer())
        return self.players[-1]


async def test_one_process_answers_view_after_view() -> None:
    table = Table()
    assert await table.adviser.start(START) is None
    for _ in range(3):
        assert isinstance(await table.adviser.ask(VIEW), Answer)
    await table.adviser.end(GameEnd("festival", (1, 2), (3, 2)))
    await table.adviser.close()
    (player,) = table.players
    assert (player.started, len(player.views), len(player.ends)) == ([START], 3, 1)
    assert table.sandbox.running() == []
    assert table.adviser.log == b"log of ann"


async def test_after_a_failure_the_next_question_goes_to_a_fresh_process_that_is_told_of_the_same_game() -> None:
    table = Table(FakePlayer(["R", TIMEOUT]))
    await table.adviser.start(START)
    assert [await table.adviser.ask(VIEW) for _ in range(2)] == [Answer("R", 1.0), TIMEOUT]
    assert table.sandbox.running() == []
    assert isinstance(await table.adviser.ask(VIEW), Answer)
    assert [player.started for player in table.players] == [[START], [START]]
    assert table.sandbox.running() == ["ann"]


async def test_a_bot_that_does_not_start_again_is_a_failure_of_its_own() -> None:
    table = Table(FakePlayer([TIMEOUT]), FakePlayer(start=GONE))
    await table.adviser.start(START)
    assert [await table.adviser.ask(VIEW) for _ in range(2)] == [TIMEOUT, GONE]
    assert table.sandbox.running() == []


async def test_a_bot_that_does_not_start_is_tried_again_when_it_is_asked() -> None:
    table = Table(FakePlayer(start=GONE))
    assert await table.adviser.start(START) == GONE
    assert isinstance(await table.adviser.ask(VIEW), Answer)


async def test_what_our_side_failed_at_is_asked_again_of_a_fresh_process() -> None:
    table = Table(FakePlayer([Overloaded("stood still")]), FakePlayer([Overloaded("stood still")]), FakePlayer(["R"]))
    await table.adviser.start(START)
    assert await table.adviser.ask(VIEW) == Answer("R", 1.0)
    assert table.sandbox.running() == ["ann"]


async def test_what_our_side_fails_at_three_times_is_raised() -> None:
    table = Table(failures=[SandboxError("no room"), OSError("no room"), SandboxError("still no room")])
    with pytest.raises(SandboxError, match="still no room"):
        await table.adviser.start(START)


async def test_an_engine_that_is_gone_is_not_asked_again() -> None:
    table = Table(FakePlayer([EngineGone("gone")]))
    await table.adviser.start(START)
    with pytest.raises(EngineGone):
        await table.adviser.ask(VIEW)
    assert len(table.players) == 1


def test_an_answer_is_judged_as_in_a_game() -> None:
    lone = View.of(position("R1 O2", "G3", market="ROOYY"))
    assert judge(lone, Answer("*", 2.0)) == Advice(lone.legal_moves[0], 2.0, "")  # "*" is the lone single, R
    assert judge(VIEW, TIMEOUT) is TIMEOUT
    for text in ("G", "nonsense", "R<R", "\x1b[2J"):
        failure = judge(VIEW, Answer(text, 2.0))
        assert isinstance(failure, Failure)
        assert failure.kind is FaultKind.ILLEGAL_MOVE
        assert failure.detail.isprintable()


def test_what_a_bot_says_of_its_move_is_bounded_and_printable() -> None:
    advice = judge(VIEW, Answer("R", 1.0, comment="\x1b[2J\u202e" + "x" * 1_000))
    assert isinstance(advice, Advice)
    assert advice.comment.isprintable()
    assert len(advice.comment) == LONGEST_COMMENT


def test_what_a_view_shows_is_so_in_its_position() -> None:
    state = position("R1 O2", "G3", market="ROOYB", pile="PPGGRROOYY" * 4, turn=4)
    same = seen(View.of(state))
    assert [row_of(same, seat) for seat in (0, 1)] == ["R1 O2", "G3"]
    assert (same.market, same.unseen(), same.turn, notations(same)) == (
        state.market, state.unseen(), state.turn, notations(state),
    )  # fmt: skip
