"""Lock files: one process at a time does what must not be done twice, or what the next need not do then."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from referee.errors import LeagueBusy

_NAME: Final = "run.lock"


@contextmanager
def locked(league: Path) -> Iterator[None]:
    """Hold a league's folder against other processes; the lock goes with the process, however that ends.

    Raises LeagueBusy, naming the process that holds it.
    """
    with (league / _NAME).open("a+", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read(20).strip()
            who = f"process {holder}" if holder.isdecimal() else "another process"
            raise LeagueBusy(f"{league}: {who} is running this league; wait for its end") from None
        with suppress(OSError):  # on a full disk: then nobody is told which process it is
            file.truncate(0)
            os.write(file.fileno(), str(os.getpid()).encode())
        yield


@contextmanager
def one_after_another(path: Path, wait: Callable[[], None]) -> Iterator[None]:
    """Wait until no other process holds this file, which is made if it is not there; then hold it.

    `wait` is called first where there is something to wait for. Raises OSError.
    """
    with open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600), "rb") as file:  # noqa: PTH123 - a descriptor
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            wait()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
