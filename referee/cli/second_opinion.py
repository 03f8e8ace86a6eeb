"""A bot put back into the positions of one seat of a recorded game, and where it would have played otherwise."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.text import Text

from referee.adviser import Advice, Adviser, full_clock, judge, seen
from referee.cli.show import comment, market, out, say
from referee.errors import UsageError
from referee.model import FaultKind, GameRecord, Submission
from referee.ports import Failure
from referee.text import printable
from referee.trial import last_lines, view_as_json, view_at
from treelings import Clock, GameStart, Move, View

if TYPE_CHECKING:
    from referee.ports import Connect, Sandbox

_LOG_LINES: Final = 5
_MARKET_WIDTH: Final = 21
_MOVE_WIDTH: Final = 9  # "*<ROY>GB" and a space
_SHOWN: Final = 300


@dataclass(frozen=True, slots=True)
class Position:
    """What a seat was asked, and the move that followed; None where it forfeited instead."""

    view: View
    played: Move | None


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the bot would do in a position."""

    position: Position
    advice: Advice | Failure

    @property
    def same(self) -> bool:
        """It would play what was played."""
        return isinstance(self.advice, Advice) and self.advice.move is self.position.played

    def margins(self) -> tuple[float | None, float | None]:
        """The seat's margin right after the move that was played, and after the bot's; None where there is none."""
        move = self.advice.move if isinstance(self.advice, Advice) else None
        return _margin(self.position.view, self.position.played), _margin(self.position.view, move)


def _margin(view: View, move: Move | None) -> float | None:
    if move is None:
        return None
    after = seen(view)
    after.play(move)
    return after.margin(view.seat)


def positions(record: GameRecord, seat: int, clock: Clock, turn: int | None = None) -> list[Position]:
    """All that a seat was asked in a game, as it was asked if the game was played with this clock; or one turn.

    Times that the clock does not allow, such as a person's, tell that it was not: then it is full in each position.
    Raises UsageError where there is no position.
    """
    asked = {at: played for at, played in enumerate(record.moves) if played.seat == seat and not played.by_referee}
    forfeits = [fault.turn for fault in record.faults if fault.seat == seat and fault.kind is not FaultKind.STARTUP]
    turns = sorted([*asked, *forfeits])
    if not turns:
        raise UsageError(f"seat {seat} was never asked for a move: expected a seat that was")
    if turn is not None and turn not in turns:
        raise UsageError(f"--turn {turn}: seat {seat} was not asked then; expected one of {', '.join(map(str, turns))}")
    views = [view_at(record, each, clock) for each in turns]
    if any(view.turn in asked and asked[view.turn].ms > view.limit_ms for view in views):
        views = [full_clock(view, clock) for view in views]
    return [
        Position(view, Move.parse(asked[view.turn].move) if view.turn in asked else None)
        for view in views
        if turn is None or view.turn == turn
    ]


async def opinions(
    record: GameRecord, positions: Sequence[Position], bot: Submission, sandbox: "Sandbox", connect: "Connect",
    clock: Clock, logs: list[bytes],
) -> AsyncGenerator[Opinion, None]:  # fmt: skip
    """Ask the bot in one position after the other, as in one game; opens and closes the sandbox.

    A bot that fails is asked in the next position after a fresh start, unless it does not start: then that is the last
    opinion. `logs` is given what it printed at the last. Raises SandboxError.
    """
    async with AsyncExitStack() as stack:
        await sandbox.open()
        stack.push_async_callback(sandbox.close)
        adviser = Adviser(bot, record.match, sandbox, connect)
        stack.callback(lambda: logs.append(adviser.log))
        stack.push_async_callback(adviser.close)
        players = len(record.seats)
        seat = positions[0].view.seat
        failure = await adviser.start(GameStart(record.id, seat, players, record.refill, clock))
        if failure is not None:
            yield Opinion(positions[0], failure)
            return
        for position in positions:
            advice = judge(position.view, await adviser.ask(position.view))
            yield Opinion(position, advice)
            if isinstance(advice, Failure) and advice.kind is FaultKind.STARTUP:
                return


async def tell(
    found: AsyncGenerator[Opinion, None], where: str, played: str, bot: str, count: int, logs: list[bytes]
) -> bool:
    """Print each opinion as it comes, a line a turn, and what all come to; whether the bot never failed."""
    told: list[Opinion] = []
    out.print(f"{bot} in place of {played}, {where}", style="bold", markup=False, soft_wrap=True)
    out.print(
        f"turn  {'market':<{_MARKET_WIDTH}} {'played':<{_MOVE_WIDTH}}   {'the bot':<{_MOVE_WIDTH}}"
        f"{'time':>10}  margin after",
        style="dim",
    )
    async for opinion in found:
        told.append(opinion)
        _line(opinion)
    same = sum(opinion.same for opinion in told)
    failed = [opinion for opinion in told if isinstance(opinion.advice, Failure)]
    other = [opinion.position.view.turn for opinion in told if not opinion.same]
    first = f"; first difference at turn {other[0]}" if other else ""
    unasked = f"; not asked in {count - len(told)}, since it does not start" if len(told) < count else ""
    out.print(f"\n{same} of {len(told)} the same{first}; failures: {len(failed)}{unasked}", style="bold")
    if failed:
        turn = failed[0].position.view.turn
        out.print(f"The position as JSON: the same command with --turn {turn} --json", markup=False)
        for line in last_lines(logs[-1], _LOG_LINES):
            say(f"its log: {line}", 2, "dim")
    return not failed


def _line(opinion: Opinion) -> None:
    view, played, advice = opinion.position.view, opinion.position.played, opinion.advice
    line = Text(f"{view.turn:>4}  ", style="dim").append_text(market(seen(view)))
    line.pad_right(max(0, 7 + _MARKET_WIDTH - line.cell_len))
    line.append(f"{'forfeit' if played is None else played.notation:<{_MOVE_WIDTH}} ")
    if isinstance(advice, Failure):
        line.append(f"✗ {advice.kind}", style="bold red")
        out.print(line, soft_wrap=True)
        say(printable(advice.detail, _SHOWN), 8, "yellow")
        return
    line.append("= " if opinion.same else "≠ ", style="" if opinion.same else "bold yellow")
    line.append(f"{advice.move.notation:<{_MOVE_WIDTH}}", style="dim" if opinion.same else "bold")
    line.append(f"{advice.ms:>7.1f} ms", style="dim")
    before, after = opinion.margins()
    line.append(f"  {'' if before is None else f'{before:+.1f}'}")
    if not opinion.same:
        line.append(f" → {after:+.1f}", style="bold")
    out.print(line, soft_wrap=True)
    comment(advice.comment, 8)


async def as_json(
    found: AsyncGenerator[Opinion, None], record: GameRecord, bot: Submission, logs: list[bytes]
) -> tuple[str, bool]:
    """All opinions as one JSON object, and whether the bot never failed."""
    told = [opinion async for opinion in found]
    failed = sum(isinstance(opinion.advice, Failure) for opinion in told)
    value = {
        "game": record.id,
        "bot": bot.name,
        "version": bot.version,
        "asked": len(told),
        "same": sum(opinion.same for opinion in told),
        "failed": failed,
        "first_difference": next((each.position.view.turn for each in told if not each.same), None),
        "turns": [_as_json(opinion) for opinion in told],
        "log": last_lines(logs[-1], _LOG_LINES),
    }
    return json.dumps(value, ensure_ascii=True), not failed


def _as_json(opinion: Opinion) -> dict[str, object]:
    position, advice = opinion.position, opinion.advice
    before, after = opinion.margins()
    value: dict[str, object] = {
        "turn": position.view.turn,
        "played": None if position.played is None else position.played.notation,
        "played_margin": before,
        "same": opinion.same,
    }
    if isinstance(advice, Failure):
        value |= {
            "failure": {"kind": advice.kind, "detail": printable(advice.detail, _SHOWN)},
            "ms": round(advice.ms, 3),
        }
    else:
        value |= {"move": advice.move.notation, "margin": after, "ms": round(advice.ms, 3), "comment": advice.comment}
    return value | {"position": view_as_json(position.view)}
