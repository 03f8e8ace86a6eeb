"""What bots wrote to stdout and stderr, kept for their authors: one file for each bot and match.

A file holds, for each time that the bot was started for the match, one line of ours and then its output as it came,
but for a space before each line that looks like one of ours. All of that is hostile text: nothing in it is ever
interpreted, and only `readable` of it is shown.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from referee.errors import UsageError
from referee.text import printable, visible

_SUFFIX: Final = ".log"
_UNFINISHED: Final = ".part"
_NIGHT: Final = "night-"
_NAMED: Final = 10
_LONGEST_NAME: Final = 100
_OURS: Final = b"==="  # what a line of ours begins with
_LIKE_OURS: Final = re.compile(rb"^(?=" + _OURS + rb")", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class KeptLog:
    """The file of one bot and match of a night."""

    night: int
    match: str
    bot: str
    path: Path

    @property
    def size_bytes(self) -> int:
        """How long it is. Raises OSError."""
        return self.path.stat().st_size

    def text(self) -> str:
        """All of it, fit to be shown. Raises OSError."""
        return readable(self.path.read_bytes())


class LogKeeper:
    """Writes what bots log, in a thread of its own, so that no clock waits for the disk.

    Use it in a `with`: its end waits until all is written, and raises the first OSError that kept a log from it.
    """

    def __init__(
        self, folder: Path, *, versions: Mapping[str, str], most_bytes: int, night: int | None = None,
        now: Callable[[], datetime] | None = None, tables: int = 1,
    ) -> None:  # fmt: skip
        """`versions` holds the digest of each bot by name; `most_bytes` is kept of each start, and of each match.

        `tables`: how many tables play a match at once; so many times as much is kept of it.
        """
        self._folder = folder
        self._night = night
        self._versions = versions
        self._most_bytes = most_bytes
        self._tables = tables
        self._match_bytes = most_bytes * tables
        self._now = now or partial(datetime.now, UTC)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="logs")
        self._writing: list[Future[None]] = []

    def keep(self, match: str, bot: str, log: bytes) -> None:
        """Begin to write what a bot logged from a start till now (ports.KeepLog); returns at once."""
        header = self._header(match, bot, len(log))
        path = _path(self._folder, self._night, match, bot)
        self._writing.append(self._thread.submit(self._write, path, header.encode(), log))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.shutdown()
        lost = [problem for writing in self._writing if (problem := writing.exception()) is not None]
        if lost and error is None:
            raise lost[0]
        if lost and error is not None:
            error.add_note(f"besides, logs of bots could not be kept ({len(lost)} of them): {lost[0]}")

    def _header(self, match: str, bot: str, size_bytes: int) -> str:
        night = f"night {self._night}, " if self._night is not None else ""
        ended = self._now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return (
            f"=== {bot} {self._versions[bot]}, {night}{match}, ended {ended}: {size_bytes:,} bytes of output "
            f"(at most {self._most_bytes:,} bytes are kept of each start; what is older is dropped)\n"
        )

    def _write(self, path: Path, header: bytes, log: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_bytes() if path.exists() else b""
        log = _end(_LIKE_OURS.sub(b" ", log), self._most_bytes)
        # The lines of ours above what the other tables logged take nothing from it.
        room = max(0, self._match_bytes - len(log) + (self._tables - 1) * (len(header) + 1))
        if len(before) > room:
            notice = f"=== older output was dropped: at most {self._match_bytes:,} bytes are kept of each match\n"
            before = notice.encode() + _end(before, room)
        if before and not before.endswith(b"\n"):
            before += b"\n"
        part = path.with_suffix(_UNFINISHED)
        try:
            part.write_bytes(before + header + log)
        except OSError as problem:  # which of itself does not say where a disk is full
            problem.filename = str(path)
            raise
        part.replace(path)


def _end(log: bytes, most_bytes: int) -> bytes:
    """The end of a log; what was the middle of a line must not look like a line of ours then."""
    end = log[max(0, len(log) - most_bytes) :]
    return b" " + end[1:] if end != log and end.startswith(_OURS) else end


def logs_of(folder: Path, bot: str, *, match: str | None = None, night: int | None = None) -> tuple[KeptLog, ...]:
    """What LogKeepers wrote to this folder of a bot: in all matches or one, in all nights or one, the newest last.

    Raises UsageError, telling what there is, if there is nothing of that.
    """
    there = [log for log in _found(folder) if night in (None, log.night)]
    when = "" if night is None else f" of night {night}"
    if not there:
        raise UsageError(f"{folder}: no logs{when} are kept yet; bots log while matches are played")
    of_bot = [log for log in there if log.bot == bot]
    if not of_bot:
        raise UsageError(
            f"{folder}: no log{when} by {_quoted(bot)}; there are logs of {_few(log.bot for log in there)}"
        )
    found = [log for log in of_bot if match in (None, log.match)]
    if not found:
        matches = _few(log.match for log in of_bot)
        raise UsageError(f"{folder}: no log{when} by {bot} from {_quoted(match)}; its matches are {matches}")
    return tuple(sorted(found, key=lambda log: (log.night, log.match)))


def readable(log: bytes) -> str:
    """The bytes as text that is safe on a terminal, line by line and with nothing left out.

    Whatever is not to be printed as it is (text.visible) is escaped, but for tabs; so are bytes that are no UTF-8.
    """
    return "\t".join(map(visible, log.decode("utf-8", "backslashreplace").split("\t")))


def _path(folder: Path, night: int | None, match: str, bot: str) -> Path:
    return (folder if night is None else folder / f"{_NIGHT}{night}") / match / f"{bot}{_SUFFIX}"


def _found(folder: Path) -> Iterator[KeptLog]:
    for path in folder.glob(f"{_NIGHT}*/*/*{_SUFFIX}"):
        number = path.parts[-3].removeprefix(_NIGHT)
        if number.isdecimal():
            yield KeptLog(int(number), path.parts[-2], path.name.removesuffix(_SUFFIX), path)


def _quoted(name: str | None) -> str:
    return repr(printable(str(name), _LONGEST_NAME))


def _few(names: Iterable[str]) -> str:
    different = sorted(set(names))
    return ", ".join(different[:_NAMED]) + (f" and {len(different) - _NAMED} more" if different[_NAMED:] else "")
