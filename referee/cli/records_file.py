"""The file that `--records` names: games are written to it as they come, and other commands read it."""

import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from referee.cli.show import out
from referee.model import GameRecord


class RecordsFile:
    """Where games are written, one record a line; nowhere without a path. Use it in a `with`.

    Raises OSError with the path in it, also where that was found out late, such as by a full disk.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: TextIO | None = None
        self._games = 0

    def write(self, games: Iterable[GameRecord]) -> None:
        """Add games."""
        from referee.records import to_json

        for game in games:
            self._games += 1
            if self._file is not None:
                with self._naming_it():
                    self._file.write(to_json(game) + "\n")

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
            self._file = self._path.open("w", encoding="utf-8")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            with self._naming_it():
                self._file.close()

    @contextmanager
    def _naming_it(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            error.filename = str(self._path)
            raise
