"""The games of a league for other programs: a row for each seat of each game, as CSV or Parquet; and records as lines.

A row has what standings and ratings are computed from, and what a bot's moves took; the moves themselves are in the
records alone. Seats, deals, rotations and turns count from 0.
"""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from referee.errors import RefereeError
from referee.leaderboard import cell
from referee.model import GameRecord
from referee.records import to_json
from referee.standings import margins, points


@dataclass(frozen=True, slots=True)
class SeatRow:
    """One seat of one game.

    deal         its id (rules.md, Deck and deal)
    score        of the finished table; None after a forfeit that ended the game
    points       0 to 1 (records.md, Points)
    margin       own score less the mean of the others'; None where there is no score
    fault        its kind, of the turn in `fault_turn`; None if the bot made none
    moves        that the bot made itself; `total_ms` and `longest_ms` are what they took
    """

    league: str
    night: int | None
    match: str
    deal: str | None
    rotation: int
    refill: str
    players: int
    seat: int
    bot: str
    version: str
    ended: str
    score: int | None
    rank: int
    points: float
    margin: float | None
    fault: str | None
    fault_turn: int | None
    moves: int
    total_ms: float
    longest_ms: float


COLUMNS = tuple(field.name for field in fields(SeatRow))
"""The names of the columns, in order."""


def seat_rows(records: Iterable[GameRecord]) -> Iterator[SeatRow]:
    """The rows of each game, in the order of its seats."""
    for record in records:
        gained, ahead = points(record.ranks), margins(record)
        for seat, holder in enumerate(record.seats):
            times = [move.ms for move in record.moves if move.seat == seat and not move.by_referee]
            fault = next((fault for fault in record.faults if fault.seat == seat), None)
            yield SeatRow(
                league=record.league,
                night=record.night,
                match=record.match,
                deal=record.deal,
                rotation=record.rotation,
                refill=record.refill,
                players=len(record.seats),
                seat=seat,
                bot=holder.bot,
                version=holder.version,
                ended=record.ended,
                score=record.scores[seat] if record.scores else None,
                rank=record.ranks[seat],
                points=float(gained[seat]),
                margin=float(ahead[seat]) if ahead else None,
                fault=fault.kind.value if fault else None,
                fault_turn=fault.turn if fault else None,
                moves=len(times),
                total_ms=round(sum(times), 3),
                longest_ms=max(times, default=0.0),
            )


def write_csv(path: Path, records: Iterable[GameRecord]) -> None:
    """As CSV (RFC 4180) with a header; nothing is empty text, and no text is a formula to a spreadsheet."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for row in seat_rows(records):
            writer.writerow(["" if (value := getattr(row, name)) is None else cell(value) for name in COLUMNS])


def write_jsonl(path: Path, records: Iterable[GameRecord]) -> None:
    """The records themselves, one JSON object a line (records.md)."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(f"{to_json(record)}\n" for record in records)


def write_parquet(path: Path, records: Iterable[GameRecord]) -> None:
    """As Parquet. Raises RefereeError where pyarrow is not installed."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise RefereeError(
            "Parquet is written by pyarrow, which is not installed; install it with: pip install "
            "'treelings-referee[parquet]', or export the same rows with --csv"
        ) from None

    kinds: dict[object, object] = {
        str: pa.string(), str | None: pa.string(), int: pa.int64(), int | None: pa.int64(),
        float: pa.float64(), float | None: pa.float64(),
    }  # fmt: skip
    rows = list(seat_rows(records))
    columns = {
        field.name: pa.array([getattr(row, field.name) for row in rows], kinds[field.type]) for field in fields(SeatRow)
    }
    parquet.write_table(pa.table(columns), path)
