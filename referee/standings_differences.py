"""How published standings differ from those that follow from the records, in words.

Each function is given the text that was expected and the one that was published. It yields nothing if they are the
same bytes; if not, what differs is found by its meaning. A text that is far too long is not taken apart.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile, zip_longest
from typing import Annotated, Final, Literal

from pydantic import FailFast

from referee.checked_json import Wire, read
from referee.text import CUT, printable

_SHOWN: Final = 120
_SHORT: Final = 100
_BEFORE: Final = 20
_SLACK: Final = 4096
_OLD: Final = '"format": "treelings-standings/1"'


class _Row(Wire):
    rank: int
    bot: str
    version: str
    games: int
    deals: int
    wins: int
    ties: int
    losses: int
    score: float
    margin: float
    faults: int
    elo: float
    elo_low: float
    elo_high: float
    first_rank: int
    last_rank: int
    lower_bound: bool
    provisional: bool


class _Seat(Wire):
    players: int
    seat: int
    elo: float
    elo_low: float
    elo_high: float
    significant: bool


_Rows = Annotated[list[_Row], FailFast()]
_Seats = Annotated[list[_Seat], FailFast()]


class _Night(Wire):
    night: int
    standings: _Rows
    seats: _Seats


class _Standings(Wire):
    format: Literal["treelings-standings/2"]
    league: str
    season: _Rows
    seats: _Seats
    nights: Annotated[list[_Night], FailFast()]


def json_differences(name: str, ours: str, theirs: str) -> Iterator[str]:
    """Of a standings.json called `name`. Raises RecordError for a text that is none."""
    if theirs == ours:
        return
    if _too_long(ours, theirs):
        yield f"{name}: expected {len(ours):,} characters, got {len(theirs):,}"
        return
    if _OLD in theirs:
        yield (
            f"{name}: expected treelings-standings/2, got treelings-standings/1, which an older version of treelings "
            "wrote, before there were ratings; whoever runs the league makes it anew with: treelings league publish"
        )
        return
    expected, got = read(_Standings, ours, name), read(_Standings, theirs, name)
    told = False
    for difference in _compared(name, expected, got):
        told = True
        yield difference
    if told:
        return
    if expected == got:
        yield f"{name}: the values are right, but the text is not the canonical one"
    else:
        yield f"{name}: expected each row once, in the order of the ranks, and no keys besides"


def csv_differences(name: str, ours: str, theirs: str) -> Iterator[str]:
    """Of a standings.csv called `name`: the first line that differs."""
    if theirs == ours:
        return
    if _too_long(ours, theirs):
        yield f"{name}: expected {len(ours):,} characters, got {len(theirs):,}"
        return
    lines = zip_longest(ours.split("\n"), theirs.split("\n"))
    number, (expected, got) = next((at, pair) for at, pair in enumerate(lines, 1) if pair[0] != pair[1])
    yield f"{name}, line {number}: expected {_from_difference(expected, got)}, got {_from_difference(got, expected)}"


def _too_long(ours: str, theirs: str) -> bool:
    return len(theirs) > 2 * len(ours) + _SLACK


def _compared(name: str, expected: _Standings, got: _Standings) -> Iterator[str]:
    if expected.league != got.league:
        yield f"{name}, key league: expected {expected.league!a}, got {_shown(got.league)}"
    yield from _rows(f"{name}, season", expected.season, got.season)
    yield from _seats(f"{name}, season", expected.seats, got.seats)
    nights = {night.night: night for night in expected.nights}
    published = {night.night: night for night in got.nights}
    for number in sorted(nights.keys() | published.keys()):
        nothing = _Night(night=number, standings=[], seats=[])
        ours, theirs = nights.get(number, nothing), published.get(number, nothing)
        yield from _rows(f"{name}, night {number}", ours.standings, theirs.standings)
        yield from _seats(f"{name}, night {number}", ours.seats, theirs.seats)


def _rows(where: str, expected: Sequence[_Row], got: Sequence[_Row]) -> Iterator[str]:
    ours, theirs = {row.bot: row for row in expected}, {row.bot: row for row in got}
    for bot in sorted(ours.keys() | theirs.keys()):
        if bot not in theirs:
            yield f"{where}: expected bot {bot}, got no row for it"
        elif bot not in ours:
            yield f"{where}: expected no bot {bot}, since no record is of it"
        else:
            yield from _values(f"{where}, bot {bot}", ours[bot], theirs[bot])


def _seats(where: str, expected: Sequence[_Seat], got: Sequence[_Seat]) -> Iterator[str]:
    ours, theirs = ({(seat.players, seat.seat): seat for seat in seats} for seats in (expected, got))
    for players, seat in sorted(ours.keys() | theirs.keys()):
        at = f"{where}, seat {seat} of {players}"
        if (players, seat) not in theirs:
            yield f"{at}: expected what it is worth, got nothing"
        elif (players, seat) not in ours:
            yield f"{at}: expected nothing, since no record is of such a table"
        else:
            yield from _values(at, ours[players, seat], theirs[players, seat])


def _values(where: str, expected: Wire, got: Wire) -> Iterator[str]:
    for key in type(expected).model_fields:
        wanted, published = getattr(expected, key), getattr(got, key)
        if wanted != published:
            yield f"{where}, key {key}: expected {wanted!r}, got {_shown(published)}"


def _from_difference(line: str | None, other: str | None) -> str:
    """The line; if it is long, from a little before the first character in which it differs from the other one."""
    if line is None or other is None or max(len(line), len(other)) <= _SHORT:
        return _shown(line)
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(line, other, strict=False)))
    start = max(0, alike - _BEFORE)
    return f"{CUT if start else ''}{_shown(line[start:])}"


def _shown(value: object) -> str:
    """As Python writes it, in ASCII: what looks the same is told apart."""
    return "nothing" if value is None else printable(ascii(value), _SHOWN)
