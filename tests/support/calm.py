"""Keeps tests that load the whole machine apart from those that a load from outside would spoil.

Tests may run in several processes, so this is a lock of the machine: any number hold it to have calm, or one alone
to break it.
"""

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def calm() -> Iterator[None]:
    """Nobody loads the machine on purpose during the block."""
    with _locked(fcntl.LOCK_SH):
        yield


@contextmanager
def no_calm() -> Iterator[None]:
    """The block loads the machine on purpose, and waits for those who need calm."""
    with _locked(fcntl.LOCK_EX):
        yield


@contextmanager
def _locked(how: int) -> Iterator[None]:
    with (Path(tempfile.gettempdir()) / "treelings-tests-calm.lock").open("w") as lock:
        fcntl.flock(lock, how)
        yield
