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

from referee.players import standstill
from referee.text import printable

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
        self,
        call: "grpc.aio.StreamStreamCall[bytes, bytes]",
        tidy: Callable[[str], str],
        now: Callable[[], float],
        late: Callable[[], None],
    ) -> None:
        """`late` is called as soon as a wait has taken too long: whoever can end the peer does so.

        `tidy` makes a status fit to be told, before it is cut: without paths of this machine.
        """
        self._call = call
        self._tidy = tidy
        self._now = now
        self._alarm = _Alarm(now, late)
        self._leaving: asyncio.Task[bool] | None = None

    async def exchange(self, request: bytes, limit_ms: int) -> Received | TooLate | Broken:
        """Send a request and wait for a message, `limit_ms` at most. Raises SandboxError if we stood still.

        What the peer sent before the request is taken for its answer; whoever reads it must tell by its content.
        After anything but Received the stream is of no more use.
        """
        limit_s = limit_ms / 1000
        message: object = None
        begun = self._now()
        self._alarm.set(begun + limit_s)
        try:
            if not self._call.done():  # else reading tells how it ended
                await self._call.write(request)
            message = await self._call.read()
        except asyncio.CancelledError:
            if not self._alarm.rang:
                raise
        except grpc.aio.AioRpcError as error:
            return Broken(self._status(error))
        finally:
            self._alarm.stop()
        took = self._now() - begun
        standstill.check(limit_s, took)
        if message is None or took > limit_s:
            return TooLate(took * 1000)
        if not isinstance(message, bytes):
            return Broken("status OK")
        return Received(message, took * 1000)

    def leave(self, last: bytes | None = None) -> None:
        """Send a last message, if there is one, and hang up; waits for nothing. Only the first call counts."""
        if self._leaving is None:
            self._alarm.put_away()
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


class _Alarm:
    """Cancels what a task waits for when its time is over.

    A timer of the event loop that is still ticking when its wait ends is kept for the next ones: when it rings, it
    is set again to the end of the wait that goes on then. A timer of its own for each move is far dearer.
    """

    __slots__ = ("_ends", "_late", "_now", "_rings", "_task", "_timer", "rang")

    def __init__(self, now: Callable[[], float], late: Callable[[], None]) -> None:
        self._now = now
        self._late = late
        self._task: asyncio.Task[object] | None = None  # whose wait goes on
        self._ends = 0.0  # when that wait is over
        self._timer: asyncio.TimerHandle | None = None
        self._rings = 0.0  # when the timer does
        self.rang = False

    def set(self, ends: float) -> None:
        """A wait of the current task begins, which is over once `now` gives `ends`."""
        self._task = asyncio.current_task()
        self._ends = ends
        if self._timer is None or ends < self._rings:
            self._wind(ends - self._now())

    def stop(self) -> None:
        """The wait has ended."""
        if self.rang and self._task is not None:
            self._task.uncancel()
        self._task = None

    def put_away(self) -> None:
        """Leave no timer behind."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wind(self, seconds: float) -> None:
        self.put_away()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._ring)
        self._rings = self._ends

    def _ring(self) -> None:
        self._timer = None
        if self._task is None:
            return
        left = self._ends - self._now()
        if left > 0:
            self._wind(left)
            return
        self.rang = True
        self._late()
        self._task.cancel()
