"""One gRPC stream, with waits that end on the wall clock whatever the peer does.

Nothing here relies on gRPC's deadlines, nor waits for gRPC to cancel anything: a peer that floods frames
and never reads can hold either back for many seconds. A wait ends by a timer of the event loop; the stream
is abandoned then, and ends with the bot's process.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final

import grpc
import grpc.aio

from referee.errors import SandboxError
from referee.text import printable

_STANDSTILL_S: Final = 1.0
"""A timer this late means that our own process or machine stood still: no time was taken fairly."""

_LONGEST_STATUS: Final = 160
_SENDING_FAILED: Final = "Internal error from Core"
"""What gRPC puts over the peer's own status where a request was still on its way when the peer ended."""


@dataclass(frozen=True, slots=True)
class Received:
    """A message of the peer and how long it took, in milliseconds."""

    data: bytes
    ms: float


@dataclass(frozen=True, slots=True)
class TooLate:
    """Nothing came within the limit."""

    ms: float


@dataclass(frozen=True, slots=True)
class Unasked:
    """The peer sent a message when none was due."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The peer ended the stream; `status` says how, printable and bounded."""

    status: str


class Stream:
    """A conversation of requests with one message in answer to each."""

    def __init__(
        self,
        call: Callable[[AsyncIterator[bytes]], "grpc.aio.StreamStreamCall[bytes, bytes]"],
        now: Callable[[], float],
    ) -> None:
        self._now = now
        self._requests: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._call = call(self._sending())
        self._awaited: asyncio.Future[bytes | Unasked | Broken | None] | None = None
        self._arrived = 0.0
        self._over: Unasked | Broken | None = None
        self._receiving = asyncio.create_task(self._receive())

    async def exchange(self, request: bytes, limit_ms: int) -> Received | TooLate | Unasked | Broken:
        """Send a request and wait for its answer, `limit_ms` at most. Raises SandboxError if we stood still.

        After anything but Received the stream is of no more use.
        """
        if self._over is not None:
            return self._over
        loop = asyncio.get_running_loop()
        self._awaited = answer = loop.create_future()
        limit_s = limit_ms / 1000
        begun = self._now()
        self._requests.put_nowait(request)
        timer = loop.call_later(limit_s, _expire, answer)
        try:
            message = await answer
        finally:
            timer.cancel()
            self._awaited = None
        if isinstance(message, Unasked | Broken):
            return message
        took = (self._now() if message is None else self._arrived) - begun
        if took > limit_s + _STANDSTILL_S:
            raise SandboxError(
                f"the referee stood still: a wait of {limit_ms:,} ms ended after {took * 1000:,.0f} ms; "
                "is the machine overloaded, or was the process stopped?"
            )
        if message is None or took > limit_s:
            return TooLate(took * 1000)
        return Received(message, took * 1000)

    def hang_up(self, last: bytes | None = None) -> None:
        """Send a last message, if there is one, and nothing more; once is enough, waits for nothing."""
        if last is not None:
            self._requests.put_nowait(last)
        self._requests.put_nowait(None)

    async def ended(self, within_s: float) -> None:
        """Wait until the peer has ended the stream too, for so long at most."""
        await asyncio.wait([self._receiving], timeout=within_s)

    async def _sending(self) -> AsyncIterator[bytes]:
        while (request := await self._requests.get()) is not None:
            yield request

    async def _receive(self) -> None:
        while self._over is None:
            try:
                message = await self._call.read()
            except grpc.aio.AioRpcError as error:
                self._settle(Broken(_status(error)))
            else:
                self._arrived = self._now()
                self._settle(message if isinstance(message, bytes) else Broken("status OK"))

    def _settle(self, message: bytes | Unasked | Broken) -> None:
        due = self._awaited is not None and not self._awaited.done()
        if isinstance(message, bytes) and not due:
            message = Unasked()
        if isinstance(message, Unasked | Broken):
            self._over = message
        if self._awaited is not None and due:
            self._awaited.set_result(message)


def _status(error: grpc.aio.AioRpcError) -> str:
    if error.details() == _SENDING_FAILED:
        return "before it took what was sent"
    return "status " + printable(f"{error.code().name}: {error.details()}", _LONGEST_STATUS)


def _expire(answer: "asyncio.Future[bytes | Unasked | Broken | None]") -> None:
    if not answer.done():
        answer.set_result(None)
