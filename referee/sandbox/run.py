"""Whose a container, folder or process is: the identity of a run, and whether that run still lives."""

import hashlib
import os
import re
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_TEXT = re.compile(r"([0-9a-f]{8})-([0-9a-f]{8})-(\d{1,10})-(\d{1,20}|x)")


@dataclass(frozen=True, slots=True)
class Run:
    """One sandbox of one referee process, as written on everything that it leaves on a machine.

    id       8 hex digits, random
    where    8 hex digits of the host and process namespace, without which `pid` would mean nothing
    pid      of the referee
    started  when that process started, as `process_start` tells; "x" where the system does not say
    """

    id: str
    where: str
    pid: int
    started: str

    @classmethod
    def new(cls) -> Self:
        """A run of this very process."""
        pid = os.getpid()
        return cls(secrets.token_hex(4), _here(), pid, process_start(pid) or "x")

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """What `str` wrote; None for any other text."""
        found = _TEXT.fullmatch(text)
        if found is None:
            return None
        id_, where, pid, started = found.groups()
        return cls(id_, where, int(pid), started)

    def __str__(self) -> str:
        return f"{self.id}-{self.where}-{self.pid}-{self.started}"

    def is_dead(self) -> bool:
        """Whether its referee is gone for certain; never so for a run of another host or namespace."""
        if self.where != _here():
            return False
        if not _exists(self.pid):
            return True
        now = process_start(self.pid)
        return now is not None and self.started != "x" and now != self.started


def process_start(pid: int) -> str | None:
    """When a process started, in clock ticks since boot; None if it is gone, hidden, or the system has no /proc.

    With the pid it names a process for good: pids are used again. "ended" for one that only waits to be reaped.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The command's name stands in brackets and may itself hold brackets and spaces: count from the last one.
    fields = stat.rpartition(")")[2].split()
    return "ended" if fields[0] == "Z" else fields[19]


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _here() -> str:
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = ""
    return hashlib.sha256(f"{socket.gethostname()}\0{namespace}".encode()).hexdigest()[:8]
