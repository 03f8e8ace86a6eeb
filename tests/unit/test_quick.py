"""Quick tables: whole deals at several tables at once, and an end in order whenever somebody has seen enough."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing
from itertools import islice
from pathlib import Path

import pytest

from referee.errors import EngineGone, SandboxError
from referee.game import Watch
from referee.match import Pause
from referee.model import FaultKind, GameRecord, GameSpec, Outcome, PlayedMove, Submission, VoidGame
from referee.ports import Failure, KeepLog
from referee.quick import PlayedDeal, QuickTables, apart, endless_deals
from referee.schedule import plan_match
from referee.submissions import check_name
from tests.support.players import FakeLink, FakePlayer, FakeSandbox
from treelings import Clock, State, View

SECRET = bytes(range(32))
NAMES = ("ann", "bob", "cyd")


def submission(name: str) -> Submission:
    return Submission(name, "Tests", f"sha256:{name}", Path("/nowhere"), ("python", "bot.py"), "python")


def some_deals(count: int) -> list[tuple[GameSpec, ...]]:
    return list(islice(endless_deals(NAMES, "start"), count))


def tables(
    sandbox: FakeSandbox, jobs: int = 1, player: Callable[[str], FakePlayer] = lambda _: FakePlayer(),
    *, tell: Callable[[Outcome], None] = lambda _: None, watch: Watch | None = None, keep_log: KeepLog | None = None,
    pause: Pause = asyncio.sleep,
) -> QuickTables:  # fmt: skip
    return QuickTables(
        [submission(name) for name in NAMES], sandbox, SECRET, Clock(), lambda bot: FakeLink(bot, player), keep_log,
        jobs=jobs, tell=tell, watch=watch, pause=pause,
    )  # fmt: skip


async def played(quick: QuickTables, deals: Sequence[Sequence[GameSpec]]) -> list[PlayedDeal]:
    return sorted([deal async for deal in quick.play(deals)], key=lambda deal: deal.number)


def test_endless_deals_are_those_of_any_match() -> None:
    match = plan_match(league="", night=None, bots=NAMES, deals=5, refill="start")
    assert tuple(game for deal in some_deals(5) for game in deal) == match.games


def test_the_same_bot_twice_gets_two_names_that_nobody_else_has() -> None:
    bots = [submission(name) for name in ("ann", "ann", "ann-2", "ann", "a" * 32, "a" * 32)]
    names = [bot.name for bot in apart(bots)]
    assert names == ["ann", "ann-2", "ann-2-2", "ann-3", "a" * 32, f"{'a' * 29}-2"]


def test_a_second_name_has_no_vs_in_it_which_stands_between_names() -> None:
    name = check_name("a" * 26 + "-vsop")
    assert [check_name(bot.name) for bot in apart([submission(name)] * 2)] == [name, f"{'a' * 26}-2"]


@pytest.mark.parametrize("jobs", [1, 2, 5])
async def test_every_deal_comes_back_once_with_its_games_in_order_whatever_the_tables(jobs: int) -> None:
    deals = some_deals(5)
    outcomes = await played(tables(FakeSandbox(), jobs), deals)
    assert [deal.number for deal in outcomes] == [0, 1, 2, 3, 4]
    for deal, games in zip(outcomes, deals, strict=True):
        records = [game for game in deal.games if isinstance(game, GameRecord)]
        assert [record.id for record in records] == [game.id for game in games]
        assert [[seat.bot for seat in record.seats] for record in records] == [[*game.bots] for game in games]
    assert outcomes == await played(tables(FakeSandbox()), deals)


async def test_each_table_starts_bots_of_its_own_once_and_none_without_a_deal() -> None:
    sandbox = FakeSandbox()
    await played(tables(sandbox, 2), some_deals(6))
    assert sorted(bot.submission.name for bot in sandbox.started) == sorted(NAMES * 2)
    sandbox = FakeSandbox()
    await played(tables(sandbox, 4), some_deals(1))
    assert len(sandbox.started) == len(NAMES)
    assert sandbox.running() == []


async def test_endless_deals_are_taken_one_by_one_and_may_be_left_at_any_time() -> None:
    taken = 0

    def deals() -> Iterator[tuple[GameSpec, ...]]:
        nonlocal taken
        for taken, deal in enumerate(endless_deals(NAMES, "start"), 1):  # noqa: B007
            yield deal

    sandbox = FakeSandbox()
    seen = 0
    async with aclosing(tables(sandbox, 2).play(deals())) as outcomes:
        async for _ in outcomes:
            seen += 1
            if seen == 3:
                assert sandbox.running() != []
                break
    assert sandbox.running() == []
    assert taken <= 3 * 2 + 2  # a table may be some games ahead of who looks at them, but not without end


async def test_every_game_is_told_at_once_and_only_the_first_table_is_watched() -> None:
    told: list[Outcome] = []
    watched: list[tuple[str, int, PlayedMove | None]] = []

    def watch(game: GameSpec, state: State, move: PlayedMove | None) -> None:
        watched.append((game.id, state.turn, move))

    outcomes = await played(tables(FakeSandbox(), 3, tell=told.append, watch=watch), some_deals(3))
    records = {game.id: game for deal in outcomes for game in deal.games if isinstance(game, GameRecord)}
    assert sorted(game.id for game in told if isinstance(game, GameRecord)) == sorted(records)
    shown = list(dict.fromkeys(game for game, _, _ in watched))
    assert shown == [game.id for game in some_deals(1)[0]]
    for game in shown:
        turns = [(turn, move) for of, turn, move in watched if of == game]
        assert turns == [(0, None), *enumerate(records[game].moves, 1)]


async def test_what_the_bots_of_every_table_logged_is_kept() -> None:
    kept: list[tuple[str, str, bytes]] = []
    await played(tables(FakeSandbox(), 2, keep_log=lambda *log: kept.append(log)), some_deals(4))
    assert sorted(kept) == [("ann-vs-bob-vs-cyd", name, b"log of " + name.encode()) for name in NAMES for _ in "12"]


async def test_a_forfeit_is_one_games_and_the_deal_goes_on() -> None:
    players = [FakePlayer([Failure(FaultKind.TIMEOUT, "too late")])]
    outcomes = await played(
        tables(FakeSandbox(), player=lambda name: players.pop() if name == "bob" and players else FakePlayer()),
        some_deals(2),
    )
    faults = [len(game.faults) for deal in outcomes for game in deal.games if isinstance(game, GameRecord)]
    assert faults == [1, 0, 0, 0, 0, 0]


async def test_a_lost_engine_goes_up_at_once_and_ends_all_tables() -> None:
    calls = 0

    def player(_: str) -> FakePlayer:
        nonlocal calls
        calls += 1
        return FakePlayer([EngineGone("no engine")] if calls == 20 else [])

    sandbox = FakeSandbox()
    seen: list[PlayedDeal] = []

    async def see() -> None:
        async for deal in tables(sandbox, 2, player).play(endless_deals(NAMES, "start")):
            seen.append(deal)  # noqa: PERF401

    with pytest.raises(EngineGone):
        await see()
    assert seen
    assert sandbox.running() == []


async def test_bots_that_cannot_be_started_end_it_instead_of_game_after_game_being_void() -> None:
    sandbox = FakeSandbox([None, SandboxError("no memory")])
    with pytest.raises(SandboxError, match="no memory"):
        await played(tables(sandbox, 2), some_deals(4))
    assert sandbox.running() == []


async def test_a_failure_to_name_the_next_deal_goes_up_and_ends_all_tables() -> None:
    def deals() -> Iterator[tuple[GameSpec, ...]]:
        yield from some_deals(2)
        raise ValueError("no more ideas")

    sandbox = FakeSandbox()
    with pytest.raises(ValueError, match="no more ideas"):
        _ = [deal async for deal in tables(sandbox, 2).play(deals())]
    assert sandbox.running() == []


async def test_who_is_cancelled_leaves_no_bot_running() -> None:
    thinking = asyncio.Event()

    class Thinks(FakePlayer):
        async def ask(self, view: View) -> Failure:
            thinking.set()
            await asyncio.sleep(3_600)
            return Failure(FaultKind.TIMEOUT, "too late")

    sandbox = FakeSandbox()
    playing = asyncio.create_task(played(tables(sandbox, 2, lambda _: Thinks()), some_deals(2)))
    await thinking.wait()
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    assert sandbox.running() == []


async def test_a_game_that_our_side_fails_is_void_in_its_place_of_the_deal() -> None:
    anns = iter(
        [
            FakePlayer([SandboxError("busy")]),
            FakePlayer(),
            FakePlayer(),
            *(FakePlayer([SandboxError("busy")]) for _ in "12"),
        ]
    )
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    (deal,) = await played(
        tables(FakeSandbox(), player=lambda name: next(anns) if name == "ann" else FakePlayer(), pause=pause),
        some_deals(1),
    )
    assert deal.games[0] == VoidGame("ann-vs-bob-vs-cyd/0/r0", ("SandboxError: busy",) * 3)
    assert [isinstance(game, GameRecord) for game in deal.games[1:]] == [True, True]
    assert pauses == [5.0, 15.0]
