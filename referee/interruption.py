"""Being told to end, by Ctrl-C, by `kill` or by a terminal that is closed: once is enough.

What is told later changes nothing: a clean-up that was cut off would leave containers, and each part of it is bounded.
"""

import atexit
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Final

Handler = Callable[[int, FrameType | None], Any] | int | signal.Handlers | None

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PATIENCE: Final = b"Ending; please wait till nothing is left behind.\n"


def heed_once() -> None:
    """From now on the first of these signals raises KeyboardInterrupt, and those after it change nothing.

    One that is ignored, as under nohup, stays so.
    """
    _on_signals(_raise)
    # When Python is taken down, handlers are no more and a signal would have the exit code.
    atexit.register(_on_signals, signal.SIG_IGN)


@contextmanager
def instead_of_raising(end: Callable[[], None]) -> Iterator[None]:
    """Within this block the first of these signals calls `end`, which must be fit for a signal handler."""

    def tell(_number: int, _frame: FrameType | None) -> None:
        _on_signals(_ask_for_patience)
        end()

    before = _on_signals(tell)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is tell:  # else it was told, which stays so
                signal.signal(number, handler)


def _on_signals(handler: Handler) -> dict[signal.Signals, Handler]:
    """Set the handler of each signal that is not ignored; what they were."""
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    heeded = {number: was for number, was in before.items() if was is not signal.SIG_IGN}
    for number in heeded:
        signal.signal(number, handler)
    return heeded


def _raise(_number: int, _frame: FrameType | None) -> None:
    _on_signals(_ask_for_patience)
    raise KeyboardInterrupt


def _ask_for_patience(_number: int, _frame: FrameType | None) -> None:
    with suppress(OSError):  # the terminal may be the one that was closed
        os.write(2, _PATIENCE)
