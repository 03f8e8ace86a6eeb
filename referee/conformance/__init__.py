"""The conformance run: drives a bot that listens somewhere through every corner of the protocol (docs/protocol.md).

`conformance` yields a step for each corner. A bot that has got one wrong is hung up and called again, so that each
step begins afresh; it is left alone once it says nothing at all, or hangs up.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Final

from referee.conformance import corners, edges
from referee.conformance.causes import cause
from referee.conformance.desk import Desk, Pace
from referee.conformance.talk import Wrong
from referee.players.attached import HostPort

PAGE: Final = "docs/protocol.md"


class Outcome(StrEnum):
    """How a step ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_REACHED = "not reached"


@dataclass(frozen=True, slots=True)
class Corner:
    """One corner of the protocol.

    section  of docs/protocol.md, which says what is expected
    drive    drives the bot through it and returns what was seen; raises Wrong
    """

    name: str
    section: str
    drive: Callable[[Desk], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Step:
    """What came of a corner; texts are printable and bounded.

    fact      what was seen of a bot that got it right
    expected, got  of one that got it wrong
    sent      the last message to it before that, in protobuf's text format; "" if there was none
    as_in     number, from 1, of the first step that went wrong in the same way; 0 if this one is the first
    """

    name: str
    section: str
    outcome: Outcome
    fact: str = ""
    expected: str = ""
    got: str = ""
    sent: str = ""
    as_in: int = 0


CORNERS: Final = (
    Corner("connection", "Connection", edges.connects),
    Corner("start", "A game begins", corners.starts),
    Corner("query", "A turn", corners.queries),
    Corner("two seats", "Moves", partial(corners.games, players=2)),
    Corner("three seats", "Moves", partial(corners.games, players=3)),
    Corner("four seats", "Moves", partial(corners.games, players=4)),
    Corner("five seats", "Moves", partial(corners.games, players=5)),
    Corner("pass", "Moves", corners.passes),
    Corner("long game", "A turn", corners.long_games),
    Corner("most moves", "Limits", corners.most_moves),
    Corner("short of time", "Time", corners.short_of_time),
    Corner("end", "A game ends", corners.ends),
    Corner("next games", "One game after another", corners.next_games),
    Corner("broken off", "One game after another", corners.broken_off),
    Corner("two at once", "One game after another", corners.two_at_once),
    Corner("unknown fields", "What is unknown", edges.unknown_fields),
    Corner("unknown values", "What is unknown", edges.unknown_values),
    Corner("other protocol", "What is unknown", edges.other_protocol),
    Corner("no message", "What is unknown", edges.no_messages),
    Corner("other methods", "Connection", edges.other_methods),
    Corner("headers", "Limits", edges.headers),
    Corner("small windows", "Connection", edges.small_windows),
    Corner("standing still", "Time", edges.stands_still),
    Corner("as in a match", "One game after another", edges.as_in_a_match),
    Corner("sizes", "Limits", edges.sizes),
)


async def conformance(
    address: HostPort, pace: Pace | None = None, only: Collection[str] = ()
) -> AsyncGenerator[Step, None]:
    """Drive the bot that listens there through all corners, or `only` those of these names, and yield each step.

    Raises UsageError if nobody listens.
    """
    desk = Desk(address, pace or Pace())
    gone = False
    first_of: dict[str, int] = {}
    try:
        await desk.reach()
        for number, corner in enumerate(CORNERS, 1):
            if only and corner.name not in only:
                continue
            if gone:
                yield Step(corner.name, corner.section, Outcome.NOT_REACHED)
                continue
            try:
                fact = await corner.drive(desk)
            except Wrong as wrong:
                first = first_of.setdefault(cause(wrong.expected, wrong.got), number)
                yield Step(
                    corner.name, corner.section, Outcome.FAILED,
                    expected=wrong.expected, got=wrong.got, sent=wrong.sent, as_in=first if first < number else 0,
                )  # fmt: skip
                gone = not await desk.answers()
            else:
                yield Step(corner.name, corner.section, Outcome.PASSED, fact)
    finally:
        await desk.hang_up()
