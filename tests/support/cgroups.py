"""Trees that look like a machine's control groups and its /proc, of either version."""

from collections.abc import Sequence
from pathlib import Path

CONTAINER = "0123456789ab" * 5 + "cdef"
PID = 4_000


class FakeMachine:
    """A machine with control groups mounted below `folder`; to be handed over as `proc`.

    controllers  of version 1, each set in a hierarchy of its own; empty: version 2 only
    both         version 2 is mounted as well, as many machines have it
    """

    def __init__(self, folder: Path, controllers: Sequence[str], *, both: bool = False) -> None:
        self.proc = folder / "proc"
        self._top = folder / "cgroups"
        self._version_2 = both or not controllers
        self._hierarchies = {name: self._top / name for name in controllers}
        lines = [
            f"{number} 31 0:{number} / {self._escaped(mounted)} rw,relatime shared:7 - cgroup cgroup rw,{name}"
            for number, (name, mounted) in enumerate(self._hierarchies.items(), 32)
        ]
        if self._version_2:
            lines.append(f"50 31 0:50 / {self._escaped(self._top / 'unified')} rw - cgroup2 cgroup2 rw")
        lines.append("23 1 0:21 / /proc rw - proc proc rw")
        for mounted in (*self._hierarchies.values(), self._top / "unified"):
            mounted.mkdir(parents=True)
        (self.proc / "self").mkdir(parents=True)
        (self.proc / "self" / "mountinfo").write_text("\n".join(lines) + "\n")

    @staticmethod
    def _escaped(path: Path) -> str:
        return str(path).replace(" ", "\\040")

    def group(self, place: str, version_2: str | None = None) -> None:
        """A group at the same place of all hierarchies (`version_2`: another place there), as after its making."""
        for controller, mounted in self._hierarchies.items():
            folder = mounted / place.lstrip("/")
            folder.mkdir(parents=True)
            (folder / "tasks").write_text("")
            if "freezer" in controller:
                (folder / "freezer.state").write_text("THAWED\n")
            if "cpuacct" in controller:
                (folder / "cpuacct.usage").write_text("0\n")
            if "cpu" in controller.split(","):
                (folder / "cpu.stat").write_text("nr_periods 0\nnr_throttled 0\nthrottled_time 0\n")
        if self._version_2:
            folder = self._top / "unified" / (version_2 or place).lstrip("/")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "cgroup.threads").write_text("")
            (folder / "cgroup.freeze").write_text("0\n")
            (folder / "cpu.stat").write_text("usage_usec 0\nuser_usec 0\nnr_periods 0\nthrottled_usec 0\n")

    def process(self, place: str, pid: int = PID, version_2: str | None = None) -> None:
        """A process in that group, as /proc tells it."""
        folder = self.proc / str(pid)
        folder.mkdir()
        lines = [f"{number}:{name}:{place}" for number, name in enumerate(self._hierarchies, 1)]
        if self._version_2:
            lines.append(f"0::{version_2 or place}")
        (folder / "cgroup").write_text("\n".join(lines) + "\n")

    def thread(self, thread: int, schedstat: str) -> None:
        """What /proc tells of a thread."""
        (self.proc / str(thread)).mkdir(exist_ok=True)
        (self.proc / str(thread) / "schedstat").write_text(schedstat)

    def file(self, controller: str, place: str, name: str) -> Path:
        """A file of a group; controller "": version 2."""
        mounted = self._hierarchies[controller] if controller else self._top / "unified"
        return mounted / place.lstrip("/") / name
