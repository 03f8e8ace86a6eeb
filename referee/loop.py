"""Running the referee's coroutines on the fastest event loop that is installed."""

import asyncio
import importlib.util
from collections.abc import Callable, Coroutine
from typing import TypeVar

from referee.interruption import instead_of_raising

T = TypeVar("T")


def run(main: Coroutine[object, object, T]) -> T:
    """Run to the end and return the result; on uvloop where that is installed.

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

    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
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
