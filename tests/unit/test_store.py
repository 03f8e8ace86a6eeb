"""The league's database: what goes in comes out, whole, once, and for its owner alone."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from referee.errors import RecordError, StoreError
from referee.model import GameRecord, Night, NightSettings, Submission, UntilDecided, VoidGame
from referee.store import Store
from tests.support.records import random_league
from treelings import Clock, commitment

SECRET = bytes(range(32))
SETTINGS = NightSettings((2, 4), 3, "end", 5, Clock(move_ms=7))
AT = "2026-11-29T18:00:00Z"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.create(tmp_path, "thursday") as made:
        yield made


def bot(store_folder: Path, name: str, edition: int = 1) -> Submission:
    version = f"sha256:{edition:064x}"
    return Submission(
        name, f"{name}'s author", version, store_folder / "bots" / version[7:], ("python", "b.py"), "python"
    )


def open_night(store: Store) -> Night:
    return store.open_night(SETTINGS, SECRET, commitment(SECRET), AT)


@pytest.fixture(scope="module")
def records() -> tuple[GameRecord, ...]:
    """72 games of night 1: three matches of twelve deals."""
    _, made = random_league(Random(1), bots=("ann", "bob", "cyd"), nights=1, deals=12, fault_chance=0.01)
    return made


def test_the_file_is_for_its_owner_alone(tmp_path: Path, store: Store) -> None:
    assert (tmp_path / "league.db").stat().st_mode & 0o777 == 0o600


def test_a_database_is_not_made_over_another(tmp_path: Path, store: Store) -> None:
    with pytest.raises(StoreError, match=r"league\.db: cannot be made: File exists"):
        Store.create(tmp_path, "thursday")


def test_it_can_be_opened_again_and_knows_its_league(tmp_path: Path, store: Store) -> None:
    store.close()
    with Store.open(tmp_path) as again:
        assert again.league == "thursday"


def test_writes_are_journalled_and_synced(store: Store) -> None:
    with store._engine.connect() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    assert pragmas == {"journal_mode": "truncate", "synchronous": 2, "foreign_keys": 1}


# ---- bots


def test_bots_come_back_as_they_went_in_by_name(tmp_path: Path, store: Store) -> None:
    ann, bob = bot(tmp_path, "ann"), bot(tmp_path, "bob", 2)
    store.add_bot(bob, AT)
    store.add_bot(ann, AT)
    assert store.bots() == (ann, bob)


def test_the_version_added_last_plays_next_even_if_it_was_there_before(tmp_path: Path, store: Store) -> None:
    for edition in (1, 2, 1):
        store.add_bot(bot(tmp_path, "ann", edition), AT)
        assert store.bots() == (bot(tmp_path, "ann", edition),)


def test_a_league_that_was_moved_finds_its_bots(tmp_path: Path, store: Store) -> None:
    store.add_bot(bot(tmp_path, "ann"), AT)
    store.close()
    (tmp_path / "moved").mkdir()
    (tmp_path / "league.db").rename(tmp_path / "moved" / "league.db")
    with Store.open(tmp_path / "moved") as moved:
        assert moved.bots() == (bot(tmp_path / "moved", "ann"),)


def test_a_bot_that_withdrew_plays_next_no_more_until_it_is_added_again(tmp_path: Path, store: Store) -> None:
    first, second = bot(tmp_path, "ann", 1), bot(tmp_path, "ann", 2)
    for each in (first, second, bot(tmp_path, "bob")):
        store.add_bot(each, AT)
    open_night(store)
    store.withdraw("ann", AT)
    assert store.bots() == (bot(tmp_path, "bob"),)
    assert store.lineup(1) == (second, bot(tmp_path, "bob"))
    store.add_bot(second, AT)
    assert store.bots() == (second, bot(tmp_path, "bob"))


def test_who_is_not_there_withdraws_without_a_change(tmp_path: Path, store: Store) -> None:
    store.add_bot(bot(tmp_path, "ann"), AT)
    store.add_bot(bot(tmp_path, "bob"), AT)
    for name in ("ann", "ann", "nobody"):  # two who remove the same bot at once
        store.withdraw(name, AT)
    assert store.bots() == (bot(tmp_path, "bob"),)


def test_a_version_is_known_from_when_it_was_first_added(tmp_path: Path, store: Store) -> None:
    ann = bot(tmp_path, "ann")
    assert not store.knows(ann.version)
    store.add_bot(ann, AT)
    store.withdraw("ann", AT)
    assert store.knows(ann.version)


# ---- nights


def test_who_leaves_a_night_is_no_bot_of_it_and_nothing_of_it_is_void(tmp_path: Path, store: Store) -> None:
    for name in ("ann", "bob", "cyd"):
        store.add_bot(bot(tmp_path, name), AT)
    open_night(store)
    store.save(1, [VoidGame("a", ("no runtime",))])
    store.leave(1, "bob")
    (night,) = store.nights()
    assert [entry.name for entry in night.bots] == ["ann", "cyd"]
    assert night.voids == ()


def test_a_night_keeps_its_settings_and_hides_its_secret(store: Store) -> None:
    night = open_night(store)
    assert (night.number, night.settings, night.opened, night.finished) == (1, SETTINGS, AT, None)
    assert night.secret is None
    assert night.commitment == commitment(SECRET)
    assert store.nights() == (night,)
    assert store.secret(1) == SECRET


def test_a_night_freezes_the_bots_of_its_opening(tmp_path: Path, store: Store) -> None:
    first = bot(tmp_path, "ann", 1)
    store.add_bot(first, AT)
    open_night(store)
    store.add_bot(bot(tmp_path, "ann", 2), AT)
    store.add_bot(bot(tmp_path, "bob"), AT)
    assert store.lineup(1) == (first,)
    assert [entry.version for entry in store.nights()[0].bots] == [first.version]
    open_night(store)
    assert store.lineup(2) == (bot(tmp_path, "ann", 2), bot(tmp_path, "bob"))


def test_a_night_is_finished_and_then_revealed(store: Store) -> None:
    open_night(store)
    store.finish(1, "2026-11-29T19:00:00Z")
    assert store.nights()[0].finished == "2026-11-29T19:00:00Z"
    assert store.nights()[0].secret is None
    store.reveal(1, "2026-11-29T20:00:00Z")
    assert store.nights()[0].secret == SECRET.hex()


def test_a_night_keeps_how_far_it_is_to_go_on(store: Store) -> None:
    assert open_night(store).until_decided is None
    store.aim(1, UntilDecided(2, 100))
    store.aim(1, UntilDecided(3, 200))
    assert store.nights()[0] == replace(store.nights()[0], settings=SETTINGS, until_decided=UntilDecided(3, 200))


def test_a_night_that_is_not_there_is_an_error(store: Store) -> None:
    with pytest.raises(StoreError, match="No row was found"):
        store.secret(7)


# ---- games


def test_records_come_back_equal_in_the_order_of_their_deals(store: Store, records: tuple[GameRecord, ...]) -> None:
    open_night(store)
    shuffled = list(records)
    Random(2).shuffle(shuffled)
    store.save(1, shuffled[:5])
    store.save(1, shuffled[5:])
    expected = sorted(records, key=lambda r: (r.match, int(str(r.deal).rpartition("/")[2]), r.rotation))
    assert list(store.records(1)) == expected
    assert store.records() == store.records(1)
    assert store.recorded(1) == {record.id for record in records}


def test_results_are_the_records_in_their_order_without_moves(store: Store, records: tuple[GameRecord, ...]) -> None:
    open_night(store)
    extra: dict[str, object] = {"weather": [1, "é"], "seats": {"1": {"mood": "calm"}}}
    store.save(1, [replace(records[0], extra=extra | {"moves": {"0": {"why": "so"}}}), *reversed(records[1:])])
    assert store.results(1) == (
        replace(records[0], moves=(), extra=extra),
        *(replace(record, moves=()) for record in store.records(1)[1:]),
    )
    assert store.results() == store.results(1)


def test_games_are_counted_night_by_night(store: Store, records: tuple[GameRecord, ...]) -> None:
    open_night(store)
    open_night(store)
    store.save(1, records[:5])
    store.save(1, [records[0], VoidGame(records[9].id, ("no engine",))])
    assert (store.count(1), store.count(2)) == (5, 0)


def test_a_second_record_of_a_game_changes_nothing(store: Store, records: tuple[GameRecord, ...]) -> None:
    open_night(store)
    store.save(1, records[:2])
    store.save(1, [replace(records[0], moves=()), records[2]])
    assert set(map(repr, store.records(1))) == set(map(repr, records[:3]))


def test_a_batch_is_kept_whole_or_not_at_all(store: Store, records: tuple[GameRecord, ...]) -> None:
    open_night(store)
    with pytest.raises(StoreError, match="NOT NULL"):
        store.save(1, [records[0], replace(records[1], deal=None)])
    assert store.records() == ()


def test_games_belong_to_a_night(store: Store, records: tuple[GameRecord, ...]) -> None:
    with pytest.raises(StoreError, match="FOREIGN KEY"):
        store.save(1, records[:1])


def test_nights_keep_their_games_apart(store: Store) -> None:
    _, made = random_league(Random(1), bots=("ann", "bob"), nights=2, deals=1)
    for number in (1, 2):
        open_night(store)
        store.save(number, [record for record in made if record.night == number])
    assert store.records(2) == made[2:]
    assert store.records() == made


def test_an_empty_batch_needs_no_transaction(store: Store) -> None:
    store.save(1, [])


def test_void_games_are_listed_with_the_reasons_of_the_last_tries(store: Store) -> None:
    open_night(store)
    store.save(1, [VoidGame("b", ("first",)), VoidGame("a", ("x", "y", "z"))])
    store.save(1, [VoidGame("b", ("second",))])
    assert store.nights()[0].voids == (VoidGame("a", ("x", "y", "z")), VoidGame("b", ("second",)))


def test_a_void_game_that_is_played_after_all_is_void_no_more(store: Store, records: tuple[GameRecord, ...]) -> None:
    open_night(store)
    store.save(1, [VoidGame(records[0].id, ("engine",)), VoidGame(records[1].id, ("engine",))])
    store.save(1, [records[0]])
    assert [void.game for void in store.nights()[0].voids] == [records[1].id]


def test_a_record_is_never_void_again(store: Store, records: tuple[GameRecord, ...]) -> None:
    open_night(store)
    store.save(1, [records[0]])
    store.save(1, [VoidGame(records[0].id, ("engine",))])
    assert store.nights()[0].voids == ()


def test_threads_may_write_at_the_same_time(store: Store, records: tuple[GameRecord, ...]) -> None:
    open_night(store)
    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(store.save, 1, records[i : i + 6]) for i in range(0, len(records), 3)]:
            done.result()
    assert len(store.records()) == len(records)


# ---- files that are none of ours


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"league\.db: expected the league's database, got no such file"):
        Store.open(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"this is no database at all, but text" * 100])
def test_a_file_of_another_kind(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "league.db").write_bytes(content)
    with pytest.raises(StoreError, match=r"cannot be used as a league's database: .*league\.db"):
        Store.open(tmp_path)


def rewrite(path: Path, sql: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(sql)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("UPDATE meta SET value = '3' WHERE key = 'schema'", "expected schema 2, got 3; update treelings"),
        ("UPDATE meta SET value = '0' WHERE key = 'schema'", "expected schema 2, got 0; it was made by an older"),
        ("UPDATE meta SET value = 'x' WHERE key = 'schema'", "expected a league's database, got another one"),
        ("UPDATE meta SET value = 'chess' WHERE key = 'format'", "expected a league's database, got another one"),
        ("DELETE FROM meta", "expected a league's database, got another one"),
    ],
)  # fmt: skip
def test_a_database_of_another_schema(tmp_path: Path, store: Store, sql: str, says: str) -> None:
    store.close()
    rewrite(tmp_path / "league.db", sql)
    with pytest.raises(StoreError, match=says):
        Store.open(tmp_path)


def test_a_database_from_before_bots_could_withdraw_goes_on(tmp_path: Path, store: Store) -> None:
    store.add_bot(bot(tmp_path, "ann"), AT)
    store.add_bot(bot(tmp_path, "bob"), AT)
    night = open_night(store)
    store.close()
    rewrite(tmp_path / "league.db", "ALTER TABLE bots DROP COLUMN withdrawn")
    rewrite(tmp_path / "league.db", "UPDATE meta SET value = '1' WHERE key = 'schema'")
    for _ in range(2):
        with Store.open(tmp_path) as again:
            assert again.nights() == (night,)
            assert again.bots()[-1] == bot(tmp_path, "bob")
    with Store.open(tmp_path) as again:
        again.withdraw("bob", AT)
        assert again.bots() == (bot(tmp_path, "ann"),)


def test_a_database_that_cannot_be_brought_up_to_date_says_who_can(tmp_path: Path, store: Store) -> None:
    store.close()
    rewrite(tmp_path / "league.db", "UPDATE meta SET value = '1' WHERE key = 'schema'")
    with (tmp_path / "league.db").open("r+b") as file:
        file.seek(18)
        file.write(b"\3")  # for SQLite: made by a newer one, to be read only; root may write whatever its mode says
    with pytest.raises(StoreError, match="readonly database; do this as the league's owner"):
        Store.open(tmp_path)


@pytest.mark.parametrize("at", [0, 4096])  # of its head, and of the first page of its tables
def test_a_file_that_was_damaged_says_to_go_back_to_a_copy(tmp_path: Path, store: Store, at: int) -> None:
    store.close()
    with (tmp_path / "league.db").open("r+b") as file:
        file.seek(at)
        file.write(b"damaged " * 512)
    with pytest.raises(StoreError, match=r"league\.db: .*; it is damaged: go back to a copy of the league"):
        Store.open(tmp_path)


def test_a_damaged_record_is_named(tmp_path: Path, store: Store, records: tuple[GameRecord, ...]) -> None:
    open_night(store)
    store.save(1, records[:1])
    store.close()
    rewrite(tmp_path / "league.db", "UPDATE games SET record = '{}'")
    with Store.open(tmp_path) as again:
        for read in (again.records, again.results):
            with pytest.raises(RecordError, match=r"league\.db"):
                read()


def test_a_record_without_moves_is_damaged_also_where_moves_are_not_asked_for(
    tmp_path: Path, store: Store, records: tuple[GameRecord, ...]
) -> None:
    open_night(store)
    store.save(1, records[:1])
    store.close()
    rewrite(tmp_path / "league.db", "UPDATE games SET record = json_remove(record, '$.moves')")
    with Store.open(tmp_path) as again:
        for read in (again.records, again.results):
            with pytest.raises(RecordError, match="moves"):
                read()


def test_a_record_that_is_no_json_is_an_error_of_the_file(
    tmp_path: Path, store: Store, records: tuple[GameRecord, ...]
) -> None:
    open_night(store)
    store.save(1, records[:1])
    store.close()
    rewrite(tmp_path / "league.db", "UPDATE games SET record = 'no json'")
    with Store.open(tmp_path) as again:
        with pytest.raises(RecordError, match=r"league\.db"):
            again.records()
        with pytest.raises(StoreError, match=r"league\.db: malformed JSON"):
            again.results()
