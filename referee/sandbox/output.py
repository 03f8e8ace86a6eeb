"""What a bot in a container prints: kept in a file beside its socket, or by its engine where they share no folder.

Through an engine, a flood of short lines costs that five seconds of a core in four, outside of every limit of the bot.
Written to a file on the host's tmpfs it costs the bot's own time, and counts as its memory.
"""

import os
import threading
from pathlib import Path
from typing import Final, Protocol

from docker import APIClient
from docker.errors import NotFound

_NAME: Final = "output"


class Output(Protocol):
    """Where a bot's stdout and stderr go, in the order in which they were written."""

    def read(self, most_bytes: int) -> bytes:
        """The newest of it; nothing once it is gone. Raises what its engine does."""

    def close(self) -> None:
        """Give back what is kept open; may be called twice."""


class OutputFile:
    """A file in the folder that a bot has in common with us.

    It is read through the descriptor with which it was made, so that whatever the bot puts in its place is not.
    """

    def __init__(self, folder: Path, owner: int | None) -> None:
        """Make it, for the user id `owner` to write (None: our own). Raises OSError."""
        self._lock = threading.Lock()  # one thread may read while another closes
        self._file: int | None = os.open(folder / _NAME, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        if owner is not None:
            os.fchown(self._file, owner, owner)

    @staticmethod
    def command(command: tuple[str, ...], folder: str, launcher: str | None = None) -> list[str]:
        """What runs the command in a container so that its output goes there; `folder` as the container has it.

        launcher  a program of the image that does so where that has no shell (native.py)
        """
        if launcher is not None:
            return [launcher, f"{folder}/{_NAME}", *command]
        return ["/bin/sh", "-c", f'unset PWD; exec "$@" >>{folder}/{_NAME} 2>&1', "sh", *command]

    def read(self, most_bytes: int) -> bytes:
        """The newest of it; nothing once it is closed."""
        with self._lock:
            if self._file is None:
                return b""
            return os.pread(self._file, most_bytes, max(0, os.fstat(self._file).st_size - most_bytes))

    def close(self) -> None:
        """Give back its descriptor; may be called twice."""
        with self._lock:
            file, self._file = self._file, None
        if file is not None:
            os.close(file)


class EngineOutput:
    """What an engine has kept of a container's output."""

    def __init__(self, engine: APIClient, container: str) -> None:
        self._engine = engine
        self._container = container

    def read(self, most_bytes: int) -> bytes:
        """The newest of it; nothing of a container that was removed."""
        try:
            # As many lines as the bytes could be; the log's own cap bounds what arrives.
            return bytes(self._engine.logs(self._container, tail=most_bytes))[-most_bytes:]
        except NotFound:
            return b""

    def close(self) -> None:
        """There is nothing to give back."""
