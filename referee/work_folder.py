"""Folders to work in that go with their process, or when somebody works there again if that was killed."""

import fcntl
import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_TRIES: Final = 10
_RANDOM: Final = "?" * 8  # as tempfile names them


@contextmanager
def work_folder(place: Path, prefix: str) -> Iterator[Path]:
    """A fresh folder in `place` whose name begins with `prefix`, closed to other users, for as long as the block lasts.

    What processes of this user left of that prefix when they were killed is removed first. Raises OSError.
    """
    remove_leftovers(place, prefix)
    folder, lock = _locked(place, prefix)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
        os.close(lock)


def _locked(place: Path, prefix: str) -> tuple[Path, int]:
    """A new folder, with the lock that tells others that it is no leftover: it goes with the process."""
    for _ in range(_TRIES):
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
        with suppress(FileNotFoundError):  # somebody took it for a leftover before it was locked
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.exists():
                return folder, lock
            os.close(lock)
    raise OSError(f"{place}: expected to be let make a folder there, but each of {_TRIES} was removed at once")


def remove_leftovers(place: Path, prefix: str) -> None:
    """Remove the folders of that prefix that killed processes of this user left in `place`. Raises OSError."""
    for leftover in sorted(place.glob(glob.escape(prefix) + _RANDOM)):
        try:
            lock = os.open(leftover, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:  # gone by now, or no folder, or another user's: none of ours
            continue
        try:
            if os.fstat(lock).st_uid == os.geteuid():
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with suppress(FileNotFoundError):  # somebody else was quicker
                    shutil.rmtree(leftover)
        except BlockingIOError:  # in use
            continue
        finally:
            os.close(lock)
