"""One gRPC stream, with waits that end on the wall clock whatever the peer does.

Nothing here relies on gRPC's deadlines: a peer that floods frames and never reads holds them back for many
seconds. A timer of the event loop ends a wait instead, by cancelling whatever the task waits for; tried against
floods of every kind of frame, that takes about a millisecond.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import grpc.aio

from referee.players.wait import TooLate, Wait
from referee.text import printable

_LONGEST_STATUS: Final = 160
_SENDING_FAILED: Final = "Internal error from Core"
"""What gRPC puts over the peer's own status where a request was still on its way when the peer ended."""


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

    def __init__(self, call: "grpc.aio.StreamStreamCall[bytes, bytes]", tidy: Callable[[str], str], wait: Wait) -> None:
        """`wait` ends what this waits for, and may end waits for the same peer that have nothing to do with a stream.

        `tidy` makes a status fit to be told, before it is cut: without paths of this machine.
        """
        self._call = call
        self._tidy = tidy
        self._wait = wait
        self._leaving: asyncio.Task[bool] | None = None

    async def exchange(self, request: bytes, limit_ms: int, earlier_ms: float = 0.0) -> Received | TooLate | Broken:
        """Send a request and wait for a message, `limit_ms` at most, and as much longer as the machine took from it.

        `earlier_ms`: what earlier waits lost that drew on the same account as this limit. What the peer sent before
        the request is taken for its answer; whoever reads it must tell by its content. After anything but Received
        the stream is of no more use. Raises Overloaded if the time was not fair to the peer.
        """
        self._wait.begin(limit_ms, earlier_ms)
        return await self.finish(request)

    async def finish(self, request: bytes) -> Received | TooLate | Broken:
        """The same within a wait that has begun before, for something else that comes first; it ends here."""
        message: object = None
        try:
            if not self._call.done():  # else reading tells how it ended
                await self._call.write(request)
            message = await self._call.read()
        except asyncio.CancelledError:
            if not self._wait.over:
                raise
        except grpc.aio.AioRpcError as error:
            return Broken(self._status(error))
        finally:
            self._wait.end()
        if not (self._wait.over or isinstance(message, bytes)):
            return Broken("status OK")
        judged = self._wait.judge(answered=not self._wait.over)
        if isinstance(judged, TooLate):
            return judged
        assert isinstance(message, bytes)
        return Received(message, self._wait.took_ms, judged.ms)

    def leave(self, last: bytes | None = None) -> None:
        """Send a last message, if there is one, and hang up; waits for nothing. Only the first call counts."""
        if self._leaving is None:
            self._leaving = asyncio.create_task(self._leave(last))

    async def left(self, within_s: float) -> bool:
        """Wait until the peer has hung up too, for so long at most; whether it has, in order and without a word."""
        if self._leaving is None:
            return False
        await asyncio.wait([self._leaving], timeout=within_s)
        return self._leaving.done() and not self._leaving.cancelled() and self._leaving.result()

    async def _leave(self, last: bytes | None) -> bool:
        # Who has been played with to the end may break off now as it likes.
        with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
            if last is not None:
                await self._call.write(last)
            await self._call.done_writing()
            return not isinstance(await self._call.read(), bytes)  # raises for any status but OK
        return False

    def _status(self, error: grpc.aio.AioRpcError) -> str:
        said = error.details() or ""
        if said == _SENDING_FAILED:
            return "before it took what was sent"
        return "status " + printable(f"{error.code().name}: {self._tidy(said)}", _LONGEST_STATUS)
