"""A league from its making to a revealed night, on tables that make their games up."""

import asyncio
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from referee.decision import Decision
from referee.errors import ConfigError, EngineGone, LeagueBusy, StoreError, SubmissionError, UsageError
from referee.league import League
from referee.lock import locked
from referee.match import Table
from referee.model import GameRecord, GameSpec, MatchSpec, Night, Submission, UntilDecided, VoidGame
from referee.night import SeatTable
from referee.ports import Sandbox
from referee.reports import Removed, RunSummary
from referee.sitefile import read_site_json, site_json
from referee.store import Store
from tests.support import players
from tests.support.league import NOW, SECRET, FakeSandbox, Published, Tables, Told, new_league, open_league
from tests.support.submissions import bot_folder, bot_toml
from treelings import Clock, commitment, derive_deck


def run(league: League, tables: Tables | None = None, told: Told | None = None, jobs: int = 2) -> RunSummary:
    return asyncio.run(league.run(FakeSandbox(), progress=told or Told(), jobs=jobs, seat=tables or Tables()))


def games(league: League, night: int = 1) -> list[str]:
    return [game.id for match in league.plan(night) for game in match.games]


def records(league: League, published: Published) -> tuple[GameRecord, ...]:
    league.publish()
    return tuple(published.records[-1])


# ---- making and opening one


def test_a_new_league_has_settings_a_place_for_bots_and_a_database(tmp_path: Path) -> None:
    with League.create(tmp_path / "new" / "league", "thursday") as league:
        assert league.name == "thursday"
        assert league.bots() == ()
    made = {path.name for path in (tmp_path / "new" / "league").iterdir()}
    assert made - {"league.db-journal"} == {"bots", "league.db", "league.toml"}


def test_a_league_may_be_made_in_an_empty_folder(tmp_path: Path) -> None:
    League.create(tmp_path, "thursday").close()


def test_no_league_is_made_over_another(tmp_path: Path) -> None:
    League.create(tmp_path, "thursday").close()
    with pytest.raises(UsageError, match=r"is a league already; add bots with: treelings league add"):
        League.create(tmp_path, "thursday")


def test_no_league_is_made_among_other_files(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="expected a new or empty folder, got one that holds something else"):
        League.create(tmp_path, "thursday")
    with pytest.raises(UsageError, match="expected a new or empty folder"):
        League.create(tmp_path / "thesis.txt", "thursday")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_no_league_is_made_under_an_unfit_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="name of the league"):
        League.create(tmp_path / "league", "a\nb")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_no_league(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is no league: no league\.toml; make one with: treelings league init"):
        League.open(tmp_path)


def test_a_league_without_its_database(tmp_path: Path) -> None:
    League.create(tmp_path, "thursday").close()
    (tmp_path / "league.db").unlink()
    with pytest.raises(StoreError, match=r"league\.db: expected the league's database, got no such file"):
        League.open(tmp_path)


def test_a_league_keeps_its_name(tmp_path: Path) -> None:
    League.create(tmp_path, "thursday").close()
    text = (tmp_path / "league.toml").read_text()
    (tmp_path / "league.toml").write_text(text.replace("thursday", "friday"))
    with pytest.raises(ConfigError, match="name: expected 'thursday', under which the league was made"):
        League.open(tmp_path)


# ---- bots


def test_a_bot_that_is_added_plays_next(tmp_path: Path) -> None:
    with new_league(tmp_path, ()) as league:
        added = league.add(bot_folder(tmp_path, "ann"))
        assert added.changed
        assert league.bots() == (added.submission,)
        assert added.submission.folder.parent == league.folder / "bots"


def test_the_same_files_again_change_nothing(tmp_path: Path) -> None:
    with new_league(tmp_path, ()) as league:
        first = league.add(bot_folder(tmp_path, "ann"))
        again = league.add(tmp_path / "ann")
        assert not again.changed
        assert again.submission == first.submission


def test_the_same_name_with_other_files_is_a_new_version(tmp_path: Path) -> None:
    with new_league(tmp_path, ()) as league:
        league.add(bot_folder(tmp_path, "ann"))
        second = league.add(bot_folder(tmp_path, "ann", code="# better"))
        assert second.changed
        assert league.bots() == (second.submission,)


def test_authors_are_those_of_all_nights_and_of_the_bots_now(tmp_path: Path) -> None:
    with new_league(tmp_path, ("ann", "bob")) as league:
        run(league)
        league.add(bot_folder(tmp_path, "cyd", toml=bot_toml("cyd", "Cyd's mother")))
        assert league.authors() == {"ann": "Somebody", "bob": "Somebody", "cyd": "Cyd's mother"}


def test_those_that_play_are_the_bots_of_the_open_night_or_else_of_the_next(tmp_path: Path) -> None:
    with new_league(tmp_path, ("ann", "bob")) as league:
        assert [bot.name for bot in league.playing()] == ["ann", "bob"]
        league.open_night()
        league.add(bot_folder(tmp_path, "late"))
        assert [bot.name for bot in league.playing()] == ["ann", "bob"]


# ---- opening a night


def test_opening_a_night_freezes_bots_settings_and_secret(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        night = league.open_night()
        assert (night.number, night.opened, night.finished, night.secret) == (1, "2026-11-29T18:00:00Z", None, None)
        assert night.commitment == commitment(SECRET)
        assert [bot.name for bot in night.bots] == ["ann", "bob", "cyd"]
        assert night.settings == league.config.settings()
        assert league.current_night() == night


def test_the_commitment_is_published_when_a_night_opens(tmp_path: Path) -> None:
    published = Published()
    with new_league(tmp_path, publisher=published) as league:
        night = league.open_night()
        assert published.sites == [league.folder / "site"]
        assert published.nights == [(night,)]
        assert published.records == [()]


def test_the_commitment_is_published_before_the_first_game_even_if_opening_failed_to(tmp_path: Path) -> None:
    class NoSpace(Published):
        def __call__(self, *args: object, **kwargs: object) -> Path:
            raise OSError("no space")

    published = Published()
    new_league(tmp_path, publisher=NoSpace()).close()
    with League.open(tmp_path / "league", publisher=NoSpace()) as league, pytest.raises(OSError, match="no space"):
        league.open_night()
    tables = Tables(before=lambda _: published.nights or pytest.fail("a game before the commitment"))
    with open_league(tmp_path, published) as league:
        run(league, tables)
    assert published.nights[0][0].number == 1


def test_one_night_is_open_at_a_time(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        league.open_night()
        with pytest.raises(UsageError, match="night 1 is open; play it with: treelings league run"):
            league.open_night()
        assert len(league.nights()) == 1


@pytest.mark.parametrize(("bots", "seats"), [((), "2"), (("ann",), "2"), (("ann", "bob", "cyd"), "[2, 4]")])
def test_a_night_needs_enough_bots(tmp_path: Path, bots: tuple[str, ...], seats: str) -> None:
    with new_league(tmp_path, bots, settings=f"seats = {seats}") as league:
        with pytest.raises(UsageError, match=r"needs \d bots"):
            league.open_night()
        assert league.nights() == ()


def test_a_night_that_is_not_there(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        with pytest.raises(UsageError, match="no night 1; none has been opened yet"):
            league.plan(1)
        league.open_night()
        for number in (0, 2):
            with pytest.raises(UsageError, match=f"no night {number}; expected 1 to 1"):
                league.standings(number)


# ---- running


def test_a_run_plays_every_game_of_the_plan_once(tmp_path: Path) -> None:
    published = Published()
    tables, told = Tables(), Told()
    with new_league(tmp_path, publisher=published) as league:
        summary = run(league, tables, told)
        assert summary == RunSummary(1, 12, 12, 12, ())
        assert summary.finished
        assert sorted(tables.games) == sorted(told.games) == sorted(games(league))
        assert told.begun == [(0, 12)]
        assert league.night(1).finished == "2026-11-29T18:00:00Z"
        assert [record.id for record in records(league, published)] == games(league)


def test_decks_and_versions_of_records_are_the_night_s_own(tmp_path: Path) -> None:
    published = Published()
    with new_league(tmp_path, publisher=published) as league:
        run(league)
        versions = {bot.name: bot.version for bot in league.submissions(1)}
        for record in records(league, published):
            assert record.deal
            assert record.deck == derive_deck(SECRET, record.deal)
            assert all(seat.version == versions[seat.bot] for seat in record.seats)


def test_a_run_opens_and_closes_its_sandbox_once(tmp_path: Path) -> None:
    sandbox = FakeSandbox()
    with new_league(tmp_path) as league:
        asyncio.run(league.run(sandbox, progress=Told(), seat=Tables()))
    assert (sandbox.opened, sandbox.closed) == (1, 1)


def test_a_run_plays_the_night_that_is_open(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        league.open_night()
        run(league)
        assert len(league.nights()) == 1


def test_a_run_after_a_finished_night_opens_the_next(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        run(league)
        assert run(league).night == 2
        assert all(game.startswith("night 2/") for game in games(league, 2))


def test_a_new_version_joins_the_next_night(tmp_path: Path) -> None:
    published = Published()
    with new_league(tmp_path, publisher=published) as league:
        night = league.open_night()
        new = league.add(bot_folder(tmp_path, "ann", code="# better")).submission
        league.add(bot_folder(tmp_path, "dan"))
        run(league)
        assert {seat for record in records(league, published) for seat in record.seats if seat.bot == "ann"} == {
            seat for record in records(league, published) for seat in record.seats
            if seat.version == night.bots[0].version
        }  # fmt: skip
        run(league)
        entries = {bot.name: bot.version for bot in league.night(2).bots}
        assert list(entries) == ["ann", "bob", "cyd", "dan"]
        assert entries["ann"] == new.version


def test_settings_that_change_count_from_the_next_night_on(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        league.open_night()
    (tmp_path / "league" / "league.toml").write_text('name = "thursday"\ndeals = 1\n')
    with open_league(tmp_path) as league:
        assert run(league).total == 12
        assert run(league).total == 6


def test_a_night_may_mix_table_sizes(tmp_path: Path) -> None:
    with new_league(tmp_path, ("ann", "bob", "cyd", "dan"), settings="seats = [2, 4]\ndeals = 1") as league:
        assert run(league).finished
        assert {len(match.bots) for match in league.plan(1)} == {2, 4}
        assert all(row.games == 3 * 2 + 4 for row in league.standings())


def test_the_league_s_own_number_of_jobs_counts_where_none_is_given(tmp_path: Path) -> None:
    at_once = most = 0

    async def before(game: GameSpec) -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(at_once, most)
        await asyncio.sleep(0)
        at_once -= 1

    with new_league(tmp_path, settings="jobs = 3") as league:
        asyncio.run(league.run(FakeSandbox(), progress=Told(), seat=Tables(before=before)))
    assert most == 3


def test_a_bot_whose_files_were_changed_does_not_play(tmp_path: Path) -> None:
    tables = Tables()
    with new_league(tmp_path) as league:
        bot = league.bots()[0]
        (bot.folder / "bot.py").chmod(0o644)
        (bot.folder / "bot.py").write_text("# evil")
        with pytest.raises(SubmissionError, match="the files of ann were changed since they were taken in"):
            run(league, tables)
    assert tables.events == []


# ---- interruptions


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    stops=st.lists(st.tuples(st.sampled_from(["interrupt", "engine", "void"]), st.integers(0, 12)), max_size=4),
    jobs=st.integers(1, 4),
)
def test_a_run_resumed_however_often_equals_one_that_never_stopped(
    tmp_path_factory: pytest.TempPathFactory, stops: list[tuple[str, int]], jobs: int
) -> None:
    whole, pieces = Published(), Published()
    with new_league(tmp_path_factory.mktemp("whole"), publisher=whole) as league:
        run(league)
        expected = records(league, whole)
        standings = league.standings_json()
    folder = tmp_path_factory.mktemp("pieces")
    new_league(folder).close()
    played: list[str] = []
    for kind, count in stops:
        with open_league(folder) as league:
            played += _run_until(league, kind, count, jobs)
            if (night := league.current_night()) is None:
                break
            assert night.number == 1
    with open_league(folder, pieces) as league:
        if not league.nights() or league.current_night():
            last = Tables()
            assert run(league, last, jobs=jobs).finished
            played += last.games
        assert records(league, pieces) == expected
        assert league.standings_json() == standings
    assert sorted(played) == sorted(record.id for record in expected)


def _run_until(league: League, kind: str, count: int, jobs: int) -> list[str]:
    """Run until so many games were played, then stop it; the games that came to an end."""
    tables = Tables()
    stop = asyncio.Event()
    lost: list[str] = []

    async def before(game: GameSpec) -> VoidGame | None:
        if len(tables.games) < count:
            return None
        if kind == "engine":
            raise EngineGone("the engine is gone")
        if kind == "void":
            lost.append(game.id)
            return VoidGame(game.id, ("a", "b", "c"))
        stop.set()
        await asyncio.Event().wait()
        return None

    async def main() -> None:
        tables.before = before
        running = asyncio.create_task(league.run(FakeSandbox(), progress=Told(), jobs=jobs, seat=tables))
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait([running, stopping], return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        running.cancel()
        try:
            await running
        except (asyncio.CancelledError, EngineGone):
            assert kind != "void"

    asyncio.run(main())
    return [game for game in tables.games if game not in lost]


def test_the_engine_that_goes_in_mid_match_leaves_the_night_open(tmp_path: Path) -> None:
    sandbox = FakeSandbox()
    tables = Tables()

    def before(_: GameSpec) -> None:
        if len(tables.games) == 5:
            raise EngineGone("the engine is gone; start it and run again")

    tables.before = before
    with new_league(tmp_path) as league:
        with pytest.raises(EngineGone, match="start it and run again"):
            asyncio.run(league.run(sandbox, progress=Told(), jobs=1, seat=tables))
        assert sandbox.closed == 1
        assert league.status().done == 5
        told = Told()
        assert run(league, told=told).played == 7
        assert told.begun == [(5, 12)]


def test_two_runs_at_once_are_one_too_many(tmp_path: Path) -> None:
    async def two(league: League, other: League) -> None:
        reached = asyncio.Event()

        async def before(_: GameSpec) -> None:
            reached.set()
            await asyncio.Event().wait()

        first = asyncio.create_task(league.run(FakeSandbox(), progress=Told(), seat=Tables(before=before)))
        await reached.wait()
        with pytest.raises(LeagueBusy, match=r"process \d+ is running this league; wait for its end"):
            await other.run(FakeSandbox(), progress=Told(), seat=Tables())
        with pytest.raises(LeagueBusy):
            other.open_night()
        with pytest.raises(LeagueBusy):
            other.reveal()
        other.add(bot_folder(tmp_path, "late"))  # this may go on meanwhile
        assert other.status().total == 12
        assert other.status().next == f"wait for process {os.getpid()}, which is running this league"
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first

    with new_league(tmp_path) as league, open_league(tmp_path) as other:
        asyncio.run(two(league, other))
        assert run(other).finished


def test_a_league_that_was_killed_before_it_noted_the_end_is_finished_by_the_next_run(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        night = league.open_night()
        tables = Tables()
        bots = {bot.name: bot for bot in league.submissions(1)}
        for match in league.plan(1):
            table = tables(match, bots, FakeSandbox(), SECRET, night.settings.clock)

            async def outcomes(table: object = table, match: object = match) -> list[GameRecord | VoidGame]:
                return [outcome async for outcome in table.play(match.games)]  # type: ignore[attr-defined]

            league._store.save(1, asyncio.run(outcomes()))
        sandbox = FakeSandbox()
        summary = asyncio.run(league.run(sandbox, progress=Told(), seat=Tables()))
        assert (summary.played, summary.finished, sandbox.opened) == (0, True, 0)
        assert league.night(1).finished


# ---- void games


def voiding(*lost: int) -> Tables:
    """Tables at which these games of each match are void."""

    def before(game: GameSpec) -> VoidGame | None:
        number = int(str(game.deal_id).rpartition("/")[2]) * 2 + game.rotation
        return VoidGame(game.id, ("one", "two", "three")) if number in lost else None

    return Tables(before=before)


def test_void_games_are_listed_and_keep_the_night_open(tmp_path: Path) -> None:
    told = Told()
    with new_league(tmp_path) as league:
        summary = run(league, voiding(1), told)
        assert (summary.played, summary.done, summary.total, summary.finished) == (9, 9, 12, False)
        assert [void.game for void in summary.voids] == sorted(told.voids)
        assert league.night(1).voids == summary.voids
        assert league.night(1).finished is None


def test_void_games_are_played_by_the_next_run(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        run(league, voiding(1))
        tables = Tables()
        summary = run(league, tables)
        assert (len(tables.games), summary.finished, summary.voids) == (3, True, ())


def test_a_night_that_lacks_void_games_alone_can_be_revealed(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        run(league, voiding(1))
        night = league.reveal()
        assert night.secret == SECRET.hex()
        assert night.finished
        assert len(night.voids) == 3
        assert run(league).night == 2


# ---- until it is decided

AIM = UntilDecided(2, 14)


def run_until_decided(
    league: League, tables: Tables | None = None, *, aim: UntilDecided | None = AIM, told: Told | None = None
) -> list[Decision]:
    """A run with this aim, and all that was told of what is decided."""
    heard: list[Decision] = []
    running = league.run(
        FakeSandbox(), progress=told or Told(), jobs=2, seat=tables or Tables(), aim=aim, tell=heard.append
    )
    assert asyncio.run(running).finished
    return heard


def test_a_night_goes_on_until_its_order_is_decided_or_the_cap_is_reached(tmp_path: Path) -> None:
    published, told = Published(), Told()
    with new_league(tmp_path, publisher=published) as league:
        heard = run_until_decided(league, told=told)  # random games: nobody is better
        assert [decision.deals for decision in heard] == [2, 12, 14]
        assert league.decision(1) == heard[-1]
        assert (league.night(1).until_decided, bool(league.night(1).finished)) == (AIM, True)
        assert told.begun == [(0, 12), (12, 72), (72, 84), (84, 84)]
        deals = {record.deal for record in records(league, published) if record.match == "ann-vs-bob"}
        assert deals == {
            f"night 1/ann-vs-bob/{number}" for number in ["0", "1", *(f"+{extra}" for extra in range(2, 14))]
        }
        assert all(record.deck == derive_deck(SECRET, record.deal or "") for record in records(league, published))


def test_the_next_night_ends_with_its_round_robin_again(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        run_until_decided(league)
        assert run(league).total == 12
        assert league.decision(2) is None


@pytest.mark.parametrize("count", [5, 12, 40, 73])
def test_a_night_to_be_decided_that_was_interrupted_goes_on_to_the_same_end(tmp_path: Path, count: int) -> None:
    whole, pieces = Published(), Published()
    with new_league(tmp_path / "whole", publisher=whole) as league:
        expected = run_until_decided(league)[-1], records(league, whole)
    tables = Tables()

    def before(_: GameSpec) -> None:
        if len(tables.games) == count:
            raise EngineGone("gone")

    tables.before = before
    with new_league(tmp_path / "pieces", publisher=pieces) as league:
        with pytest.raises(EngineGone):
            run_until_decided(league, tables)
        last = Tables()
        assert (run_until_decided(league, last, aim=None)[-1], records(league, pieces)) == expected
        assert not set(last.games) & set(tables.games)


def test_extra_games_that_are_void_are_tried_again_by_the_next_run(tmp_path: Path) -> None:
    def before(game: GameSpec) -> VoidGame | None:
        return VoidGame(game.id, ("one", "two", "three")) if "/+5/" in game.id else None

    with new_league(tmp_path) as league:
        summary = asyncio.run(
            league.run(FakeSandbox(), progress=Told(), seat=Tables(before=before), aim=AIM)
        )  # fmt: skip
        assert (summary.finished, summary.done, summary.total, len(summary.voids)) == (False, 66, 72, 6)
        assert "void: night 1/ann-vs-bob/+5/r0 and 5 more games: three" in league.status().lines()
        assert run_until_decided(league, aim=None)[-1].deals == 14


def test_an_aim_may_go_further_but_not_drop_what_was_played(tmp_path: Path) -> None:
    tables = Tables()

    def before(_: GameSpec) -> None:
        if len(tables.games) == 50:
            raise EngineGone("gone")

    tables.before = before
    with new_league(tmp_path) as league:
        with pytest.raises(EngineGone):
            run_until_decided(league, tables)
        with pytest.raises(UsageError, match=r"night 1: .* go on as before with --until-decided 2 --at-most-deals 14"):
            run_until_decided(league, aim=UntilDecided(2, 3))
        assert league.night(1).until_decided == AIM
        assert run_until_decided(league, aim=UntilDecided(3, 12))[-1].deals == 12


def test_games_that_a_nearer_aim_has_no_use_for_are_void_no_more(tmp_path: Path) -> None:
    def before(game: GameSpec) -> VoidGame | None:
        return VoidGame(game.id, ("no luck",)) if "/+" in game.id else None

    with new_league(tmp_path) as league:
        asyncio.run(league.run(FakeSandbox(), progress=Told(), seat=Tables(before=before), aim=AIM))
        assert len(league.night(1).voids) == 60
        run_until_decided(league, aim=UntilDecided(2, 2))
        assert league.night(1).voids == ()


def test_an_aim_is_checked_against_the_night_it_is_for(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        assert league.aim(3) == UntilDecided(3, 400)
        league.open_night()
        league.add(bot_folder(tmp_path, "late"))
        with pytest.raises(UsageError, match="expected 1 to 3 places"):
            league.aim(4)


# ---- bots that cannot be run


ABSENT = {"cyd": "no runtime node here"}


def run_without_cyd(league: League, tables: Tables, told: Told | None = None, **wishes: Any) -> RunSummary:
    running = league.run(FakeSandbox(), progress=told or Told(), seat=tables, absent=ABSENT, **wishes)
    return asyncio.run(running)


def test_the_others_play_all_their_games_without_a_bot_that_cannot_be_run(tmp_path: Path) -> None:
    tables, told = Tables(), Told()
    with new_league(tmp_path) as league:
        summary = run_without_cyd(league, tables, told)
        assert tables.games == [game for game in games(league) if "cyd" not in game]
        assert (summary.done, summary.total, summary.finished) == (4, 12, False)
        assert {row.bot: row.games for row in league.standings(1)} == {"ann": 4, "bob": 4}
        assert [void.game for void in summary.voids] == sorted(game for game in games(league) if "cyd" in game)
        assert {void.reasons for void in summary.voids} == {("cyd sits out: no runtime node here",)}
        assert told.begun == [(0, 4)]
        assert league.status().lines()[2] == (
            "void: night 1/ann-vs-cyd/0/r0 and 7 more games: cyd sits out: no runtime node here"
        )


def test_the_games_of_a_bot_that_could_not_be_run_are_those_of_a_night_that_had_it_from_the_start(
    tmp_path: Path,
) -> None:
    whole, pieces = Published(), Published()
    with new_league(tmp_path / "whole", publisher=whole) as league:
        run(league)
        expected = records(league, whole)
    with new_league(tmp_path / "pieces", publisher=pieces) as league:
        first, last = Tables(), Tables()
        run_without_cyd(league, first)
        assert run(league, last) == RunSummary(1, 8, 12, 12, ())
        assert not set(first.games) & set(last.games)
        assert records(league, pieces) == expected


def test_a_night_can_be_ended_without_a_bot_that_could_not_be_run(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        run_without_cyd(league, Tables())
        night = league.reveal(1)
        assert night.finished is not None
        assert len(night.voids) == 8
        assert run(league).night == 2


def test_of_a_night_it_is_known_who_could_not_be_run_and_why_also_where_two_meet(tmp_path: Path) -> None:
    why = {"bob": "no runtime native here", **ABSENT}
    with new_league(tmp_path) as league:
        asyncio.run(league.run(FakeSandbox(), progress=Told(), seat=Tables(), absent=why))
        assert league.night(1).sat_out() == why
        both = {void.reasons for void in league.night(1).voids if "bob-vs-cyd" in void.game}
        assert both == {("bob sits out: no runtime native here; cyd sits out: no runtime node here",)}
        run(league)
        assert league.night(1).sat_out() == {}


def test_a_table_may_lack_all_of_its_bots(tmp_path: Path) -> None:
    bots = ("ann", "bob", "cyd", "dan", "eve")
    absent = dict.fromkeys(bots, "no runtime node here")
    with new_league(tmp_path, bots, settings="seats = 5\ndeals = 1") as league:
        asyncio.run(league.run(FakeSandbox(), progress=Told(), seat=Tables(), absent=absent))
        night = league.night(1)
        assert night.sat_out() == absent
        assert read_site_json(site_json("thursday", [night])) == ("thursday", (night,))


def test_where_nobody_can_play_no_sandbox_is_opened(tmp_path: Path) -> None:
    sandbox = FakeSandbox()
    with new_league(tmp_path, ("ann", "cyd")) as league:
        summary = asyncio.run(league.run(sandbox, progress=Told(), seat=Tables(), absent=ABSENT))
        assert (summary.done, len(summary.voids), sandbox.opened) == (0, 4, 0)


def test_a_night_to_be_decided_waits_for_who_could_not_be_run_and_then_goes_on_to_the_same_end(tmp_path: Path) -> None:
    whole, pieces = Published(), Published()
    with new_league(tmp_path / "whole", publisher=whole) as league:
        expected = run_until_decided(league)[-1], records(league, whole)
    with new_league(tmp_path / "pieces", publisher=pieces) as league:
        assert run_without_cyd(league, Tables(), aim=AIM).done == 4
        found = league.decision(1)
        assert found is not None
        assert found.summary == "No place is decided before every match has had all deals of the plan."
        assert (run_until_decided(league, aim=None)[-1], records(league, pieces)) == expected


# ---- bots that withdraw


def test_who_withdraws_joins_no_further_night_and_what_it_played_stays(tmp_path: Path) -> None:
    published = Published()
    with new_league(tmp_path, publisher=published) as league:
        run(league)
        gone = league.remove("cyd")
        assert (gone.submission.name, gone.left, gone.plays) == ("cyd", None, None)
        assert [bot.name for bot in league.bots()] == ["ann", "bob"]
        assert run(league).total == 4
        assert {row.bot: row.games for row in league.standings()} == {"ann": 12, "bob": 12, "cyd": 8}
        assert len(records(league, published)) == 16
        assert league.authors()["cyd"] == "Somebody"


def test_who_withdraws_before_a_night_has_begun_leaves_it_and_its_decks_stay(tmp_path: Path) -> None:
    published = Published()
    with new_league(tmp_path, publisher=published) as league:
        night = league.open_night()
        assert league.remove("cyd").left == 1
        assert published.nights[-1] == (replace(night, bots=night.bots[:2]),)
        assert run(league).total == 4
        assert {record.deck for record in records(league, published)} == {
            derive_deck(SECRET, f"night 1/ann-vs-bob/{deal}") for deal in (0, 1)
        }


def test_who_withdraws_from_a_night_that_has_begun_plays_it_to_its_end(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        run(league, voiding(3))
        gone = league.remove("cyd")
        assert (gone.left, gone.plays, gone.why) == (None, 1, "it has begun, and all others are to meet the same bots")
        assert run(league) == RunSummary(1, 3, 12, 12, ())
        assert [bot.name for bot in league.bots()] == ["ann", "bob"]


def test_who_withdraws_while_a_night_is_being_played_plays_it_to_its_end(tmp_path: Path) -> None:
    gone: list[Removed] = []

    def before(_: GameSpec) -> None:
        if not gone:
            with open_league(tmp_path) as same:
                gone.append(same.remove("cyd"))

    with new_league(tmp_path) as league:
        assert run(league, Tables(before=before)).finished
        assert gone[0].plays == 1
        assert gone[0].why.startswith("it is being played")
        assert len(league.bots()) == 2


def test_who_withdrew_while_nobody_could_change_the_night_may_leave_it_later(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        league.open_night()
        with locked(league.folder):
            assert league.remove("cyd").plays == 1
        assert league.remove("cyd").left == 1
        assert [bot.name for bot in league.night(1).bots] == ["ann", "bob"]
        with pytest.raises(UsageError, match="no bot 'cyd'"):
            league.remove("cyd")


def test_who_withdraws_from_a_night_that_needs_all_of_its_bots_plays_it(tmp_path: Path) -> None:
    with new_league(tmp_path, ("ann", "bob")) as league:
        league.open_night()
        gone = league.remove("bob")
        assert gone.plays == 1
        why = "it is open, and cannot be played without: seats: a table of 2 needs 2 bots, the night has 1 (ann)"
        assert gone.why == why
        assert run(league).finished
        with pytest.raises(UsageError, match="needs 2 bots"):
            league.open_night()


class Meanwhile(Store):
    """A store that is overtaken once: right after a bot has withdrawn, and the nights were read."""

    overtake: Callable[[], object] = object
    _now = False

    def withdraw(self, name: str, at: str) -> None:
        super().withdraw(name, at)
        self._now = True

    def nights(self) -> tuple[Night, ...]:
        found = super().nights()
        if self._now:
            self._now = False
            self.overtake()
        return found


def test_two_bots_that_withdraw_at_once_leave_a_night_that_can_be_played(tmp_path: Path) -> None:
    with new_league(tmp_path) as league, Meanwhile.open(league.folder) as store:
        league.open_night()
        store.overtake = lambda: league.remove("cyd")
        same = League(
            league.folder, league.config, store, publisher=Published(), now=lambda: NOW, new_secret=lambda: SECRET
        )
        assert same.remove("bob").plays == 1
        assert [bot.name for bot in league.night(1).bots] == ["ann", "bob"]
        assert run(league).finished


def test_fewer_bots_have_fewer_places_to_decide(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        with pytest.raises(EngineGone):
            run_until_decided(league, Tables(before=_no_engine), aim=UntilDecided(3, 14))
        assert league.remove("cyd").left == 1
        assert league.night(1).until_decided == UntilDecided(2, 14)
        assert run(league).finished


def _no_engine(_: GameSpec) -> None:
    raise EngineGone("gone")


def test_who_withdrew_may_be_added_again(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        league.remove("cyd")
        added = league.add(tmp_path / "submitted" / "cyd")
        assert (added.changed, added.replaced) == (True, None)
        assert [bot.name for bot in league.bots()] == ["ann", "bob", "cyd"]


def test_only_a_bot_that_is_there_can_withdraw(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        league.remove("cyd")
        for name in ("cyd", "nobody", "x" * 300):
            with pytest.raises(UsageError, match=rf"no bot '{name[:30]}.*'; expected one of those there: ann, bob"):
                league.remove(name)


# ---- revealing


def test_a_finished_night_is_revealed_and_published(tmp_path: Path) -> None:
    published = Published()
    with new_league(tmp_path, publisher=published) as league:
        run(league)
        assert league.night(1).secret is None
        night = league.reveal()
        assert night.secret == SECRET.hex()
        assert published.nights[-1] == (night,)
        assert league.reveal(1) == night


def test_a_night_that_is_not_finished_keeps_its_secret(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        league.open_night()
        with pytest.raises(UsageError, match="night 1 is not finished: 12 games have not been played; play them with"):
            league.reveal()
        assert league.night(1).secret is None


def test_before_the_first_night_there_is_nothing_to_reveal(tmp_path: Path) -> None:
    with new_league(tmp_path) as league, pytest.raises(UsageError, match="no night has been opened yet"):
        league.reveal()


def test_without_a_number_the_last_finished_night_is_revealed(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        run(league)
        run(league)
        league.open_night()
        assert league.reveal().number == 2
        assert league.night(1).secret is None
        assert league.reveal(1).number == 1


# ---- results


def test_standings_are_of_a_night_or_of_the_season(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        run(league)
        run(league)
        assert {row.games for row in league.standings(1)} == {8}
        assert {row.games for row in league.standings()} == {16}
        assert '"thursday"' in league.standings_json(2)


def test_a_site_may_be_published_elsewhere(tmp_path: Path) -> None:
    published = Published()
    with new_league(tmp_path, publisher=published) as league:
        assert league.publish(tmp_path / "elsewhere") == tmp_path / "elsewhere"
        assert league.site == league.folder / "site"


def next_step(league: League) -> str:
    return league.status().next.replace(str(league.folder), "DIR")


def test_what_to_do_next_can_be_typed_also_where_the_folder_has_a_space_in_its_name(tmp_path: Path) -> None:
    with new_league(tmp_path / "on fridays", ("ann", "bob")) as league:
        typed = f"'{league.folder}'"
        assert league.status().next.startswith(f"treelings league run {typed}  #")
        league.open_night()
        with pytest.raises(UsageError, match=f"treelings league run {re.escape(typed)}$"):
            league.open_night()
        with pytest.raises(UsageError, match=f"treelings league add {re.escape(typed)} BOT…$"):
            League.create(league.folder, "thursday")


def test_the_status_says_what_to_do_next(tmp_path: Path) -> None:
    with new_league(tmp_path, ()) as league:
        assert next_step(league) == "treelings league add DIR BOT…  # a night needs 2 more bots"
        league.add(bot_folder(tmp_path, "ann"))
        assert next_step(league) == "treelings league add DIR BOT…  # a night needs 1 more bot"
        assert league.status().lines()[:2] == ("thursday: 1 bot", "no night yet")
        league.add(bot_folder(tmp_path, "bob"))
        assert next_step(league) == "treelings league run DIR  # opens night 1"
        league.open_night()
        assert next_step(league) == "treelings league run DIR"
        assert league.status().lines()[1] == "night 1: 0 of 4 games, opened 2026-11-29T18:00:00Z"
        run(league, voiding(1))
        assert next_step(league) == (
            "treelings league run DIR  # tries the void games again; or end the night without them: "
            "treelings league reveal DIR --night 1"
        )
        assert "void: night 1/ann-vs-bob/0/r1: three" in league.status().lines()
        run(league)
        assert next_step(league) == "treelings league reveal DIR"
        assert league.status().lines()[1] == "night 1: 4 of 4 games, finished 2026-11-29T18:00:00Z"
        league.reveal()
        assert next_step(league) == "treelings league run DIR  # opens night 2"
        league.remove("ann")
        assert next_step(league) == "treelings league add DIR BOT…  # a night needs 1 more bot"


def test_the_status_of_a_night_that_was_interrupted_says_to_go_on_whatever_is_void(tmp_path: Path) -> None:
    voids = voiding(0).before

    def before(game: GameSpec) -> object:
        if "cyd" in game.bots:
            raise EngineGone("no engine")
        return voids(game) if voids else None

    with new_league(tmp_path) as league:
        with pytest.raises(EngineGone):
            run(league, Tables(before=before))
        assert [void.game for void in league.night(1).voids] == ["night 1/ann-vs-bob/0/r0"]
        assert next_step(league) == "treelings league run DIR"


def test_the_status_names_each_night_that_is_still_to_be_revealed(tmp_path: Path) -> None:
    with new_league(tmp_path, ("ann", "bob")) as league:
        for _ in range(3):
            run(league)
        assert next_step(league) == "treelings league reveal DIR"
        league.reveal()
        assert next_step(league) == "treelings league reveal DIR --night 2"
        league.reveal(2)
        assert next_step(league) == "treelings league reveal DIR --night 1"
        league.open_night()
        assert next_step(league) == "treelings league run DIR"
        run(league, voiding(1))
        league.reveal(4)
        assert next_step(league) == "treelings league reveal DIR --night 1"
        league.reveal(1)
        assert next_step(league) == "treelings league run DIR  # opens night 5"


def test_times_are_told_in_utc_to_the_second(tmp_path: Path) -> None:
    new_league(tmp_path).close()
    east = NOW.astimezone(timezone(timedelta(hours=9)))
    with League.open(tmp_path / "league", publisher=Published(), now=lambda: east) as league:
        assert league.open_night().opened == "2026-11-29T18:00:00Z"


def test_every_night_has_a_secret_of_its_own(tmp_path: Path) -> None:
    new_league(tmp_path).close()
    with League.open(tmp_path / "league", publisher=Published()) as league:
        run(league)
        run(league)
        first, second = league.nights()
        assert first.commitment != second.commitment
        assert replace(first, secret=None) == first


def test_a_real_table_that_loses_its_engine_leaves_whole_records_only(tmp_path: Path) -> None:
    def seat(losing: bool) -> SeatTable:
        # The second match's bots cannot be started any more.
        failures = [None, None, EngineGone("no engine"), EngineGone("no engine")] if losing else []
        sandbox = players.FakeSandbox(failures)

        def make(match: MatchSpec, bots: Mapping[str, Submission], _: Sandbox, secret: bytes, clock: Clock) -> Table:
            connect = partial(players.FakeLink, player=lambda _: players.FakePlayer())
            return Table(match, bots, sandbox, secret, clock, connect)

        return make

    with new_league(tmp_path) as league:
        with pytest.raises(EngineGone, match="no engine"):
            asyncio.run(league.run(FakeSandbox(), progress=Told(), jobs=1, seat=seat(losing=True)))
        done = league.status().done
        assert done < 12
        summary = asyncio.run(league.run(FakeSandbox(), progress=Told(), jobs=1, seat=seat(losing=False)))
        assert (summary.played, summary.finished) == (12 - done, True)
