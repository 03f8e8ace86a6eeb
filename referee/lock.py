"""A lock file: one process at a time does what must not be done twice."""

import fcntl
import os
from collections.abc import Iterator
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
