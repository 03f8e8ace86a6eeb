"""Lock files: one process at a time does what must not be done twice, or what the next need not do then."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final, TextIO

from referee.errors import LeagueBusy

_NAME: Final = "run.lock"
_LOOK_S: Final = 0.05  # far longer than `holder` has it


@contextmanager
def locked(league: Path) -> Iterator[None]:
    """Hold a league's folder against other processes; the lock goes with the process, however that ends.

    Raises LeagueBusy, naming the process that holds it.
    """
    with (league / _NAME).open("a+", encoding="ascii") as file:
        if not _hold(file, fcntl.LOCK_EX):
            time.sleep(_LOOK_S)  # it may have been somebody who only looked
            if not _hold(file, fcntl.LOCK_EX):
                raise LeagueBusy(f"{league}: {_who(file)} is running this league; wait for its end")
        with suppress(OSError):  # on a full disk: then nobody is told which process it is
            file.truncate(0)
            os.write(file.fileno(), str(os.getpid()).encode())
        yield


def holder(league: Path) -> str | None:
    """Which process holds a league's folder just now, in words; None if none does, or if it cannot be told."""
    try:
        with (league / _NAME).open(encoding="ascii") as file:
            return None if _hold(file, fcntl.LOCK_SH) else _who(file)
    except OSError:  # none has ever held it, or it is for others to know
        return None


def _hold(file: IO[Any], how: int) -> bool:
    """Hold the file so if nobody is in the way; whether it is held."""
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _who(file: TextIO) -> str:
    file.seek(0)
    number = file.read(20).strip()
    return f"process {number}" if number.isdecimal() else "another process"


@contextmanager
def one_after_another(path: Path, wait: Callable[[], None]) -> Iterator[None]:
    """Wait until no other process holds this file, which is made if it is not there; then hold it.

    `wait` is called first where there is something to wait for. Raises OSError.
    """
    with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600), "rb") as file:  # noqa: PTH123 - a descriptor
        if not _hold(file, fcntl.LOCK_EX):
            wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
