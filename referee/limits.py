"""How one bot is run: what it may use, and how it is reached (sandbox.md)."""

from dataclasses import dataclass
from typing import Literal

_KB = 1024
_MB = 1024 * 1024

Reach = Literal["auto", "socket", "tcp"]
"""How a container is reached: over a Unix socket, over TCP on the loopback, or as the engine can."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps of one bot; the defaults are the measured ones of sandbox.md.

    memory_bytes  memory, with what the bot writes to /tmp, /dev/shm and its socket folder; there is no swap
    pids          processes and threads together
    cpus          cores' worth of processor time; more threads than that take turns
    cpu_shares    weight against other containers under load; 1,024 is an engine's own default
    cpuset        cores that bots may run on, e.g. "1-3"; None: all
    nofile        open files of a process
    tmp_bytes     size of /tmp
    tmp_inodes    files in /tmp
    shm_bytes     size of /dev/shm
    log_bytes     stdout and stderr that are kept; what is older is dropped
    sent_bytes    what it may send to the referee in one game, all of gRPC's own included
    runtime       the engine's runtime for containers, e.g. "runsc"; None: the engine's default
    reach         how the referee reaches it
    """

    memory_bytes: int = 256 * _MB
    pids: int = 64
    cpus: float = 1.0
    cpu_shares: int = 512
    cpuset: str | None = None
    nofile: int = 256
    tmp_bytes: int = 16 * _MB
    tmp_inodes: int = 1024
    shm_bytes: int = _MB
    log_bytes: int = _MB
    sent_bytes: int = 256 * _KB
    runtime: str | None = None
    reach: Reach = "auto"
