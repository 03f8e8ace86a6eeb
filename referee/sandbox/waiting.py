"""How bots that wait are kept from taking processor time from the one that is on turn.

The better way is to freeze them, which takes root on the engine's machine: it costs a tenth of a millisecond a turn,
and the bot on turn has all that its limits allow. Otherwise each bot has its share of the cores and no more, whatever
the others do.
"""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from referee.errors import SandboxError
from referee.limits import Limits
from referee.sandbox.cgroup import try_freezer

_LEAST_CORES: Final = 0.01  # engines refuse less


@dataclass(frozen=True, slots=True)
class Waiting:
    """What holds bots that wait.

    cgroup   the version of control groups whose freezer is used; None: none, but a share of the cores
    problem  why there is no freezer; empty if there is one or nobody wanted it
    limits   what each bot may use, its share of the cores included
    cores    those that bots may run on
    at_once  bots that sit at tables at the same time
    """

    cgroup: int | None
    problem: str
    limits: Limits
    cores: int
    at_once: int

    @classmethod
    def on(cls, info: Mapping[str, Any], limits: Limits, *, at_once: int, freezer: bool | None = None) -> Self:
        """What can be done on this machine with an engine, from its `docker info`.

        `freezer`: whether to freeze; None: if it can be done. Raises SandboxError if it must be done and cannot.
        """
        machine = int(info.get("NCPU") or 1)
        cores = min(_cores(limits.cpuset) or machine, machine)
        cgroup, problem = None, ""
        if freezer is not False:
            try:
                cgroup = _try_freezer(info)
            except SandboxError as error:
                if freezer:
                    raise
                problem = str(error)
        if cgroup is None:
            limits = replace(limits, cpus=min(limits.cpus, max(cores / at_once, _LEAST_CORES)))
        return cls(cgroup, problem, limits, cores, at_once)

    def __str__(self) -> str:
        if self.cgroup is not None:
            return f"frozen (cgroup v{self.cgroup})"
        return (
            f"a share of {self.limits.cpus:.2g} cores each ({self.at_once} bots at once, cores: {self.cores}), "
            "on turn or not"
        )


def _try_freezer(info: Mapping[str, Any]) -> int:
    if os.geteuid() != 0:
        raise SandboxError("freezing takes root")
    if info.get("Name") != socket.gethostname():
        raise SandboxError(f"the engine runs on another machine, {info.get('Name')!r}")
    return try_freezer()


def _cores(cpuset: str | None) -> int:
    """How many cores a list such as "0,2-3" names."""
    cores: set[int] = set()
    for part in cpuset.split(",") if cpuset else ():
        first, _, last = part.partition("-")
        cores.update(range(int(first), int(last or first) + 1))
    return len(cores)
