"""What a league is exported as: rows of seats, and the records themselves."""

import csv
import sys
from pathlib import Path
from random import Random

import pytest
from pyarrow import parquet

from referee.errors import RefereeError
from referee.exports import COLUMNS, seat_rows, write_csv, write_jsonl, write_parquet
from referee.model import GameRecord
from referee.records import read_records
from referee.standings import standings
from tests.support.records import forfeited, random_league


@pytest.fixture(scope="module")
def records() -> tuple[GameRecord, ...]:
    return random_league(Random(5), nights=1, seats=(2, 3), deals=1, fault_chance=0.01)[1]


def test_rows_of_seats_add_up_to_the_standings(records: tuple[GameRecord, ...]) -> None:
    rows = list(seat_rows(records))
    for standing in standings(records):
        of_bot = [row for row in rows if row.bot == standing.bot]
        assert len(of_bot) == standing.games
        assert sum(row.points for row in of_bot) / len(of_bot) == pytest.approx(standing.score)
        assert sum(row.margin or 0 for row in of_bot) / len(of_bot) == pytest.approx(standing.margin)
        assert sum(row.fault is not None for row in of_bot) == standing.faults


def test_moves_that_the_referee_made_are_not_the_bots() -> None:
    record = forfeited(3, 1)
    (fault,) = record.faults
    row = list(seat_rows([record]))[fault.seat]
    own = [move.ms for move in record.moves if move.seat == fault.seat and not move.by_referee]
    assert (row.moves, row.longest_ms) == (len(own), max(own))
    assert (row.fault, row.fault_turn, row.rank) == (fault.kind.value, fault.turn, 3)


def test_a_game_that_ended_by_forfeit_has_neither_scores_nor_margins() -> None:
    rows = list(seat_rows([forfeited(2, 1)]))
    assert [(row.score, row.margin) for row in rows] == [(None, None)] * 2
    assert sorted(row.points for row in rows) == [0.0, 1.0]


def test_csv_and_parquet_hold_the_same_rows(tmp_path: Path, records: tuple[GameRecord, ...]) -> None:
    write_csv(tmp_path / "rows.csv", records)
    write_parquet(tmp_path / "rows.parquet", records)
    with (tmp_path / "rows.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    rows = parquet.read_table(tmp_path / "rows.parquet").to_pylist()
    assert list(rows[0]) == list(lines[0]) == list(COLUMNS)
    assert lines == [{key: "" if value is None else str(value) for key, value in row.items()} for row in rows]
    assert len(rows) == sum(len(record.seats) for record in records)


def test_no_games_make_files_with_columns_and_no_rows(tmp_path: Path) -> None:
    write_csv(tmp_path / "rows.csv", [])
    write_parquet(tmp_path / "rows.parquet", [])
    assert (tmp_path / "rows.csv").read_text() == ",".join(COLUMNS) + "\n"
    assert parquet.read_table(tmp_path / "rows.parquet").column_names == list(COLUMNS)


def test_lines_of_json_are_read_back_as_the_same_records(tmp_path: Path, records: tuple[GameRecord, ...]) -> None:
    write_jsonl(tmp_path / "games.jsonl", records)
    assert tuple(read_records(tmp_path / "games.jsonl")) == records


def test_without_pyarrow_it_is_said_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # as where it is not installed
    with pytest.raises(RefereeError, match=r"pip install 'treelings-referee\[parquet\]'"):
        write_parquet(tmp_path / "rows.parquet", [])
    assert not (tmp_path / "rows.parquet").exists()
