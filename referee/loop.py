"""Running the referee's coroutines: on the fastest event loop that is installed, or on one that is fair."""

import asyncio
import importlib.util
import selectors
import time
from collections.abc import Callable, Coroutine
from typing import Final, TypeVar

from referee.interruption import instead_of_raising

T = TypeVar("T")

_TURN_S: Final = 0.05
_MOST_S: Final = 0.1


class _Turns(selectors.DefaultSelector):
    """Waits for one turn at most, so that the time is looked at again and again."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(_TURN_S if timeout is None else min(timeout, _TURN_S))


class FairLoop(asyncio.SelectorEventLoop):
    """An event loop whose time stands still with its process, as on a laptop that is shut or a machine that is busy.

    Between two looks at its clock a tenth of a second passes at most, however long it was: there is one each turn. So
    no wait ends because everything stood still, and what has come by then is seen in time.
    """

    def __init__(self) -> None:
        self._looked = self._now = time.monotonic()
        super().__init__(_Turns())

    def time(self) -> float:
        """Seconds, of no other clock."""
        looked = time.monotonic()
        self._now += min(looked - self._looked, _MOST_S)
        self._looked = looked
        return self._now


def run(main: Coroutine[object, object, T], *, fair: bool = False) -> T:
    """Run to the end and return the result; on uvloop where that is installed, or on a FairLoop.

    To be told to end (interruption.py) cancels `main`, lets it clean up, and then raises KeyboardInterrupt. Call it
    in the process's main thread.
    """
    told = False

    async def until_told() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def end() -> None:
            nonlocal told
            told = True
            loop.call_soon_threadsafe(task.cancel)  # also wakes the loop, which a signal alone need not

        with instead_of_raising(end):
            return await main

    with asyncio.Runner(loop_factory=FairLoop if fair else _loop_factory()) as runner:
        try:
            return runner.run(until_told())
        except asyncio.CancelledError:
            if told:
                raise KeyboardInterrupt from None
            raise


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    if importlib.util.find_spec("uvloop") is None:
        return None
    import uvloop

    return uvloop.new_event_loop
