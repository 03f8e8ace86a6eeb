"""What the corners of a conformance run have in common: the way to the bot, the time it gets, ordinary games."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from referee.conformance.decks import dealt
from referee.conformance.table import Choose, Measures, Table, any_move, start
from referee.conformance.talk import Ended, Line, Talk, Wrong
from referee.errors import UsageError
from referee.players.attached import HostPort, in_words, shown
from treelings import Clock
from treelings.rules import Refill
from treelings.v1.game_pb2 import RefereeMessage

_REACH_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How much time the run gives and takes, in milliseconds.

    clock       of every game; a league's unless a test has less patience, or less of a machine
    tight_ms    what a bank that is nearly empty holds
    silence_ms  how long it is made sure that nothing comes
    idle_ms     how long a game stands still
    greeting_ms how long a greeting and the answer to a ping may take
    """

    clock: Clock = field(default_factory=Clock)
    tight_ms: int = 200
    silence_ms: int = 100
    idle_ms: int = 1_500
    greeting_ms: int = 3_000


class Desk:
    """The bot, as every corner finds it."""

    def __init__(self, address: HostPort, pace: Pace) -> None:
        self.address = address
        self.pace = pace
        self.measures = Measures()
        self._line: Line | None = None

    async def reach(self) -> None:
        """Make sure that somebody listens. Raises UsageError."""
        try:
            async with asyncio.timeout(_REACH_S):
                _, writer = await asyncio.open_connection(*self.address)
        except TimeoutError:
            got = "no answer"
        except OSError as error:
            got = in_words(error)
        else:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            return
        where = shown(self.address)
        raise UsageError(f"{where}: expected a bot that listens there, got: {got}; start it first (docs/protocol.md)")

    @property
    def patience_ms(self) -> int:
        """How long the bot may take for whatever is no answer to a Query."""
        return self.pace.clock.startup_ms

    async def line(self) -> Line:
        """The one connection for all games, as a match has it. Raises Wrong."""
        if self._line is None:
            self._line = await Line.open(self.address)
        return self._line

    async def hang_up(self, line: Line | None = None) -> None:
        """Close a connection, or else the one for all games, which is made anew when it is asked for again."""
        if line is None:
            line, self._line = self._line, None
        if line is not None:
            self.measures.game = max(self.measures.game, line.tap.most_bytes)
            await line.close()

    async def table(
        self, players: int, seat: int, refill: Refill = "start", *, deck: str | None = None, others: Choose = any_move,
        clock: Clock | None = None, line: Line | None = None, talk: Talk | None = None,
        alter: Callable[[RefereeMessage], None] = lambda _: None, name: str = "",
    ) -> Table:  # fmt: skip
        """A game that has not begun, on a stream of its own unless one is given. Raises Wrong."""
        if talk is None:
            talk = (line or await self.line()).talk()
        game = start(players, seat, refill, clock or self.pace.clock, name or f"{players} seats/{seat}/{refill}")
        return Table(talk, game, deck or dealt(players), self.measures, others=others, alter=alter)

    async def still_plays(self, after: str) -> None:
        """Make sure that the bot can play the next game. Raises Wrong."""
        try:
            table = await self.table(3, 1, name="next")
            await table.begin()
            await table.play(1)
            await table.close()
        except Wrong as wrong:
            raise Wrong(f"{wrong.expected}, in the next game {after}", wrong.got, wrong.sent) from None

    async def answers(self) -> bool:
        """Whether the bot says anything to a new game on a new connection: asked when a corner has gone wrong.

        The end of the connection is no answer: from whoever speaks no HTTP/2 nothing else can come.
        """
        await self.hang_up()
        with suppress(Wrong):
            table = await self.table(2, 0, name="are you there")
            await table.start()
            came = await table.talk.receive(self.patience_ms)
            table.talk.cancel()
            return came is not None and not (isinstance(came, Ended) and came.code == "UNAVAILABLE")
        return False
