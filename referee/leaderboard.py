"""The tables of a league, all worked out from its records by one function: standings and ratings.

The texts are the same bytes on every machine: arithmetic of standings is exact, and ratings are rounded long before
machines differ. `standings.json` is

    {"format": "treelings-standings/2", "league": "thursday",
     "season": [{"rank": 1, "bot": "greedy", …}, …], "seats": [{"players": 2, "seat": 0, …}, …],
     "nights": [{"night": 1, "standings": […], "seats": […]}, …]}
"""

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from referee.model import GameRecord, Standing
from referee.ratings import Rating, SeatEffect, rate
from referee.standings import standings

FORMAT: Final = "treelings-standings/2"
COLUMNS: Final = (
    "rank", "bot", "version", "games", "deals", "wins", "ties", "losses", "score", "margin", "faults",
    "elo", "elo_low", "elo_high", "first_rank", "last_rank", "lower_bound", "provisional",
)  # fmt: skip
SEAT_COLUMNS: Final = ("players", "seat", "elo", "elo_low", "elo_high", "significant")
_DECIMALS: Final = 6

Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Table:
    """What some games come to.

    rows     the bots in them, best first (records.md, Points)
    ratings  of each of these bots
    seats    what each seat is worth, by size of the table
    """

    rows: tuple[Standing, ...]
    ratings: Mapping[str, Rating]
    seats: tuple[SeatEffect, ...]


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The table of all games of a league, and of those of each night that has any, by its number."""

    league: str
    season: Table
    nights: Mapping[int, Table]


def table(records: Iterable[GameRecord]) -> Table:
    """The table of these games; their order changes nothing."""
    games = list(records)
    rated = rate(games)
    return Table(standings(games), {rating.bot: rating for rating in rated.rows}, tuple(rated.seats))


def leaderboard(league: str, records: Iterable[GameRecord]) -> Leaderboard:
    """All tables of a league; the order of its records changes nothing."""
    season = []
    by_night: defaultdict[int, list[GameRecord]] = defaultdict(list)
    for record in records:
        season.append(record)
        if record.night is not None:
            by_night[record.night].append(record)
    whole = table(season)
    return Leaderboard(
        league,
        whole,
        {night: whole if len(by_night[night]) == len(season) else table(by_night[night]) for night in sorted(by_night)},
    )


def standings_json(board: Leaderboard) -> str:
    """The text of standings.json: keys sorted, numbers with at most six decimals, ASCII; ends with a line end."""
    value = {
        "format": FORMAT,
        "league": board.league,
        "season": _rows(board.season),
        "seats": _seats(board.season),
        "nights": [
            {"night": night, "standings": _rows(of_night), "seats": _seats(of_night)}
            for night, of_night in board.nights.items()
        ],
    }
    return json.dumps(value, sort_keys=True, indent=1, allow_nan=False) + "\n"


def standings_csv(of: Table) -> str:
    """The rows as CSV (RFC 4180) with a header; a text that a spreadsheet would take for a formula gets a leading '."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    writer.writerows([cell(value) for value in row.values()] for row in _rows(of))
    return text.getvalue()


def cell(value: Value) -> Value:
    """The value as a cell of CSV: a text that a spreadsheet would take for a formula has a ' before it."""
    if isinstance(value, bool):
        return str(value).lower()
    return "'" + value if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def _rows(of: Table) -> list[dict[str, Value]]:
    return [_row(row, of.ratings[row.bot]) for row in of.rows]


def _seats(of: Table) -> list[dict[str, Value]]:
    return [_seat(effect) for effect in of.seats]


def _row(row: Standing, rating: Rating) -> dict[str, Value]:
    values: tuple[Value, ...] = (
        row.rank, row.bot, row.version, row.games, rating.deals, row.wins, row.ties, row.losses, row.score, row.margin,
        row.faults, rating.elo, rating.low, rating.high, rating.first_rank, rating.last_rank, rating.bound,
        rating.provisional,
    )  # fmt: skip
    return {column: _rounded(value) for column, value in zip(COLUMNS, values, strict=True)}


def _seat(effect: SeatEffect) -> dict[str, Value]:
    values: tuple[Value, ...] = (
        effect.players, effect.seat, effect.elo, effect.low, effect.high, effect.significant,
    )  # fmt: skip
    return {column: _rounded(value) for column, value in zip(SEAT_COLUMNS, values, strict=True)}


def _rounded(value: Value) -> Value:
    return round(value, _DECIMALS) + 0.0 if isinstance(value, float) else value  # no minus before a zero
