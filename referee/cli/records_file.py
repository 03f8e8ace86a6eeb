"""The file that `--records` names: games are written to it as they come, and other commands read it."""

import os
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from referee.cli.show import out
from referee.model import GameRecord

if TYPE_CHECKING:
    from io import FileIO


class RecordsFile:
    """Where games are written, one record a line; nowhere without a path. Use it in a `with`.

    What the file holds already stays until there is a game to take its place. Every line is whole and readable by
    others at once, and all of them are on the disk when the `with` ends, also if the power fails then.

    Raises OSError with the path in it.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: FileIO | None = None
        self._games = 0

    def write(self, games: Iterable[GameRecord]) -> None:
        """Add games."""
        from referee.record_file import add_line, is_plain
        from referee.records import to_json

        for game in games:
            if self._file is not None:
                with self._naming_it():
                    line = to_json(game)
                    if not self._games and is_plain(self._file):
                        add_line(self._file, line)  # there is room for it, or what was there stays
                        self._file.truncate(0)
                    add_line(self._file, line)
            self._games += 1

    def print_next(self, secret: bytes) -> None:
        """Print what to do with the games, whose decks follow from this secret."""
        if self._path is None or not self._games:
            out.print(f"Secret of the decks: {secret.hex()}", style="dim", soft_wrap=True)
            return
        file = shlex.quote(str(self._path))
        out.print(f"Show a game:  treelings replay {file} --game 1", markup=False, soft_wrap=True)
        out.print(f"Check all:    treelings verify {file} --secret {secret.hex()}", markup=False, soft_wrap=True)

    def __enter__(self) -> Self:
        if self._path is not None:
            # Opened before anything is played, so that a place that cannot be written is found out in time.
            self._file = self._path.open("ab", buffering=0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        from referee.record_file import is_plain

        if self._file is not None:
            with self._naming_it(), self._file:
                if is_plain(self._file):
                    os.fsync(self._file.fileno())

    @contextmanager
    def _naming_it(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            error.filename = str(self._path)
            raise
