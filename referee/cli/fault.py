"""What the author of a bot is told of its fault in a trial match: as rows for people, as an object for programs."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from referee.cli.hints import hint
from referee.limits import Limits
from referee.model import FaultKind
from referee.reports import Stumble, Trial
from referee.text import printable
from referee.trial import OPPONENT, last_lines, view_as_json
from treelings import Clock, View

LONGEST_PATH: Final = 1_000
_LOG_LINES: Final = 10
_SHOWN_ENTRIES: Final = 40
_MB: Final = 1024 * 1024
_ENDED: Final = (FaultKind.STARTUP, FaultKind.CRASH, FaultKind.OUT_OF_MEMORY)
_AS_IT_IS: Final = ("query", "its log", "again", "read")
"""Rows that are never wrapped: a command is to be copied, and a log is to be read as it was written."""


@dataclass(frozen=True, slots=True)
class Told:
    """A fault, told to its author; every text is printable and bounded.

    limit_ms  what its wait might have taken
    in_python whether its author sees the kit's names, or else those of game.proto
    log       the last lines of what it printed
    again     a command that plays the same deal again
    hint      what to do, as the start of a sentence
    """

    stumble: Stumble
    games: int
    expected: str
    got: str
    limit_ms: int
    in_python: bool
    log: tuple[str, ...]
    again: str
    hint: str

    def rows(self) -> tuple[tuple[str, str], ...]:
        """The same as names and texts; a text may have several lines."""
        fault, view = self.stumble.fault, self.stumble.view
        place = f"turn {fault.turn}" if view else "at its start, before it was asked anything"
        return (
            ("expected", self.expected),
            ("got", self.got),
            ("where", f"game {self.stumble.game + 1} of {self.games}, seat {fault.seat}, {place}"),
            ("time", self._time()),
            *((("query", query_text(view, in_python=self.in_python)),) if view else ()),
            ("its log", "\n".join(self.log) or "empty"),
            ("again", self.again),
            ("next", self.hint),
        )

    def _time(self) -> str:
        if self.stumble.fault.kind in _ENDED:
            return f"its end was known after {self.stumble.ms:,.0f} ms; its limit was {self.limit_ms:,} ms"
        return f"{self.stumble.ms:,.1f} of {self.limit_ms:,} ms"

    def as_json(self) -> dict[str, object]:
        """The same in JSON's types."""
        fault, view = self.stumble.fault, self.stumble.view
        return {
            "fault": fault.kind,
            "expected": self.expected,
            "got": self.got,
            "game": self.stumble.game,
            "seat": fault.seat,
            "turn": fault.turn,
            "ms": round(self.stumble.ms, 1),
            "limit_ms": self.limit_ms,
            "query": view_as_json(view) if view else None,
            "message": _message_text(view) if view and not self.in_python else None,
            "log": list(self.log),
            "again": self.again,
            "hint": self.hint,
        }


def told(trial: Trial, handed_in: str, limits: Limits, clock: Clock, typed: str) -> Told:
    """What to tell of a trial match that a bot stumbled in.

    handed_in  how its author named the bot
    typed      options that the match is to be played again with, each after a space
    """
    stumble = trial.stumble
    assert stumble is not None
    fault, view = stumble.fault, stumble.view
    # The sample bot plays a game that has the same name again in the same way.
    bots = " ".join([printable(shlex.quote(handed_in), LONGEST_PATH), *(OPPONENT for _ in trial.opponents)])
    refill = "" if trial.records[-1].refill == "start" else " --refill end"
    pace = "" if clock.move_ms == Clock().move_ms else f" --move-ms {clock.move_ms}"
    return Told(
        stumble=stumble,
        games=trial.games,
        expected=_expected(fault.kind, view, limits, clock),
        got=f"{fault.kind}: {fault.detail}",
        limit_ms=view.limit_ms if view else clock.startup_ms,
        in_python=trial.runtime == "python",
        log=tuple(last_lines(trial.log, _LOG_LINES)),
        again=f"treelings match {bots} --deals 1{refill} --secret {trial.secret.hex()}{pace}{typed}",
        hint=hint(
            fault,
            trial.log,
            limits,
            clock,
            seats=len(trial.opponents) + 1,
            before=stumble.game if trial.processes == 1 else 0,
            runtime=trial.runtime,
        ),
    )


def query_text(view: View, *, in_python: bool = True) -> str:
    """A query as its author's code sees it: the kit's View as JSON, or else the message; a line a field.

    Of a long list the first entries are shown, and how many more there are.
    """
    if not in_python:
        return _message_text(view)
    fields = view_as_json(view).items()
    return "{" + ",\n ".join(f"{json.dumps(name)}: {_value_text(value)}" for name, value in fields) + "}"


def _message_text(view: View) -> str:
    """The Query in protobuf's text format, with the fields that are 0 too, after what the game's Start has told."""
    from treelings import codec

    # It has been told what came before its last turn.
    query = codec.query_message(view, max(0, view.turn - view.players)).query
    start = f"seat: {view.seat}, players: {view.players}, refill: REFILL_{view.refill.upper()}"
    fields = (f"{field.name}: {_value_text(getattr(query, field.name))}" for field in query.DESCRIPTOR.fields)
    return "\n".join((f"# Query; the game's Start said {start}", *fields))


def _value_text(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        more = [f"… {len(value) - _SHOWN_ENTRIES} more"] if len(value) > _SHOWN_ENTRIES else []
        value = [*value[:_SHOWN_ENTRIES], *more]
    return json.dumps(value, ensure_ascii=False)


def print_row(console: Console, name: str, text: str) -> None:
    """Print a row of a report, its name before the first line of its text."""
    for number, line in enumerate(text.splitlines()):
        lead = Text(f"  {'' if number else name:9}", style="dim")
        if name in _AS_IT_IS:
            console.print(lead.append(line, style="not dim"), soft_wrap=True)
        else:
            print_hanging(console, lead, line)


def print_hanging(console: Console, lead: Text, text: str) -> None:
    """Print a text behind its lead; on a terminal it is broken between words, and goes on below where it began."""
    if not console.is_terminal:
        console.print(Text.assemble(lead, text), soft_wrap=True)
        return
    grid = Table.grid()
    grid.add_column(no_wrap=True, width=lead.cell_len)
    grid.add_column(ratio=1, overflow="fold")
    grid.add_row(lead, Text(text))
    console.print(grid)


def _expected(kind: FaultKind, view: View | None, limits: Limits, clock: Clock) -> str:
    if kind is FaultKind.OUT_OF_MEMORY:
        return f"at most {limits.memory_bytes // _MB:,} MB of memory"
    if view is None:
        return f"a bot that listens on its socket and is ready within {clock.startup_ms:,} ms"
    if kind is FaultKind.PROTOCOL:
        return f"one reply, to turn {view.turn}, as game.proto describes it"
    moves = len(view.legal_moves)
    return f"{'its one legal move' if moves == 1 else f'one of its {moves:,} legal moves'} within {view.limit_ms:,} ms"
