"""Many matches: how many at a time, which are started ahead, what is saved when."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path

import pytest

from referee.errors import EngineGone, SandboxError, StoreError
from referee.model import GameSpec, MatchSpec, NightSettings, Outcome, Submission, VoidGame
from referee.run import AHEAD, default_jobs, play_matches, tables_at_once
from referee.schedule import plan_night
from tests.support.league import FakeTable, Tables, Told
from tests.support.records import version_of
from treelings import Clock

SETTINGS = NightSettings((2,), 2, "start", None, Clock())
BOTS = ("ann", "bob", "cyd", "dan")


class Saved:
    """Keeps what it is told to, once a game."""

    def __init__(self, error: Exception | None = None) -> None:
        self.kept: dict[str, Outcome] = {}
        self.error = error
        self.something = threading.Event()

    def __call__(self, outcomes: Sequence[Outcome]) -> None:
        if self.error and outcomes:
            raise self.error
        for outcome in outcomes:
            self.kept.setdefault(outcome.game if isinstance(outcome, VoidGame) else outcome.id, outcome)
            self.something.set()


async def play(tables: Tables, saved: Saved, *, jobs: int = 1, matches: tuple[MatchSpec, ...] | None = None) -> Told:
    told = Told()
    bots = {bot: Submission(bot, "A", version_of(bot), Path(bot), ("python", "b.py"), "python") for bot in BOTS}

    def seat(match: MatchSpec) -> FakeTable:
        return FakeTable(tables, match, bots, bytes(32))

    await play_matches(plan() if matches is None else matches, jobs=jobs, seat=seat, save=saved, progress=told)
    return told


def plan() -> tuple[MatchSpec, ...]:
    return plan_night(league="x", night=1, bots=BOTS, settings=SETTINGS)


def all_games() -> list[str]:
    return [game.id for match in plan() for game in match.games]


@pytest.mark.parametrize("jobs", [1, 2, 5, 50])
async def test_every_game_is_played_once_and_saved_whatever_the_jobs(jobs: int) -> None:
    tables, saved = Tables(), Saved()
    told = await play(tables, saved, jobs=jobs)
    assert sorted(tables.games) == sorted(all_games())
    assert sorted(saved.kept) == sorted(told.games) == sorted(all_games())


async def test_no_matches_no_tables() -> None:
    tables = Tables()
    await play(tables, Saved(), matches=())
    assert tables.events == []


async def test_every_table_that_was_opened_is_closed() -> None:
    tables = Tables()
    await play(tables, Saved(), jobs=3)
    assert sorted(tables.of("open")) == sorted(tables.of("close")) == sorted(match.id for match in plan())


async def test_the_next_two_matches_are_started_while_one_is_played() -> None:
    tables = Tables()
    await play(tables, Saved(), jobs=1)
    first, second, third, fourth = (match.id for match in plan()[:4])
    assert tables.events.index(("open", second)) < tables.events.index(("played", first))
    assert tables.events.index(("open", third)) < tables.events.index(("played", first))
    assert tables.events.index(("open", fourth)) > tables.events.index(("played", first))


@pytest.mark.parametrize("jobs", [1, 2, 3])
async def test_no_more_than_two_matches_are_started_before_their_turn(jobs: int) -> None:
    tables = Tables()
    await play(tables, Saved(), jobs=jobs)
    done = waiting = most = 0
    for event, _ in tables.events:
        waiting += (event == "open") - (event == "play")
        done += event == "played"
        most = max(most, waiting) if done else most
    assert most <= AHEAD + jobs - 1  # those included that are just about to be played
    assert sorted(tables.games) == sorted(all_games())


async def test_a_match_is_played_before_those_that_were_started_after_it() -> None:
    tables = Tables()
    await play(tables, Saved(), jobs=1)
    assert tables.of("play") == tables.of("open") == [match.id for match in plan()]


@pytest.mark.parametrize("jobs", [1, 2, 3])
async def test_no_more_tables_than_jobs_play_at_a_time(jobs: int) -> None:
    playing = most = 0

    async def before(game: GameSpec) -> None:
        nonlocal playing, most
        playing += 1
        most = max(most, playing)
        for _ in range(5):
            await asyncio.sleep(0)
        playing -= 1

    await play(Tables(before=before), Saved(), jobs=jobs)
    assert most == jobs


@pytest.mark.parametrize("jobs", [1, 2, 3])
async def test_as_many_tables_have_bots_at_once_as_is_told_beforehand(jobs: int) -> None:
    tables = Tables()
    await play(tables, Saved(), jobs=jobs)
    changes = [{"open": 1, "played": -1}.get(what, 0) for what, _ in tables.events]
    assert max(accumulate(changes)) == tables_at_once(jobs)


async def test_a_match_is_saved_before_the_next_one_begins() -> None:
    saved = Saved()
    seen = []

    def before(game: GameSpec) -> None:
        seen.append((game.match, len(saved.kept)))

    await play(Tables(before=before), saved)
    firsts = dict(reversed(seen))
    assert [firsts[match.id] for match in plan()] == [4 * i for i in range(6)]


async def test_a_long_match_is_saved_while_it_is_played() -> None:
    saved = Saved()
    waiting = asyncio.Event()

    async def before(game: GameSpec) -> None:
        if game.id == plan()[0].games[1].id:
            await waiting.wait()

    run = asyncio.create_task(play(Tables(before=before), saved))
    assert await asyncio.to_thread(saved.something.wait, 30)
    assert list(saved.kept) == [plan()[0].games[0].id]
    waiting.set()
    await run


async def test_void_games_are_told_and_saved() -> None:
    lost = all_games()[3]
    saved = Saved()
    told = await play(Tables(before=lambda game: VoidGame(lost, ("why",)) if game.id == lost else None), saved)
    assert told.voids == [lost]
    assert saved.kept[lost] == VoidGame(lost, ("why",))
    assert len(told.games) == len(all_games()) - 1


async def test_an_engine_that_goes_ends_the_run_and_loses_nothing() -> None:
    saved, tables = Saved(), Tables()

    def before(game: GameSpec) -> None:
        if len(tables.games) == 5:
            raise EngineGone("the engine is gone")

    tables.before = before
    with pytest.raises(EngineGone, match="the engine is gone"):
        await play(tables, saved, jobs=2)
    assert sorted(saved.kept) == sorted(tables.games)
    assert sorted(tables.of("open")) == sorted(tables.of("close"))


async def test_an_engine_that_goes_while_bots_are_started_ends_the_run() -> None:
    tables = Tables(on_open=_raise(EngineGone("the engine is gone"), after=2))
    saved = Saved()
    with pytest.raises(EngineGone):
        await play(tables, saved)
    assert sorted(saved.kept) == sorted(tables.games)
    assert sorted(tables.of("open")) == sorted(tables.of("close"))


async def test_a_failure_to_start_ahead_is_left_to_the_table_to_try_again() -> None:
    tables = Tables(on_open=_raise(SandboxError("no room"), after=1))
    await play(tables, Saved())
    assert sorted(tables.games) == sorted(all_games())


async def test_an_interrupted_run_saves_what_is_finished_and_closes_its_tables() -> None:
    saved, tables = Saved(), Tables()
    reached = asyncio.Event()

    async def before(game: GameSpec) -> None:
        if len(tables.games) == 3:
            reached.set()
            await asyncio.Event().wait()

    tables.before = before
    run = asyncio.create_task(play(tables, saved, jobs=2))
    await reached.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert sorted(saved.kept) == sorted(tables.games)
    assert sorted(tables.of("open")) == sorted(tables.of("close"))


async def test_a_disk_that_fails_ends_the_run() -> None:
    tables = Tables()
    with pytest.raises(StoreError, match="disk is full"):
        await play(tables, Saved(StoreError("disk is full")), jobs=2)
    assert sorted(tables.of("open")) == sorted(tables.of("close"))


async def test_a_second_interruption_while_tables_are_closed_leaves_none_open() -> None:
    tables = Tables()
    reached, closing = asyncio.Event(), asyncio.Event()

    async def before(game: GameSpec) -> None:
        reached.set()
        await asyncio.Event().wait()

    async def on_open(match: MatchSpec) -> None:
        try:
            if tables.of("open").index(match.id) > 0:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            closing.set()
            raise

    tables.before, tables.on_open = before, on_open
    run = asyncio.create_task(play(tables, Saved()))
    await reached.wait()
    run.cancel()
    await closing.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    for _ in range(5):  # what is being closed is closed, though the run waits for it no more
        await asyncio.sleep(0)
    assert sorted(tables.of("open")) == sorted(tables.of("close"))


async def test_bots_that_cannot_be_ended_fail_the_run_once_all_is_played() -> None:
    def on_close(match: MatchSpec) -> None:
        if match.id == plan()[0].id:
            raise SandboxError("cannot remove it")

    tables, saved = Tables(on_close=on_close), Saved()
    with pytest.raises(SandboxError, match="cannot remove it"):
        await play(tables, saved)
    assert sorted(saved.kept) == sorted(all_games())


def test_there_is_a_job_for_every_core() -> None:
    assert default_jobs() >= 1


def _raise(error: Exception, *, after: int) -> Callable[[MatchSpec], None]:
    calls = 0

    def on_open(match: MatchSpec) -> None:
        nonlocal calls
        calls += 1
        if calls > after:
            raise error

    return on_open
