"""Noticing a bot that keeps a core busy while it should rest, where it cannot be frozen."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, Protocol

from referee.errors import SandboxError

LOOK_EVERY_S: Final = 0.1
TOLERATED_MS: Final = 5.0
"""Processor time of one look's length, or of one shorter rest, that is taken for the last of a turn's work."""

PATIENCE_MS: Final = 50.0
"""How much more than that, added up, a bot may use before it is given a smaller share."""


class Cancellable(Protocol):
    """A call that was put off."""

    def cancel(self) -> None:
        """Never make it."""


Later = Callable[[float, Callable[[], None]], Cancellable]
"""Puts a call off by some seconds, as an event loop's `call_later` does."""


class Watch:
    """Looks at one bot while it rests, and has its share made smaller, once and for all, when it does not.

    used_ms  processor time that the bot has used so far; None if that cannot be told; raises SandboxError
    shrink   makes its share smaller; raises SandboxError
    later    puts calls off; the running loop's if not given
    """

    def __init__(
        self,
        used_ms: Callable[[], float | None],
        shrink: Callable[[], Coroutine[Any, Any, None]],
        later: Later | None = None,
    ) -> None:
        self._used_ms = used_ms
        self._shrink = shrink
        self._later = later
        self._next: Cancellable | None = None
        self._before_ms: float | None = None
        self._excess_ms = 0.0
        self._shrinking: asyncio.Task[None] | None = None
        self._failure: SandboxError | None = None  # of a look

    def rest(self) -> None:
        """It should rest from now on. Raises SandboxError if it cannot be looked at, or its share not be changed."""
        self._tell()
        if self._next is None:
            self._begin()

    def wake(self) -> None:
        """It need not rest any more. Raises SandboxError likewise."""
        self._tell()
        if self._next is not None:
            self._end()

    async def close(self) -> None:
        """Look no more; waits until whatever was begun is done."""
        if self._next is not None:
            self._next.cancel()
            self._next = None
        if self._shrinking is not None:
            await asyncio.wait([self._shrinking])
            self._shrinking.exception()  # was told when it was asked to rest or wake, or no longer matters

    def _begin(self) -> None:
        self._before_ms = self._used_ms()
        if self._shrinking is None and self._before_ms is not None:
            later = self._later or asyncio.get_running_loop().call_later
            self._next = later(LOOK_EVERY_S, self._look)

    def _look(self) -> None:
        try:
            self._end()
            self._begin()
        except SandboxError as error:  # nobody hears what a timer raises
            self._failure = error

    def _end(self) -> None:
        assert self._next is not None
        self._next.cancel()
        self._next = None
        now_ms = self._used_ms()
        if now_ms is None or self._before_ms is None:
            return
        self._excess_ms += max(0.0, now_ms - self._before_ms - TOLERATED_MS)
        if self._excess_ms > PATIENCE_MS and self._shrinking is None:
            self._shrinking = asyncio.create_task(self._shrink())

    def _tell(self) -> None:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        if self._shrinking is not None and self._shrinking.done():
            self._shrinking.result()
