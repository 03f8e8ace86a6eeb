"""An event loop whose time goes on only when it has nothing to do, and by just what it waits for."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import TypeVar

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):
    """Instead of waiting, lets time pass."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "everything waits for nothing"
            self.now += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """`stand_still` lets time pass in which the loop does nothing."""

    def __init__(self) -> None:
        self._passing = _Selector()
        super().__init__(self._passing)

    def time(self) -> float:
        return self._passing.now

    def stand_still(self, seconds: float) -> None:
        self._passing.now += seconds


def run_virtually(main: Coroutine[object, object, T]) -> T:
    """Run to the end on a loop of its own."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
