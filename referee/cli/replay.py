"""`treelings replay`: a recorded game, turn by turn, or a bot's second opinion on it."""

from pathlib import Path
from tempfile import gettempdir
from typing import Annotated, Final

import typer
from rich.text import Text

from referee.cli import options
from referee.cli.show import comment, market, out, print_row, say, tiles
from referee.errors import UsageError
from referee.model import GameRecord, PlayedMove
from referee.text import printable
from treelings import Clock, State

_COPIES: Final = "treelings-replay-"
_SHOWN: Final = 400


def replay(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file of game records (.jsonl).", exists=True, dir_okay=False)
    ],
    game: Annotated[
        int, typer.Option("--game", metavar="N", min=1, help="Which game of the file, counted from 1.")
    ] = 1,
    seat: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="SEAT",
            help="Put --bot back into each position of this seat: its number from 0, or who sat there.",
        ),
    ] = None,
    bot: Annotated[
        str | None, typer.Option("--bot", metavar="BOT", help="A folder, .zip or .tar.gz file, or a sample bot's name.")
    ] = None,
    turn: Annotated[
        int | None, typer.Option("--turn", min=0, metavar="T", help="With --as: the position of this turn alone.")
    ] = None,
    sandbox: options.Sandbox = options.SandboxWish.AUTO,
    *,
    json: Annotated[bool, typer.Option("--json", help="With --as: one JSON object, with each position.")] = False,
    trust_bots: options.TrustBots = False,
) -> None:
    """Show a recorded game turn by turn, or where a bot would have played otherwise.

    Each turn shows the market before the move, the move in notation, the time it took and the mover's row after it;
    the end shows every row with the columns that score marked by *.

    With `--as 1 --bot mybot`, mybot is asked what seat 1 was asked, turn after turn, with the history as recorded and
    the usual clock. A line a turn: what was played, = or ≠, what the bot would play, its time, and the seat's
    margin right after either move.
    """
    record = _game(file, game)
    if (seat is None) != (bot is None):
        raise typer.BadParameter("--as SEAT and --bot BOT belong together: whose positions, and who is asked in them")
    if seat is None or bot is None:
        if json or turn is not None:
            raise typer.BadParameter("--turn and --json are for --as SEAT --bot BOT: name them too")
        _show(record)
    elif not _ask(
        record,
        f"{printable(str(file), _SHOWN)}, game {game}",
        _seat(record, seat),
        bot,
        turn,
        sandbox,
        json=json,
        trust=trust_bots,
    ):
        raise typer.Exit(1)


def _game(file: Path, game: int) -> GameRecord:
    """The game of this number in the file. Raises UsageError where there is none that the rules allow."""
    from referee.records import problems, read_records

    where = printable(str(file), _SHOWN)
    number = 0
    for number, record in enumerate(read_records(file), 1):
        if number == game:
            if found := problems(record):
                raise UsageError(f"{where}, game {game}: does not follow the rules: {found[0]}")
            return record
    raise UsageError(f"{where}: no game {game}; {f'expected 1 to {number}' if number else 'it holds none'}")


def _seat(record: GameRecord, text: str) -> int:
    """The seat that is meant: by its number, or by the name of who sat there."""
    names = [holder.bot for holder in record.seats]
    numbers = [str(number) for number in range(len(names))]
    if text in numbers:
        return numbers.index(text)
    if text in names:
        return names.index(text)
    seats = ", ".join(f"{number} ({name})" for number, name in enumerate(names))
    raise typer.BadParameter(f"--as: expected a seat of the game, {seats}; got {printable(text, _SHOWN)}")


def _ask(
    record: GameRecord, where: str, seat: int, name: str, turn: int | None, wish: options.SandboxWish, *,
    json: bool, trust: bool,
) -> bool:  # fmt: skip
    """Ask the bot in the seat's positions and print what it says; whether it never failed."""
    from referee.cli.sandboxes import sandbox_for
    from referee.cli.second_opinion import as_json, opinions, positions, tell
    from referee.limits import Limits
    from referee.loop import run
    from referee.players import connect
    from referee.submissions import find_bot, take_in
    from referee.work_folder import work_folder

    clock, logs = Clock(), list[bytes]()
    asked = positions(record, seat, clock, turn)
    with work_folder(Path(gettempdir()), _COPIES) as copies:
        bot = take_in(find_bot(name), copies)
        box = sandbox_for(wish, [bot], "replay", trust=trust, limits=Limits(), at_once=1)
        found = opinions(record, asked, bot, box, connect, clock, logs)
        if json:
            text, good = run(as_json(found, record, bot, logs))
            out.print(text, markup=False, soft_wrap=True)
            return good
        played = f"{record.seats[seat].bot} on seat {seat}"
        return run(tell(found, where, played, bot.name, len(asked), logs))


def _show(record: GameRecord) -> None:
    from referee.records import states

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
    print_row(line, tiles(after, played.seat))
    comment(played.comment, 8 + width)


def _rows(state: State, names: list[str], width: int, *, scoring: bool = False) -> None:
    for seat, name in enumerate(names):
        print_row(Text(f"      {name:<{width}}  "), tiles(state, seat, scoring=scoring))
    out.print()


def _end(record: GameRecord, last: State, names: list[str], width: int) -> None:
    out.print()
    _rows(last, names, width, scoring=True)
    for fault in record.faults:
        detail = printable(fault.detail, _SHOWN)
        say(f"turn {fault.turn}: {names[fault.seat]} forfeits, {fault.kind}: {detail}")
    for seat in sorted(range(len(names)), key=lambda seat: record.ranks[seat]):
        points = f"{record.scores[seat]} points" if record.scores else "no score"
        out.print(f"{record.ranks[seat]}. {names[seat]:<{width}}  {points}", markup=False)
