"""The tables of a league as values, JSON and CSV (records.md, Points)."""

import csv
import io
import json
from dataclasses import replace
from random import Random

import pytest

from referee.leaderboard import COLUMNS, Leaderboard, Table, leaderboard, standings_csv, standings_json, table
from referee.model import GameRecord
from referee.standings import standings
from tests.support.records import random_league


@pytest.fixture(scope="module")
def records() -> tuple[GameRecord, ...]:
    return random_league(Random(1))[1]


def test_every_bot_of_a_table_has_a_standing_and_a_rating(records: tuple[GameRecord, ...]) -> None:
    found = table(records)
    assert found.rows == standings(records)
    assert set(found.ratings) == {row.bot for row in found.rows}
    assert all(found.ratings[row.bot].games == row.games for row in found.rows)


def test_no_games_make_an_empty_table() -> None:
    assert table([]) == Table((), {}, ())
    assert standings_csv(table([])) == ",".join(COLUMNS) + "\r\n"


def test_a_league_has_a_table_of_all_games_and_one_of_each_night(records: tuple[GameRecord, ...]) -> None:
    board = leaderboard("thursday", records)
    assert board.season == table(records)
    assert list(board.nights) == [1, 2]
    assert board.nights[2] == table([record for record in records if record.night == 2])


def test_games_outside_any_night_count_for_the_season_alone(records: tuple[GameRecord, ...]) -> None:
    of_one = [record for record in records if record.night == 1]
    board = leaderboard("thursday", [*of_one, replace(records[0], night=None)])
    assert board.nights == {1: table(of_one)}
    assert board.season.rows != board.nights[1].rows


def test_json_has_the_season_and_each_night_in_canonical_form(records: tuple[GameRecord, ...]) -> None:
    board = leaderboard("thursday", records)
    text = standings_json(board)
    value = json.loads(text)
    assert (value["format"], value["league"]) == ("treelings-standings/2", "thursday")
    assert [night["night"] for night in value["nights"]] == [1, 2]
    assert [row["bot"] for row in value["season"]] == [row.bot for row in board.season.rows]
    assert [row["elo"] for row in value["season"]] == [board.season.ratings[row.bot].elo for row in board.season.rows]
    assert [(seat["players"], seat["seat"]) for seat in value["seats"]] == [(2, 0), (2, 1)]
    assert text == json.dumps(value, sort_keys=True, indent=1) + "\n"


def test_json_rounds_numbers_to_six_decimals_and_has_no_minus_before_a_zero(records: tuple[GameRecord, ...]) -> None:
    found = table(records)
    row = replace(found.rows[0], score=1 / 3, margin=-1e-9)
    value = json.loads(standings_json(Leaderboard("x", replace(found, rows=(row,)), {})))
    assert value["season"][0]["score"] == 0.333333
    assert str(value["season"][0]["margin"]) == "0.0"


def test_csv_has_a_header_and_a_line_for_each_row(records: tuple[GameRecord, ...]) -> None:
    found = table(records)
    lines = list(csv.DictReader(io.StringIO(standings_csv(found), newline="")))
    assert [line["bot"] for line in lines] == [row.bot for row in found.rows]
    assert [float(line["elo"]) for line in lines] == [found.ratings[row.bot].elo for row in found.rows]
    assert {line["provisional"] for line in lines} == {"true"}


@pytest.mark.parametrize("text", ["=cmd()", "+1", "-1", "@x", "\tx", "\rx"])
def test_text_in_csv_is_never_a_formula(text: str, records: tuple[GameRecord, ...]) -> None:
    found = table(records)
    row = replace(found.rows[0], bot=text)
    named = Table((row,), {text: found.ratings[found.rows[0].bot]}, ())
    (line,) = csv.DictReader(io.StringIO(standings_csv(named), newline=""))
    assert line["bot"] == "'" + text
