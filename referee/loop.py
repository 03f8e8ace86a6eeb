"""Running the referee's coroutines on the fastest event loop that is installed."""

import asyncio
import importlib.util
from collections.abc import Callable, Coroutine
from typing import TypeVar

T = TypeVar("T")


def run(main: Coroutine[object, object, T]) -> T:
    """Run to the end and return the result; on uvloop where that is installed.

    Ctrl-C cancels `main`, lets it clean up, and then raises KeyboardInterrupt.
    """
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(main)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    if importlib.util.find_spec("uvloop") is None:
        return None
    import uvloop

    return uvloop.new_event_loop
