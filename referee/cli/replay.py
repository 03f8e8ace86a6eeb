"""`treelings replay`: a recorded game, turn by turn."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from referee.cli.show import market, out, row
from referee.errors import UsageError
from referee.model import GameRecord, PlayedMove
from referee.text import printable
from treelings import State

_SHOWN = 400


def replay(
    file: Annotated[Path, typer.Argument(help="A file of game records (.jsonl).", exists=True, dir_okay=False)],
    game: Annotated[int, typer.Option("--game", min=1, help="Which game of the file, counted from 1.")] = 1,
) -> None:
    """Show a recorded game turn by turn.

    Each turn shows the market before the move, the move in notation, the time it took and the mover's row after it;
    the end shows every row with the columns that score marked by *.
    """
    from itertools import islice

    from referee.records import problems, read_records, states

    where = printable(str(file), _SHOWN)
    record = next(islice(read_records(file), game - 1, None), None)
    if record is None:
        count = sum(1 for _ in read_records(file))
        raise UsageError(f"{where}: no game {game}; expected 1 to {count}")
    if found := problems(record):
        raise UsageError(f"{where}, game {game}: does not follow the rules: {found[0]}")
    names = [printable(seat.bot, _SHOWN) for seat in record.seats]
    width = max(map(len, names))
    deal = "a deck given by hand" if record.deal is None else printable(record.deal, _SHOWN)
    out.print(f"{deal}, rotation {record.rotation}", style="bold", markup=False, soft_wrap=True)
    out.print(f"{len(names)} seats, refill at the {record.refill} of a turn\n")
    positions = list(states(record))
    _rows(positions[0], names, width)
    for before, after, played in zip(positions, positions[1:], record.moves, strict=False):
        _turn(before, after, played, names, width)
        if record.festival_turn == before.turn:
            out.print("         the firefly shows up: this round is the last", style="yellow")
    _end(record, positions[-1], names, width)


def _turn(before: State, after: State, played: PlayedMove, names: list[str], width: int) -> None:
    line = Text(f"{before.turn:>4}  ", style="dim")
    line.append(f"{names[played.seat]:<{width}}  ", style="bold")
    line.append_text(market(before))
    line.pad_right(max(0, 28 + width - line.cell_len))
    line.append(f"{played.move:<9}", style="bold")
    line.append("  referee  " if played.by_referee else f"{played.ms:>7.1f} ms  ", style="dim")
    line.append_text(row(after, played.seat))
    out.print(line, soft_wrap=True)


def _rows(state: State, names: list[str], width: int, *, scoring: bool = False) -> None:
    for seat, name in enumerate(names):
        line = Text(f"      {name:<{width}}  ").append_text(row(state, seat, scoring=scoring))
        out.print(line, soft_wrap=True)
    out.print()


def _end(record: GameRecord, last: State, names: list[str], width: int) -> None:
    out.print()
    _rows(last, names, width, scoring=True)
    for fault in record.faults:
        detail = printable(fault.detail, _SHOWN)
        out.print(f"turn {fault.turn}: {names[fault.seat]} forfeits, {fault.kind}: {detail}", markup=False)
    for seat in sorted(range(len(names)), key=lambda seat: record.ranks[seat]):
        points = f"{record.scores[seat]} points" if record.scores else "no score"
        out.print(f"{record.ranks[seat]}. {names[seat]:<{width}}  {points}", markup=False)
