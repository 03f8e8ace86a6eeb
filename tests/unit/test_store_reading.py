"""Reading a league's games: results without moves, and records match by match, never all of them at once."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from referee.errors import RecordError, StoreError
from referee.model import GameRecord, NightSettings
from referee.records import to_json
from referee.store import Store
from tests.support.records import SECRET, random_league
from treelings import Clock, commitment

BOTS = [f"bot{number:02}" for number in range(12)]  # 66 matches of ten games: more than are read at a time
SETTINGS = NightSettings((2,), 5, "start", None, Clock())


@pytest.fixture(scope="module")
def records() -> tuple[GameRecord, ...]:
    return random_league(Random(1), bots=BOTS, nights=1, deals=5, fault_chance=0.01)[1]


@pytest.fixture
def store(tmp_path: Path, records: tuple[GameRecord, ...]) -> Iterator[Store]:
    with Store.create(tmp_path, "thursday") as made:
        made.open_night(SETTINGS, SECRET, commitment(SECRET), "2026-11-29T18:00:00Z")
        made.save(1, Random(2).sample(records, len(records)))
        yield made


def test_results_are_the_records_without_their_moves_in_the_same_order(store: Store) -> None:
    assert store.results() == tuple(replace(record, moves=()) for record in store.records())
    assert store.results(1) == store.results()


def test_records_come_match_by_match_and_deal_by_deal(store: Store, records: tuple[GameRecord, ...]) -> None:
    assert store.records() == tuple(
        sorted(records, key=lambda record: (record.match, record.deal or "", record.rotation))
    )


def test_lines_are_those_of_the_matches_that_are_asked_for(store: Store, records: tuple[GameRecord, ...]) -> None:
    matches = list(dict.fromkeys(record.match for record in records))[::-1]
    for match, lines in zip(matches, store.lines(1, matches), strict=True):
        assert lines == {record.id: to_json(record) for record in records if record.match == match}
    assert list(store.lines(1, ["nobody-vs-noone"])) == [{}]
    assert list(store.lines(2, matches[:1])) == [{}]


def test_a_line_is_read_back_and_one_that_is_none_names_the_database(store: Store) -> None:
    record = store.records()[0]
    assert store.record(to_json(record)) == record
    with pytest.raises(RecordError, match=r"league\.db: game: expected a JSON object"):
        store.record("{")


@pytest.mark.parametrize("column", ["id", "match", "night"])
def test_a_record_in_the_place_of_another_game_is_damage_and_said_so(
    store: Store, records: tuple[GameRecord, ...], tmp_path: Path, column: str
) -> None:
    with closing(sqlite3.connect(tmp_path / "league.db")) as database, database:
        database.execute(f"UPDATE games SET {column} = 7 WHERE id = ?", (records[0].id,))
    with pytest.raises(StoreError, match=r"league\.db: damaged: in the place of .*; go back to a copy of the league"):
        store.results()
