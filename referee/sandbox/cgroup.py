"""The control group of one container: holding it, its processor time, and which processes are in it.

Linux has two versions of control groups, and machines with both at once. A group is found through one of its processes,
so that it does not matter how the engine names groups or where their file systems are mounted.
"""

import errno
import os
import re
import secrets
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from referee.errors import SandboxError
from referee.ports import CpuTimes
from referee.sandbox.proc import is_ready

_PROC: Final = Path("/proc")
_NS_PER_MS: Final = 1_000_000
_US_PER_MS: Final = 1_000
_V2: Final = ""  # in place of a controller's name, since version 2 has one hierarchy for all
_GONE: Final = (errno.ENOENT, errno.ENODEV, errno.ESRCH)
_USAGE_US: Final = re.compile(rb"^usage_usec (\d+)$", re.MULTILINE)
_THROTTLED: Final = re.compile(rb"^throttled_(time|usec) (\d+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Freezer:
    """The file by which a group is held, and what to write to it."""

    version: int
    file: str
    hold: bytes
    release: bytes


_FREEZERS: Final = {
    "freezer": _Freezer(1, "freezer.state", b"FROZEN", b"THAWED"),
    _V2: _Freezer(2, "cgroup.freeze", b"1", b"0"),
}


class Group:
    """A container's group. What is asked of one that is gone, since its container ended, does nothing or is None.

    All but `cpu_times`, `has_threads` and `owns` keep files open, and so belong to one thread.
    """

    def __init__(
        self, places: dict[str, str], folders: dict[str, Path], proc: Path, first: int | None = None
    ) -> None:  # fmt: skip
        """`places`: where it is in each hierarchy, as /proc/PID/cgroup says; `folders`: those that are mounted.

        first  a descriptor of the container's first process, which ends all others with it; is closed with the group
        """
        self._places = places
        self._folders = folders
        self._proc = proc
        self._first = first
        self._freezer: tuple[int, _Freezer] | None = None
        self._clock = self._open_clock()

    def _open_clock(self) -> int | None:
        for controller, file in (("cpuacct", "cpuacct.usage"), (_V2, "cpu.stat")):
            if controller in self._folders:
                clock = _open(self._folders[controller] / file, os.O_RDONLY)
                if clock is not None:
                    return clock
        return None

    def prepare_freezer(self) -> None:
        """See to it that `freeze` and `thaw` work from now on. Raises SandboxError if it may not be, or cannot."""
        for controller, freezer in _FREEZERS.items():
            if controller in self._folders:
                folder = self._folders[controller]
                file = _open(folder / freezer.file, os.O_WRONLY)
                if file is not None:
                    self._freezer = file, freezer
                if file is not None or not folder.exists():
                    return
        looked_in = ", ".join(map(str, self._folders.values())) or "none that is mounted"
        raise SandboxError(f"expected a freezer among a container's control groups, looked in {looked_in}")

    def freeze(self) -> None:
        """Hold all its processes, those that it starts meanwhile included. Raises SandboxError."""
        if self._freezer is not None:
            file, freezer = self._freezer
            _write(file, freezer.hold)

    def thaw(self) -> None:
        """Let them go on; nothing if they do. Raises SandboxError."""
        if self._freezer is not None:
            file, freezer = self._freezer
            _write(file, freezer.release)

    def kill(self) -> bool:
        """Kill its first process, and so all of them; false if that may not be, or nobody knows which one it is.

        An engine does the same, but runs a program for it that takes a twentieth of what a container costs.
        """
        if self._first is None:
            return False
        with suppress(ProcessLookupError):  # it has ended
            try:
                signal.pidfd_send_signal(self._first, signal.SIGKILL)
            except PermissionError:
                return False
        return True

    def cpu_used_ms(self) -> float | None:
        """Processor time of all its processes so far, ended ones included."""
        return None if self._clock is None else _used_ms(self._clock)

    def cpu_times(self) -> CpuTimes | None:
        """The same, with what each living thread had and waited for. Raises SandboxError."""
        clock = self._open_clock()
        if clock is None:
            return None
        try:
            used = _used_ms(clock)
        finally:
            os.close(clock)
        if used is None:
            return None
        threads = dict(self._threads())
        return CpuTimes(used, threads, self._throttled_ms(), [thread for thread in threads if self._ready(thread)])

    def _throttled_ms(self) -> float:
        folder = self._folders.get("cpu", self._folders.get(_V2))
        found = _THROTTLED.search(_read(folder / "cpu.stat")) if folder else None
        if found is None:
            return 0.0
        return int(found[2]) / (_NS_PER_MS if found[1] == b"time" else _US_PER_MS)

    def has_threads(self) -> bool:
        """Whether anything of it still lives; false where the group is gone. Raises SandboxError."""
        return bool(self._thread_ids())

    def _threads(self) -> Iterator[tuple[int, tuple[float, float]]]:
        for thread in self._thread_ids():
            # Time on a core and time ready for one, in nanoseconds, and the number of turns.
            figures = _read(self._proc / str(thread) / "schedstat").split()
            if figures:
                yield thread, (int(figures[0]) / _NS_PER_MS, int(figures[1]) / _NS_PER_MS)

    def _ready(self, thread: int) -> bool:
        return is_ready(_read(self._proc / str(thread) / "stat"))

    def _thread_ids(self) -> list[int]:
        controller = next((name for name in self._folders if name != _V2), _V2)
        file = "cgroup.threads" if controller == _V2 else "tasks"
        return [
            int(thread)
            for folder, _, _ in os.walk(self._folders[controller])
            for thread in _read(Path(folder) / file).split()
        ]

    def owns(self, pid: int) -> bool:
        """Whether a process is in this group, or in one that was made within it; false for one that is gone."""
        there = _places(pid, self._proc)
        return all(
            name in there and PurePosixPath(there[name]).is_relative_to(place) for name, place in self._places.items()
        )

    def close(self) -> None:
        """Give back what it keeps open; it can do nothing afterwards. May be called twice."""
        kept = [self._clock, self._first, self._freezer[0] if self._freezer else None]
        self._clock = self._first = self._freezer = None
        for file in kept:
            if file is not None:
                os.close(file)


def find_group(container: str, pid: int, proc: Path = _PROC) -> Group | None:
    """The group of a container, by the engine's id of it and by one of its processes.

    None if that process is gone, or is another one here than where the engine runs. Raises SandboxError.
    """
    # Before it is looked at, so that its id cannot have become another's; the ids of a made-up /proc name nobody here.
    first = _descriptor(pid) if proc == _PROC else None
    places = {name: place for name, place in _places(pid, proc).items() if container in place}
    if not places:
        if first is not None:
            os.close(first)
        return None
    folders = {}
    for name, (root, mounted_at) in _mounts(proc).items():
        place = PurePosixPath(places.get(name, ".."))
        if place.is_relative_to(root):
            folders[name] = mounted_at / place.relative_to(root)
    return Group(places, folders, proc, first)


def _descriptor(pid: int) -> int | None:
    """Of a process, whatever becomes of it; None if it is gone, or the system has no such thing."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def tells_cpu_time() -> bool:
    """Whether control groups that tell processor time are mounted here."""
    return not {"cpuacct", _V2}.isdisjoint(_mounts(_PROC))


def try_freezer(proc: Path = _PROC) -> int:
    """Hold and release an empty group that is made for it: which version of control groups it was that can.

    Raises SandboxError saying what stands in the way.
    """
    mounts = _mounts(proc)
    for controller, freezer in _FREEZERS.items():
        if controller in mounts:
            group = mounts[controller][1] / f"treelings-{secrets.token_hex(4)}"
            _try(group, freezer)
            return freezer.version
    raise SandboxError("no control groups are mounted here that could be frozen")


def _try(folder: Path, freezer: _Freezer) -> None:
    with _errors(folder):
        folder.mkdir()
    try:
        file = _open(folder / freezer.file, os.O_WRONLY)
        if file is None:
            raise SandboxError(f"{folder / freezer.file}: the kernel has no such file")
        try:
            _write(file, freezer.hold)
            _write(file, freezer.release)
        finally:
            os.close(file)
    finally:
        with _errors(folder):
            folder.rmdir()


def _places(pid: int, proc: Path) -> dict[str, str]:
    """Where a process is in each hierarchy, by controller; empty if it is gone."""
    places = {}
    for line in _read(proc / str(pid) / "cgroup").decode("utf-8", "surrogateescape").splitlines():
        _, controllers, place = line.split(":", 2)
        places.update(dict.fromkeys(controllers.split(","), place))
    return places


def _mounts(proc: Path) -> dict[str, tuple[str, Path]]:
    """For each controller which part of its hierarchy can be seen, and where."""
    mounts: dict[str, tuple[str, Path]] = {}
    for line in _read(proc / "self" / "mountinfo").decode("utf-8", "surrogateescape").splitlines():
        # proc(5): id, parent, device, root, mount point, options, any number of tags, "-", type, source, options.
        mount, _, what = line.partition(" - ")
        root, mounted_at = (_unescaped(field) for field in mount.split()[3:5])
        kind, _, options = what.split(" ", 2)
        if kind in ("cgroup", "cgroup2"):
            for name in options.split(",") if kind == "cgroup" else [_V2]:
                mounts.setdefault(name, (root, Path(mounted_at)))
    return mounts


def _unescaped(field: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), field)


def _used_ms(clock: int) -> float | None:
    """What the file of either version says; None if its group is gone."""
    try:
        text = os.pread(clock, 4_096, 0)
    except OSError as error:
        if error.errno in _GONE:
            return None
        raise SandboxError(f"reading a container's processor time: {error.strerror}") from error
    found = _USAGE_US.search(text)
    return int(found[1]) / _US_PER_MS if found else int(text) / _NS_PER_MS


def _write(file: int, text: bytes) -> None:
    try:
        os.pwrite(file, text, 0)
    except OSError as error:
        if error.errno not in _GONE:
            raise SandboxError(f"holding or releasing a container: {error.strerror}") from error


def _open(path: Path, flags: int) -> int | None:
    """None if it is not there."""
    with _errors(path):
        try:
            return os.open(path, flags | os.O_CLOEXEC)
        except OSError as error:
            if error.errno in _GONE:
                return None
            raise


def _read(path: Path) -> bytes:
    """Empty if it is not there."""
    with _errors(path):
        try:
            return path.read_bytes()
        except OSError as error:
            if error.errno in _GONE:
                return b""
            raise


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SandboxError(f"{path}: {error.strerror}") from error
