"""An event loop whose time stands still with its process: what a busy machine takes from a test is nobody's time."""

import asyncio
import selectors
import time
from typing import Final

_TURN_S: Final = 0.05
_MOST_S: Final = 0.1


class _Selector(selectors.DefaultSelector):
    """Waits for one turn at most, so that the time is looked at again and again."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(_TURN_S if timeout is None else min(timeout, _TURN_S))


class FairLoop(asyncio.SelectorEventLoop):
    """Between two looks at its clock at most a tenth of a second passes, however long it was: there is one each turn.

    So a wait never ends because everything stood still meanwhile, and what has come by then is seen in time.
    """

    def __init__(self) -> None:
        self._looked = self._now = time.monotonic()
        super().__init__(_Selector())

    def time(self) -> float:
        looked = time.monotonic()
        self._now += min(looked - self._looked, _MOST_S)
        self._looked = looked
        return self._now
