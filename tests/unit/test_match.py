"""One match: fresh bots, decks from the secret, and which failure costs which game."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.errors import EngineGone, SandboxError
from referee.match import Table
from referee.model import (
    FaultKind,
    GameRecord,
    GameSpec,
    MatchSpec,
    Submission,
    VoidGame,
    game_id,
)  # fmt: skip
from referee.ports import Failure
from tests.support.players import FakeLink, FakePlayer, FakeSandbox
from treelings import Clock, derive_deck

SECRET = bytes(range(32))
NAMES = ("ann", "bob")
TIMEOUT = Failure(FaultKind.TIMEOUT, "too late")


def submission(name: str) -> Submission:
    return Submission(name, "Tests", f"sha256:{name}", Path("/nowhere"), ("python", "bot.py"), "python")


def spec_of(deals: int) -> MatchSpec:
    games = tuple(
        GameSpec(
            game_id(f"d{deal}", rotation), "test", 1, "ann-vs-bob", f"d{deal}", rotation, "start",
            NAMES if rotation == 0 else NAMES[::-1],
        )
        for deal in range(deals)
        for rotation in range(2)
    )  # fmt: skip
    return MatchSpec("ann-vs-bob", 0, NAMES, games)


class Players:
    """Hands out the players of each bot's games in turn, then well-behaved ones."""

    def __init__(self, **scripted: list[FakePlayer]) -> None:
        self._scripted = scripted

    def __call__(self, bot: str) -> FakePlayer:
        return self._scripted[bot].pop(0) if self._scripted.get(bot) else FakePlayer()


class Pauses(list[float]):
    """Pauses that take no time, and are kept."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def table_of(
    sandbox: FakeSandbox,
    players: Callable[[str], FakePlayer] | None = None,
    deals: int = 2,
    pause: Pauses | None = None,
) -> Table:
    chosen = players or Players()
    return Table(
        spec_of(deals), {name: submission(name) for name in NAMES}, sandbox, SECRET, Clock(),
        lambda bot: FakeLink(bot, chosen), pause=Pauses() if pause is None else pause,
    )  # fmt: skip


async def results_of(table: Table, deals: int = 2) -> list[GameRecord | VoidGame]:
    await table.open()
    try:
        return [result async for result in table.play(spec_of(deals).games)]
    finally:
        await table.close()


async def test_opening_a_table_starts_its_bots_once_and_closing_it_ends_them() -> None:
    sandbox = FakeSandbox()
    table = table_of(sandbox)
    await table.open()
    await table.open()
    assert sandbox.running() == ["ann", "bob"]
    await table.close()
    await table.close()
    assert sandbox.running() == []
    assert len(sandbox.started) == 2


async def test_every_game_has_its_record_with_seats_and_deck_as_planned() -> None:
    sandbox = FakeSandbox()
    results = await results_of(table_of(sandbox))
    for result, game in zip(results, spec_of(2).games, strict=True):
        assert isinstance(result, GameRecord)
        assert result.id == game.id
        assert tuple(seat.bot for seat in result.seats) == game.bots
        assert [seat.version for seat in result.seats] == [f"sha256:{bot}" for bot in game.bots]
        assert game.deal_id is not None
        assert result.deck == derive_deck(SECRET, game.deal_id)
    assert len(sandbox.started) == 2
    assert sandbox.running() == []


async def test_a_seat_forfeits_this_game_and_no_other() -> None:
    sandbox = FakeSandbox()
    results = await results_of(table_of(sandbox, Players(bob=[FakePlayer([TIMEOUT])])))
    assert [result.ended for result in results if isinstance(result, GameRecord)] == ["forfeit"] + ["festival"] * 3


@pytest.mark.parametrize("kind", list(FaultKind))
async def test_a_fresh_process_plays_on_after_every_fault_but_an_illegal_move(kind: FaultKind) -> None:
    faulty = {
        FaultKind.ILLEGAL_MOVE: FakePlayer(["nonsense"]),
        FaultKind.STARTUP: FakePlayer(start=Failure(kind, "never listened")),
    }.get(kind, FakePlayer([Failure(kind, "in words")]))
    sandbox = FakeSandbox()
    await results_of(table_of(sandbox, Players(bob=[faulty])))
    bobs = [bot.submission.name for bot in sandbox.started].count("bob")
    assert bobs == (1 if kind is FaultKind.ILLEGAL_MOVE else 2)
    assert [bot.submission.name for bot in sandbox.started].count("ann") == 1
    assert sandbox.running() == []


async def test_a_bot_that_does_not_leave_a_game_in_order_plays_the_next_on_a_fresh_process_and_has_no_fault() -> None:
    sandbox = FakeSandbox()
    players = Players(bob=[FakePlayer(leaves_in_order=False), FakePlayer(), FakePlayer(leaves_in_order=False)])
    results = await results_of(table_of(sandbox, players))
    assert all(isinstance(result, GameRecord) and result.faults == () for result in results)
    assert [bot.submission.name for bot in sandbox.started] == ["ann", "bob", "bob", "bob"]
    assert sandbox.running() == []


async def test_a_failure_to_tell_how_a_bot_left_is_no_fault_and_the_game_is_played_on_fresh_bots() -> None:
    sandbox = FakeSandbox()
    unclear = FakePlayer(leaves_in_order=SandboxError("somebody else removed it"))
    results = await results_of(table_of(sandbox, Players(bob=[unclear])))
    assert all(isinstance(result, GameRecord) and result.faults == () for result in results)
    assert [bot.submission.name for bot in sandbox.started] == ["ann", "bob", "ann", "bob"]


async def test_a_game_that_fails_on_our_side_is_played_again_on_fresh_bots() -> None:
    sandbox = FakeSandbox()
    players = Players(ann=[FakePlayer([SandboxError("stood still")])])
    results = await results_of(table_of(sandbox, players))
    assert all(isinstance(result, GameRecord) and result.faults == () for result in results)
    assert [bot.submission.name for bot in sandbox.started] == ["ann", "bob", "ann", "bob"]
    assert sandbox.running() == []


async def test_a_game_that_fails_on_our_side_is_played_again_after_the_others_and_a_pause() -> None:
    pauses = Pauses()
    players = Players(ann=[FakePlayer([SandboxError("busy")]), FakePlayer([SandboxError("busy")])])
    results = await results_of(table_of(FakeSandbox(), players, pause=pauses))
    assert [result.id for result in results if isinstance(result, GameRecord)] == ["d1/r0", "d1/r1", "d0/r0", "d0/r1"]
    assert pauses == [5.0]


async def test_a_match_without_such_games_never_pauses() -> None:
    pauses = Pauses()
    await results_of(table_of(FakeSandbox(), pause=pauses))
    assert pauses == []


async def test_a_game_that_fails_three_times_is_void_with_each_reason_and_the_others_are_played() -> None:
    errors = [SandboxError("stood still"), OSError(28, "No space left on device"), SandboxError("again")]
    fine = [FakePlayer() for _ in range(3)]
    players = Players(ann=[FakePlayer([errors[0]]), *fine, FakePlayer([errors[1]]), FakePlayer([errors[2]])])
    pauses = Pauses()
    *others, void = await results_of(table_of(FakeSandbox(), players, pause=pauses))
    assert pauses == [5.0, 15.0]
    assert void == VoidGame(
        "d0/r0",
        ("SandboxError: stood still", "OSError: [Errno 28] No space left on device", "SandboxError: again"),
    )
    assert len(others) == 3
    assert all(isinstance(result, GameRecord) for result in others)


async def test_a_bot_that_cannot_be_started_again_makes_the_game_void_and_not_a_fault() -> None:
    # One start fails in the first attempt, and both in the other two, since they begin anew with both.
    sandbox = FakeSandbox([None, None, *[SandboxError("no memory")] * 5])
    players = Players(bob=[FakePlayer([TIMEOUT])])
    played, void = await results_of(table_of(sandbox, players, deals=1), deals=1)
    assert isinstance(played, GameRecord)
    assert void == VoidGame("d0/r1", ("SandboxError: no memory",) * 3)


async def test_a_failure_to_open_is_raised_and_closing_still_ends_what_was_started() -> None:
    sandbox = FakeSandbox([None, SandboxError("no memory")])
    table = table_of(sandbox)
    with pytest.raises(SandboxError, match="no memory"):
        await table.open()
    assert sandbox.running() == ["ann"]
    await table.close()
    assert sandbox.running() == []


async def test_a_lost_engine_goes_up_at_once_and_keeps_the_records_before_it() -> None:
    players = Players(ann=[FakePlayer(), FakePlayer([EngineGone("no engine")])])
    table = table_of(FakeSandbox(), players)
    await table.open()
    results = aiter(table.play(spec_of(2).games))
    first = await anext(results)
    with pytest.raises(EngineGone):
        await anext(results)
    await table.close()
    assert isinstance(first, GameRecord)


async def test_a_mistake_of_ours_is_not_taken_for_bad_luck() -> None:
    table = table_of(FakeSandbox(), Players(ann=[FakePlayer([ValueError("a bug")])]))
    with pytest.raises(ValueError, match="a bug"):
        await results_of(table)


async def test_a_cancelled_match_leaves_no_bot_running() -> None:
    thinking = asyncio.Event()

    class Thinks(FakePlayer):
        async def ask(self, view: object) -> Failure:
            thinking.set()
            await asyncio.sleep(3_600)
            return TIMEOUT

    sandbox = FakeSandbox()
    playing = asyncio.create_task(results_of(table_of(sandbox, Players(ann=[Thinks()]))))
    await thinking.wait()
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    assert sandbox.running() == []


async def test_a_game_without_a_deal_id_is_refused() -> None:
    table = table_of(FakeSandbox())
    game = GameSpec("x/r0", "test", 1, "ann-vs-bob", None, 0, "start", NAMES)
    with pytest.raises(ValueError, match="expected a deal id"):
        await anext(aiter(table.play([game])))
