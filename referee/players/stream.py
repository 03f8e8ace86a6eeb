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

from referee.errors import SandboxError
from referee.text import printable

_STANDSTILL_S: Final = 1.0
"""A wait that ends so much too late means that our own process or machine stood still: no time was fair."""

_LONGEST_STATUS: Final = 160
_SENDING_FAILED: Final = "Internal error from Core"
"""What gRPC puts over the peer's own status where a request was still on its way when the peer ended."""


@dataclass(slots=True)
class Received:
    """A message of the peer and how long it took, in milliseconds."""

    data: bytes
    ms: float


@dataclass(slots=True)
class TooLate:
    """Nothing came within the limit."""

    ms: float


@dataclass(slots=True)
class Broken:
    """The peer ended the stream; `status` says how, printable and bounded."""

    status: str


class Stream:
    """A conversation of requests with one message in answer to each."""

    def __init__(
        self, call: "grpc.aio.StreamStreamCall[bytes, bytes]", now: Callable[[], float], late: Callable[[], None]
    ) -> None:
        """`late` is called as soon as a wait has taken too long: whoever can end the peer does so."""
        self._call = call
        self._now = now
        self._late = late
        self._leaving: asyncio.Task[None] | None = None

    async def exchange(self, request: bytes, limit_ms: int) -> Received | TooLate | Broken:
        """Send a request and wait for a message, `limit_ms` at most. Raises SandboxError if we stood still.

        What the peer sent before the request is taken for its answer; whoever reads it must tell by its content.
        After anything but Received the stream is of no more use.
        """
        limit_s = limit_ms / 1000
        timer = _Timer(limit_s, self._late)
        message: object = None
        begun = self._now()
        try:
            if not self._call.done():  # else reading tells how it ended
                await self._call.write(request)
            message = await self._call.read()
        except asyncio.CancelledError:
            if not timer.rang:
                raise
        except grpc.aio.AioRpcError as error:
            return Broken(_status(error))
        finally:
            timer.stop()
        took = self._now() - begun
        if took > limit_s + _STANDSTILL_S:
            raise SandboxError(
                f"the referee stood still: a wait of {limit_ms:,} ms ended after {took * 1000:,.0f} ms; "
                "is the machine overloaded, or was the process stopped?"
            )
        if message is None or took > limit_s:
            return TooLate(took * 1000)
        if not isinstance(message, bytes):
            return Broken("status OK")
        return Received(message, took * 1000)

    def leave(self, last: bytes | None = None) -> None:
        """Send a last message, if there is one, and hang up; waits for nothing. Only the first call counts."""
        if self._leaving is None:
            self._leaving = asyncio.create_task(self._leave(last))

    async def left(self, within_s: float) -> None:
        """Wait until the peer has hung up too, for so long at most."""
        if self._leaving is not None:
            await asyncio.wait([self._leaving], timeout=within_s)

    async def _leave(self, last: bytes | None) -> None:
        # Who has been played with to the end may break off now as it likes.
        with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
            if last is not None:
                await self._call.write(last)
            await self._call.done_writing()
            await self._call.read()


class _Timer:
    """Cancels what its task waits for when the time is over; lighter than asyncio.timeout, as each move needs one."""

    __slots__ = ("_handle", "_late", "_task", "rang")

    def __init__(self, seconds: float, late: Callable[[], None]) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._late = late
        self._handle = asyncio.get_running_loop().call_later(seconds, self._ring)
        self.rang = False

    def stop(self) -> None:
        self._handle.cancel()
        if self.rang:
            self._task.uncancel()

    def _ring(self) -> None:
        self.rang = True
        self._late()
        self._task.cancel()


def _status(error: grpc.aio.AioRpcError) -> str:
    if error.details() == _SENDING_FAILED:
        return "before it took what was sent"
    return "status " + printable(f"{error.code().name}: {error.details()}", _LONGEST_STATUS)
