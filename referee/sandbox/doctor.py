"""What this machine has and lacks for sandboxed bots."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

from docker import APIClient

from referee.errors import SandboxError
from referee.limits import Limits
from referee.sandbox.engine import Ability, abilities, connect, engine_errors
from referee.sandbox.folders import base_folder
from referee.sandbox.network import WEAKER
from referee.sandbox.pruning import unused_images
from referee.sandbox.runtimes import RUNTIMES, ImageStatus, image_status
from referee.sandbox.waiting import Waiting
from treelings.cards import MAX_PLAYERS

Level = Literal["ok", "warning", "missing"]

_LOWEST_PYTHON: Final = (3, 11)
_MB: Final = 1024**2
_GB: Final = 1024**3
_DISK_NEEDED_BYTES: Final = 2 * _GB
_NAMED: Final = 3
_CONNECT: Final = partial(connect, timeout_s=10)


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the examination.

    level   ok; warning: it works, but could be better; missing: bots cannot be sandboxed without
    found   what there is
    advice  what to do; empty where there is nothing to do
    """

    name: str
    level: Level
    found: str
    advice: str = ""


def examine(connect: Callable[[], APIClient] = _CONNECT, *, at_once: int = MAX_PLAYERS) -> list[Check]:
    """Look at everything that sandboxed bots need, in an order fit to be worked through.

    `at_once`: how many bots would run at the same time at most.
    """
    return [
        check_python(sys.version_info[:3]),
        *_check_engine(connect, at_once),
        check_user(os.geteuid()),
        check_socket_folder(base_folder()),
        check_uvloop(installed=find_spec("uvloop") is not None),
    ]


def check_python(version: tuple[int, ...]) -> Check:
    """The referee's own Python."""
    found = ".".join(map(str, version))
    if version >= _LOWEST_PYTHON:
        return Check("Python", "ok", found)
    return Check("Python", "missing", found, "install Python 3.11 or newer")


def _check_engine(connect: Callable[[], APIClient], at_once: int) -> list[Check]:
    try:
        engine = connect()
    except SandboxError as error:
        return [Check("Docker engine", "missing", str(error), _engine_advice(error))]
    try:
        with engine_errors("asking what the Docker engine can do"):
            info = engine.info()
        return [
            Check("Docker engine", "ok", f"version {info.get('ServerVersion')} on {info.get('OperatingSystem')}"),
            *check_abilities(info),
            check_waiting(Waiting.on(info, Limits(), at_once=at_once)),
            *(check_image(image_status(engine, runtime)) for runtime in RUNTIMES),
            *check_old_images(unused_images(engine)),
            *_check_disk(info),
            check_memory(int(info.get("MemTotal") or 0), Limits().memory_bytes, at_once),
        ]
    except SandboxError as error:
        return [Check("Docker engine", "missing", str(error), "see to it that it answers, or start it again")]
    finally:
        engine.close()


def _engine_advice(error: BaseException) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if "Permission denied" in str(cause):
            return "usermod -aG docker NAME as root, then log in again"
        cause = cause.__cause__
    return "install and start one, e.g. Debian's docker.io"


def check_abilities(info: Mapping[str, Any]) -> list[Check]:
    """What the engine should be able to do, one line each, from its `docker info`."""
    return [
        *(_check_ability(ability) for ability in abilities(info)),
        Check("cgroup version", "ok", str(info.get("CgroupVersion", "1"))),
    ]


def _check_ability(ability: Ability) -> Check:
    if ability.has:
        return Check(ability.name, "ok", "yes")
    if ability.needed:
        return Check(ability.name, "missing", "no", ability.advice)
    return Check(ability.name, "warning", f"no: {WEAKER}", ability.advice)


def check_waiting(waiting: Waiting) -> Check:
    """What keeps waiting bots from taking time from the one on turn."""
    if waiting.hold == "frozen":
        return Check("waiting bots", "ok", waiting.found)
    return Check("waiting bots", "warning", waiting.found, f"run as root on the engine's machine ({waiting.problem})")


def check_image(status: ImageStatus) -> Check:
    """A runtime's image, against what is installed here; only Python's is always needed."""
    name = "runtime image" if status.runtime == "python" else f"image for {status.runtime}"
    build = "treelings image build"
    if status.says is None:
        found = f"{status.wanted}: not built"
        if status.older:
            found += f", only older ones ({len(status.older)})"
        if status.runtime == "python":
            return Check(name, "missing", found, build)
        return Check(name, "ok", found, f"the first such bot builds it, or {build} --runtime {status.runtime}")
    found = f"{status.wanted} ({status.says})"
    if status.is_plain:
        return Check(
            name, "warning", found, f"bots simulate two to four times faster on a compiled core: {build} --force"
        )
    return Check(name, "ok", found)


def check_old_images(names: Sequence[str]) -> list[Check]:
    """Images of ours that serve nobody here any more; no line where there are none."""
    if not names:
        return []
    found = f"{len(names)} of earlier versions: {', '.join(names[:_NAMED])}{', …' if len(names) > _NAMED else ''}"
    return [Check("old images", "ok", found, "treelings image prune")]


def _check_disk(info: Mapping[str, Any]) -> list[Check]:
    root = Path(str(info.get("DockerRootDir", "")))
    try:
        return [check_disk(root, shutil.disk_usage(root).free)]
    except OSError:
        return [Check("disk", "warning", f"{root}: cannot be looked at from here", "keep 2 GB free there")]


def check_disk(root: Path, free_bytes: int) -> Check:
    """Room for images and containers where the engine keeps them."""
    found = f"{free_bytes / 1024**3:.1f} GB free in {root}"
    if free_bytes >= _DISK_NEEDED_BYTES:
        return Check("disk", "ok", found)
    return Check("disk", "warning", found, "the runtime image and a league's containers want 2 GB")


def check_memory(total_bytes: int, bot_bytes: int, at_once: int) -> Check:
    """Whether the engine's machine has room for all that bots may use; one that has not ends some of them."""
    most_bytes = at_once * bot_bytes
    bots = f"at most {at_once}, with {bot_bytes // _MB} MB each"
    found = f"{total_bytes / _GB:.1f} GB, of which bots may use {most_bytes / _GB:.1f} ({bots})"
    if total_bytes >= most_bytes:
        return Check("memory", "ok", found)
    return Check(
        "memory", "warning", found, "set a league's jobs or its sandbox.memory_mb lower, or its bots may be ended"
    )


def check_user(uid: int) -> Check:
    """Who the referee runs as, and what follows for bots."""
    if uid == 0:
        return Check("user", "ok", "root: every bot gets a user id of its own")
    return Check(
        "user",
        "warning",
        f"uid {uid}: all bots run under this same user id",
        "as root, bots share nothing that the kernel counts by user, such as inotify instances",
    )


def check_socket_folder(folder: Path) -> Check:
    """Where the sockets lie."""
    if folder == Path("/dev/shm"):  # noqa: S108 - nothing is written here
        return Check("socket folder", "ok", f"{folder}, a tmpfs")
    return Check(
        "socket folder",
        "warning",
        f"{folder}: what bots write beside their sockets is on disk and bounded by nothing",
        "mount a tmpfs at /dev/shm",
    )


def check_uvloop(*, installed: bool) -> Check:
    """The faster event loop, which is optional."""
    if installed:
        return Check("uvloop", "ok", "installed")
    return Check("uvloop", "warning", "not installed", "pip install uvloop: a league of fast bots is faster with it")
