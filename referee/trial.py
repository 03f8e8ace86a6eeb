"""The trial match that a bot plays before it is accepted: one deal against `random`, in every rotation of the seats."""

import os
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from referee.clock import SeatClock
from referee.match import Table
from referee.model import FaultKind, GameRecord, Submission, VoidGame
from referee.ports import Connect, Sandbox
from referee.records import states
from referee.reports import Stumble, Trial
from referee.schedule import plan_match
from referee.submissions import inspect, sample_bot
from referee.text import printable
from referee.witness import Witness
from treelings import Clock, Move, Refill, View
from treelings.cards import MIN_PLAYERS

OPPONENT: Final = "random"

_LONGEST_LINE: Final = 200
# In a group of errors, each line has a margin.
_TRACEBACK: Final = re.compile(rb"^( *[+|] )?.*Traceback \(most recent call last\):", re.MULTILINE)


async def play_trial(
    bot: Submission, *, sandbox: Sandbox, connect: Connect, secret: bytes, clock: Clock, refill: Refill = "start",
    seats: int = MIN_PLAYERS, progress: Callable[[int, int], None] | None = None,
) -> Trial:  # fmt: skip
    """Play a bot's trial match at a table of so many seats, until its first fault.

    sandbox   is open, and stays so
    secret    32 bytes that the deck is derived from
    progress  told how many games of how many have been played

    What fails on our side is in the outcome (`void`), unless bots cannot be ended or the engine is gone: raises
    SandboxError (EngineGone).
    """
    opponents = _opponents(bot, seats - 1)
    names = [bot.name, *(opponent.name for opponent in opponents)]
    match = plan_match(league="", night=None, bots=names, deals=1, refill=refill)
    logs: list[bytes] = []

    def keep_log(_: str, name: str, log: bytes) -> None:
        if name == bot.name:
            # Where the copy lies is nothing to its author.
            logs.append(log.replace(os.fsencode(f"{bot.folder}/"), b""))

    witness = Witness(connect, bot.name)
    table = Table(
        match, {each.name: each for each in (bot, *opponents)}, sandbox, secret, clock, witness.connect, keep_log
    )  # fmt: skip
    records: list[GameRecord] = []
    stumble: Stumble | None = None
    void: str | None = None
    try:
        async for outcome in table.play(match.games):
            if isinstance(outcome, VoidGame):
                void = outcome.reasons[-1]
                break
            records.append(outcome)
            if progress is not None:
                progress(len(records), len(match.games))
            stumble = _stumble(outcome, bot.name, len(records) - 1, clock, witness.last_ms)
            if stumble is None:
                void = _spoiled(outcome)
            if stumble or void:
                break
    finally:
        await table.close()
    return Trial(
        opponents=tuple(opponent.name for opponent in opponents),
        secret=secret,
        games=len(match.games),
        records=tuple(records),
        stumble=stumble,
        log=b"".join(logs),
        void=void,
        start_ms=witness.starts_ms[0] if witness.starts_ms else 0.0,
        processes=witness.processes,
        disorderly=witness.disorderly,
        runtime=bot.runtime,
    )


def not_played(why: str) -> Trial:
    """The trial match of a bot that cannot be run here, for a reason that is not its own."""
    return Trial(opponents=(), secret=b"", games=0, records=(), stumble=None, log=b"", void=why)


def view_at(record: GameRecord, turn: int, clock: Clock) -> View:
    """What the seat on turn was asked in a turn of a game that was played with this clock.

    Raises TreelingsError where the rules do not allow the record, ValueError where it has no such turn.
    """
    played = record.moves[:turn]
    if len(played) < turn:
        raise ValueError(f"expected a turn from 0 to {len(played)}, got {turn}")
    *_, state = states(replace(record, moves=played))
    seat = SeatClock(clock)
    for move in played:
        if move.seat == state.seat:
            seat.charge(move.ms)
    history = tuple(Move.parse(move.move) for move in played)
    return View.of(state, history, limit_ms=seat.limit_ms, bank_ms=int(seat.bank_ms))


def view_as_json(view: View) -> dict[str, object]:
    """A view in JSON's types, under the names of treelings.View."""
    return {
        "seat": view.seat,
        "turn": view.turn,
        "players": view.players,
        "refill": view.refill,
        "rows": list(view.rows),
        "heights": [list(heights) for heights in view.heights],
        "market": list(view.market),
        "unseen": list(view.unseen),
        "above_firefly": view.above_firefly,
        "firefly_out": view.firefly_out,
        "legal_moves": [move.notation for move in view.legal_moves],
        "history": [move.notation for move in view.history],
        "limit_ms": view.limit_ms,
        "bank_ms": view.bank_ms,
    }


def last_lines(log: bytes, count: int) -> list[str]:
    """The last lines of a bot's log that are not empty, each printable and bounded."""
    lines = [line for line in log.decode("utf-8", "backslashreplace").splitlines() if line.strip()]
    return [printable(line, _LONGEST_LINE) for line in lines[-count:]]


def last_error(log: bytes) -> str | None:
    """The line that ends the last traceback of a bot's log, printable and bounded; None if there is no traceback."""
    *_, last = None, *_TRACEBACK.finditer(log)
    if last is None:
        return None
    margin = len(last[1] or "")
    after = log[last.end() :].decode("utf-8", "backslashreplace")
    lines = [line[margin:] for line in after.splitlines()[1:] if line.strip()]
    ending = next((line for line in lines if not line.startswith(" ")), "cut off")
    return printable(ending, _LONGEST_LINE)


def _opponents(bot: Submission, count: int) -> list[Submission]:
    folder = sample_bot(OPPONENT)
    assert folder is not None, f"no sample bot {OPPONENT}"
    sample = inspect(folder)
    names = [OPPONENT, *(f"{OPPONENT}-{number}" for number in range(2, count + 2))]
    return [replace(sample, name=name) for name in names if name != bot.name][:count]


def _stumble(record: GameRecord, bot: str, game: int, clock: Clock, ms: float) -> Stumble | None:
    for fault in record.faults:
        if record.seats[fault.seat].bot == bot:
            asked = fault.kind is not FaultKind.STARTUP
            return Stumble(game, fault, view_at(record, fault.turn, clock) if asked else None, ms)
    return None


def _spoiled(record: GameRecord) -> str | None:
    """Why a game without a fault of the bot was no trial: an opponent, a bot of ours, forfeited."""
    for fault in record.faults:
        return f"{record.seats[fault.seat].bot} forfeited: {fault.kind}: {fault.detail}"
    return None
