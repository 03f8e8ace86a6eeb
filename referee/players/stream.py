"""One gRPC stream, with waits that end on the wall clock whatever the peer does.

A timer of the event loop ends a wait, by cancelling whatever the task waits for; tried against floods of every kind of
frame, that takes about a millisecond.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from referee.players.connection import Connection
from referee.players.http2 import Call
from referee.players.wait import TooLate, Wait
from referee.text import printable

_LONGEST_STATUS: Final = 160


@dataclass(slots=True)
class Received:
    """A message of the peer, how long it took, and what of that the machine took, in milliseconds."""

    data: bytes
    ms: float
    lost_ms: float


@dataclass(slots=True)
class Broken:
    """The peer ended the stream; `status` says how, printable and bounded."""

    status: str


class Stream:
    """A conversation of requests with one message in answer to each."""

    def __init__(self, connection: Connection, path: str, tidy: Callable[[str], str], wait: Wait) -> None:
        """Calls this method. `wait` ends what this waits for, and may end waits for the same peer that have nothing to
        do with a stream.

        `tidy` makes a status fit to be told, before it is cut: without paths of this machine.
        """
        self._connection = connection
        self._call = connection.call(path)
        self._tidy = tidy
        self._wait = wait
        self._leaving: asyncio.Task[bool] | None = None

    def say(self, request: bytes) -> None:
        """Send a request, without waiting; a peer that is held finds it when it is let go on."""
        self._connection.say(self._call, request)

    async def answer(
        self, limit_ms: int, earlier_ms: float = 0.0, let_go: Callable[[], None] | None = None
    ) -> Received | TooLate | Broken:
        """Wait for a message, `limit_ms` at most, and as much longer as the machine took from it.

        earlier_ms  what earlier waits lost that drew on the same account as this limit
        let_go      lets the peer begin, right before its time does

        What the peer sent before the request is taken for its answer; whoever reads it must tell by its content. After
        anything but Received the stream is of no more use. Raises Overloaded if the time was not fair to the peer.
        """
        self._wait.begin(limit_ms, earlier_ms, let_go)
        return await self.finish()

    async def finish(self) -> Received | TooLate | Broken:
        """The same within a wait that has begun before, for something else that comes first; it ends here."""
        message = None
        try:
            message = await self._call.read()
        except asyncio.CancelledError:
            if not self._wait.cancelled:
                raise
        finally:
            self._wait.end()
        if message is None and not self._wait.over:
            return Broken(_status(self._call, self._tidy))
        judged = self._wait.judge(answered=not self._wait.over)
        if isinstance(judged, TooLate):
            return judged
        assert message is not None
        return Received(message, self._wait.took_ms, judged.ms)

    def leave(self, last: bytes | None = None) -> None:
        """Send a last message, if there is one, and hang up; waits for nothing. Only the first call counts."""
        if self._leaving is None:
            if last is not None:
                self._connection.say(self._call, last)
            self._connection.leave(self._call)
            self._leaving = asyncio.create_task(self._left())

    async def left(self, within_s: float) -> bool:
        """Wait until the peer has hung up too, for so long at most; whether it has, in order and without a word."""
        if self._leaving is None:
            return False
        await asyncio.wait([self._leaving], timeout=within_s)
        return self._leaving.done() and not self._leaving.cancelled() and self._leaving.result()

    async def _left(self) -> bool:
        return await self._call.read() is None and self._call.code == "OK"


def _status(call: Call, tidy: Callable[[str], str]) -> str:
    if call.code == "OK":
        return "status OK"
    return "status " + printable(f"{call.code}: {tidy(call.details)}", _LONGEST_STATUS)
