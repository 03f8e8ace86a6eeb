"""How bots that wait are kept from taking processor time from the one that is on turn.

The best way is to freeze them, which takes root on the engine's machine: it costs a tenth of a millisecond a turn, and
the bot on turn has all that its limits allow. Otherwise whoever keeps a core busy while it should rest gets so small
a share that it hardly counts beside the others; that takes no rights, and costs nobody else anything. Where not even a
bot's processor time can be read, as with an engine in a virtual machine, all that is left is to share out the cores.
"""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Self

from referee.errors import SandboxError
from referee.limits import Limits
from referee.sandbox.cgroup import tells_cpu_time, try_freezer

Hold = Literal["frozen", "watched", "shared"]

_LEAST_CORES: Final = 0.01  # engines refuse less


@dataclass(frozen=True, slots=True)
class Waiting:
    """What holds bots that wait.

    hold     frozen; watched: a tiny share of the cores for whoever does not rest; shared: a fixed share for each
    found    the same in a few words, fit to be shown
    problem  why they are not frozen; empty if they are, or if that was not wanted
    limits   what each bot may use; where the cores are shared, no more than its share
    """

    hold: Hold
    found: str
    problem: str
    limits: Limits

    @classmethod
    def on(cls, info: Mapping[str, Any], limits: Limits, *, at_once: int, hold: Hold | None = None) -> Self:
        """What can be done on this machine with an engine, from its `docker info`.

        at_once  how many bots run at the same time at most, those included that are started ahead
        hold     what must be done, None: the best of what can be

        Raises SandboxError if they must be frozen and cannot be.
        """
        problem = ""
        if hold in (None, "frozen"):
            try:
                return cls("frozen", f"frozen (cgroup v{_try_freezer(info)})", "", limits)
            except SandboxError as error:
                if hold is not None:
                    raise
                problem = str(error)
        if hold == "watched" or (hold is None and _is_here(info) and tells_cpu_time()):
            return cls("watched", "not frozen; one that does not rest gets a tiny share of the cores", problem, limits)
        cores = _cores(limits.cpuset, int(info.get("NCPU") or 1))
        limits = replace(limits, cpus=min(limits.cpus, max(cores / at_once, _LEAST_CORES)))
        found = f"not frozen; a share of {limits.cpus:.2g} cores each, on turn or not (cores: {cores}, bots: {at_once})"
        return cls("shared", found, problem, limits)


def _try_freezer(info: Mapping[str, Any]) -> int:
    if os.geteuid() != 0:
        raise SandboxError("freezing takes root")
    if not _is_here(info):
        raise SandboxError(f"the engine runs on another machine, {info.get('Name')!r}")
    return try_freezer()


def _is_here(info: Mapping[str, Any]) -> bool:
    return info.get("Name") == socket.gethostname()


def _cores(cpuset: str | None, machine: int) -> int:
    """How many cores bots may run on, by a list such as "0,2-3"."""
    if cpuset is None:
        return machine
    cores: set[int] = set()
    for part in cpuset.split(","):
        first, _, last = part.partition("-")
        cores.update(range(int(first), int(last or first) + 1))
    return min(len(cores), machine)
