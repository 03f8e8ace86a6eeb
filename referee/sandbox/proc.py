"""What Linux tells of plain processes: whose children they are, what they carry, what time they have had.

Nothing can be told where there is no /proc.
"""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from referee.ports import CpuTimes

_PROC: Final = Path("/proc")
_TICK_MS: Final = 1000 / os.sysconf("SC_CLK_TCK")
_NS_PER_MS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class _Process:
    pid: int
    ended: bool  # and only waits to be reaped
    parent: int
    session: int
    waited_ms: float  # processor time of the children that it has waited for


def family(first: int | None, mark: str | None) -> set[int]:
    """The processes that live of those that belong together.

    They are `first`, which has not been reaped, and all of its session; those that carry the text `mark` in their
    environment; and all that any of these started, as long as what is between lives.
    """
    return {process.pid for process in _family(first, mark)}


def carries(pid: int, mark: str) -> bool:
    """Whether a process was given this text in its environment, or was forked by one that was."""
    return os.fsencode(mark) in _read(_PROC / str(pid) / "environ")


def descends(pid: int, first: int) -> bool:
    """Whether `first` started this process, or one that started it, and so on; not once one between has ended."""
    seen = set()
    while pid not in seen:
        if pid == first:
            return True
        seen.add(pid)
        process = _process(pid)
        if process is None:
            return False
        pid = process.parent
    return False


def used_ms(pid: int) -> float | None:
    """Processor time of one process and of the children that it has waited for; some microseconds. None: not known."""
    process = _process(pid)
    clock = _clock_ms(pid)
    return None if process is None or clock is None else clock + process.waited_ms


def family_times(first: int) -> CpuTimes | None:
    """Processor times of a whole family; None where that cannot be told."""
    used = used_ms(first)
    if used is None:
        return None
    threads: dict[int, tuple[float, float]] = {}
    ready: list[int] = []
    for process in _family(first, None):
        for thread, times, is_ready_now in _threads(process.pid):
            threads[thread] = times
            if is_ready_now:
                ready.append(thread)
        if process.pid != first:
            used += (_clock_ms(process.pid) or 0) + process.waited_ms
    return CpuTimes(used, threads, ready=ready)


def is_ready(stat: bytes) -> bool:
    """Whether a thread runs now, or would if it had a core, by its file `stat`."""
    return stat.rpartition(b")")[2].split()[:1] == [b"R"]


def _family(first: int | None, mark: str | None) -> list[_Process]:
    children: dict[int, list[_Process]] = {}
    waiting = []
    for process in _processes():
        children.setdefault(process.parent, []).append(process)
        if first in (process.pid, process.session) or (mark is not None and carries(process.pid, mark)):
            waiting.append(process)
    found: dict[int, _Process] = {}
    while waiting:
        process = waiting.pop()
        if process.pid not in found:
            found[process.pid] = process
            waiting += children.get(process.pid, ())
    return [process for process in found.values() if not process.ended]


def _processes() -> Iterator[_Process]:
    with suppress(FileNotFoundError), os.scandir(_PROC) as entries:
        for entry in entries:
            if entry.name.isdecimal() and (process := _process(int(entry.name))) is not None:
                yield process


def _process(pid: int) -> _Process | None:
    stat = _read(_PROC / str(pid) / "stat")
    if not stat:
        return None
    # The command's name stands in brackets and may itself hold brackets and spaces: count from the last one.
    fields = stat.rpartition(b")")[2].split()
    waited_ms = (int(fields[13]) + int(fields[14])) * _TICK_MS
    return _Process(pid, fields[0] in b"ZX", int(fields[1]), int(fields[3]), waited_ms)


def _threads(pid: int) -> Iterator[tuple[int, tuple[float, float], bool]]:
    """Of each living thread: its id, its times (ports.CpuTimes), and whether it is ready."""
    with suppress(OSError):
        for task in (_PROC / str(pid) / "task").iterdir():
            figures = _read(task / "schedstat").split()
            if figures:
                times = int(figures[0]) / _NS_PER_MS, int(figures[1]) / _NS_PER_MS
                yield int(task.name), times, is_ready(_read(task / "stat"))


def _clock_ms(pid: int) -> float | None:
    """Processor time of all threads of one process, of the ended ones too."""
    try:
        # As clock_getcpuclockid(3) makes it, which Python offers for threads only.
        return time.clock_gettime_ns(~pid << 3 | 2) / _NS_PER_MS
    except (OSError, OverflowError):
        return None


def _read(path: Path) -> bytes:
    """A file of /proc; empty if the process is gone or somebody else's."""
    try:
        return path.read_bytes()
    except OSError:
        return b""
