"""The folders in which bots bind their sockets: on the host's tmpfs, closed to others, and gone afterwards.

What a bot writes there counts as its own memory, which on a disk it would not (sandbox.md, Socket).
"""

import os
import secrets
import stat
import tempfile
from pathlib import Path
from typing import Final, Literal

from referee.errors import SandboxError
from referee.sandbox.run import Run

SOCKET: Final = "bot.sock"
_PREFIX: Final = "treelings-"
_TRIES: Final = 1_000  # one for each time that another run which sweeps as well was faster
_LONGEST_PATH: Final = 100  # bytes; the kernel's own end is 108
# Shared by all users: what we make there has a random name and mode 0700. /tmp is shorter than TMPDIR often is.
_BASES: Final = (Path("/dev/shm"), Path("/tmp"))  # noqa: S108

Kind = Literal["docker", "process"]


def base_folder() -> Path:
    """Where the folders of all runs are: on the tmpfs /dev/shm; only without one, where temporary files go."""
    for path in _BASES:
        if path.is_dir() and os.access(path, os.W_OK | os.X_OK):
            return path
    return Path(tempfile.gettempdir())


class RunFolder:
    """The folder of one run; nobody but its owner can look in."""

    def __init__(self, kind: Kind, run: Run, base: Path) -> None:
        self.path = base / f"{_PREFIX}{kind}-{run}"

    def create(self) -> None:
        """Make it. Raises SandboxError if it cannot be, or if its sockets' paths would be too long."""
        longest = len(os.fsencode(self.path / ("f" * 8) / SOCKET))
        if longest >= _LONGEST_PATH:
            raise SandboxError(
                f"socket paths below {self.path.parent} would have {longest} bytes, expected under {_LONGEST_PATH}: "
                "set TMPDIR to a shorter folder"
            )
        try:
            self.path.mkdir(mode=0o700)
        except OSError as error:
            raise SandboxError(f"{self.path}: cannot make the folder for sockets: {error.strerror}") from error

    def add(self, owner: int | None = None) -> Path:
        """A new folder with a random name for one bot, owned by the user id `owner` (None: by ourselves).

        Raises SandboxError.
        """
        folder = self.path / secrets.token_hex(4)
        try:
            folder.mkdir(mode=0o700)
            if owner is not None:
                os.chown(folder, owner, owner)
        except OSError as error:
            raise SandboxError(f"{folder}: cannot make a bot's socket folder: {error.strerror}") from error
        return folder

    def remove(self) -> None:
        """Remove it with all that is in it; fine if it never was. Raises SandboxError."""
        wipe(self.path)


def dead_runs(kind: Kind, base: Path) -> list[RunFolder]:
    """The folders that runs of ours left behind when they died; never one of a living run or of another user."""
    found = []
    prefix = f"{_PREFIX}{kind}-"
    for path in base.glob(f"{prefix}*"):
        run = Run.parse(path.name.removeprefix(prefix))
        if run is None or not run.is_dead():
            continue
        try:
            status = path.lstat()
        except FileNotFoundError:
            continue  # another run sweeps at the same time
        if stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid():
            found.append(RunFolder(kind, run, base))
    return found


def wipe(folder: Path) -> None:
    """Remove a folder with all that is in it, however a bot has built it; fine if it is gone already.

    Folders inside folders are first moved to the top, so that no depth of nesting ends this: a recursive walk
    gives up after a thousand. Nothing may write there any more, but others may remove it too. Raises SandboxError.
    """
    for _ in range(_TRIES):
        try:
            _wipe(folder)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise SandboxError(f"{folder}: cannot remove it: {error}") from error
        return
    raise SandboxError(f"{folder}: cannot remove it: somebody else keeps changing what is in it")


def _wipe(folder: Path) -> None:
    if not os.path.lexists(folder):
        return
    folder.chmod(0o700)
    while True:
        with os.scandir(folder) as entries:
            inside = list(entries)
        if not inside:
            break
        for entry in inside:
            if not entry.is_dir(follow_symlinks=False):
                Path(entry.path).unlink(missing_ok=True)
                continue
            Path(entry.path).chmod(0o700)
            with os.scandir(entry.path) as children:
                for child in list(children):
                    if child.is_dir(follow_symlinks=False):
                        Path(child.path).chmod(0o700)  # moving a folder needs the right to write to it
                        Path(child.path).rename(folder / secrets.token_hex(8))
                    else:
                        Path(child.path).unlink(missing_ok=True)
            Path(entry.path).rmdir()
    folder.rmdir()
