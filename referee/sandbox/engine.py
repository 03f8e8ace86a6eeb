"""Reaching the Docker engine: connecting, its errors in our words, and what it must be able to do."""

import errno
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import requests
from docker import APIClient
from docker.constants import DEFAULT_DOCKER_API_VERSION
from docker.errors import APIError, DockerException, ImageNotFound
from docker.utils import kwargs_from_env, parse_host

from referee.errors import ConfigError, EngineGone, SandboxError
from referee.limits import Limits
from referee.text import printable

CALL_TIMEOUT_S: Final = 30
_LONGEST_REASON: Final = 300
_UNIX: Final = "http+unix://"
_POOL: Final = "UnixHTTPConnectionPool(host='localhost', port=None): "
"""What comes before a timeout's own words; whoever asks tells where."""


def connect(*, url: str | None = None, timeout_s: int = CALL_TIMEOUT_S) -> APIClient:
    """A client of the engine at `url` (None: where DOCKER_HOST says, else the local socket).

    `timeout_s` is the longest that any one answer may be waited for. Raises EngineGone if none answers.
    """
    env = kwargs_from_env() if url is None else {"base_url": url}
    with engine_errors(f"connecting to {env.get('base_url') or 'the local socket'}"):
        # With a version given, the constructor asks nothing: what fails after it can be closed.
        probe = _Client(**env, version=DEFAULT_DOCKER_API_VERSION, timeout=timeout_s)
        try:
            version = str(probe.version(api_version=False)["ApiVersion"])
        finally:
            probe.close()
        return _Client(**env, version=version, timeout=timeout_s)


class _Client(APIClient):
    """Knocks before each request: docker-py leaves open the socket of a connection that it could not make."""

    def __init__(self, *, base_url: str | None = None, **settings: Any) -> None:
        super().__init__(base_url=base_url, **settings)
        self._address = str(parse_host(base_url))
        if self._address.startswith(_UNIX):
            self.trust_env = False  # a proxy of the environment leads to no socket, and to look took half of each call

    def send(self, request: requests.PreparedRequest, **settings: Any) -> requests.Response:
        if self._address.startswith(_UNIX):
            with socket.socket(socket.AF_UNIX) as knock:
                knock.settimeout(self.timeout)
                knock.connect(self._address.removeprefix(_UNIX))
        return super().send(request, **settings)


def find_image(engine: APIClient, name: str) -> dict[str, Any] | None:
    """What the engine knows of an image; None if it has none of that name. Raises EngineGone."""
    with engine_errors(f"looking for the image {name}"):
        try:
            found: dict[str, Any] = engine.inspect_image(name)  # type: ignore[no-untyped-call]  # so in types-docker
        except ImageNotFound:
            return None
    return found


@contextmanager
def engine_errors(doing: str) -> Iterator[None]:
    """Turns docker-py's errors into ours: SandboxError for a refusal, EngineGone for no answer."""
    try:
        yield
    except APIError as error:
        raise SandboxError(f"{doing}: the Docker engine refused: {reason(error)}") from error
    except (DockerException, requests.RequestException, OSError) as error:
        cause = printable(_cause(error), _LONGEST_REASON)
        if cause == os.strerror(errno.EACCES):
            words = f"may not be used by this user ({cause}): join the group docker, or run as root"
        else:
            words = f"does not answer ({cause})"
        raise EngineGone(f"{doing}: the Docker engine {words}") from error


def _cause(error: BaseException) -> str:
    """What the system said at the bottom of the errors that three libraries have wrapped round it."""
    layers = [error]
    while layers:
        layer = layers.pop()
        if isinstance(layer, OSError) and layer.strerror:
            return layer.strerror
        inner = (layer.__cause__, *layer.args)
        layers += [each for each in inner if isinstance(each, BaseException)]
    return str(error).removeprefix(_POOL)


@contextmanager
def patience(engine: APIClient, seconds: int) -> Iterator[None]:
    """Waits for each answer of the engine for this long instead of its usual time; not for several threads."""
    usual, engine.timeout = engine.timeout, seconds
    try:
        yield
    finally:
        engine.timeout = usual


def reason(error: APIError) -> str:
    """What the engine said, in one bounded line."""
    said = error.explanation or str(error)
    return printable(said.decode("utf-8", "replace") if isinstance(said, bytes) else said, _LONGEST_REASON)


@dataclass(frozen=True, slots=True)
class Ability:
    """Something that an engine should be able to do before submitted bots are run on it.

    advice  what to do where it is lacking
    needed  whether no bots are run on an engine that lacks it
    """

    name: str
    has: bool
    advice: str
    needed: bool = True


_CGROUPS = "enable this controller for the engine (kernel command line, or the delegation to a rootless engine)"
_LIMITS: Final = (
    ("memory limit", "MemoryLimit", "boot with cgroup_enable=memory"),
    ("swap limit", "SwapLimit", "boot with swapaccount=1"),
    ("limit on processes", "PidsLimit", _CGROUPS),
    ("CPU quota", "CpuCfsQuota", _CGROUPS),
    ("cpuset", "CPUSet", _CGROUPS),
)


def abilities(info: Mapping[str, Any]) -> list[Ability]:
    """What should hold of an engine, from its `docker info` (sandbox.md, Container options)."""
    security = [str(option) for option in info.get("SecurityOptions") or []]
    remaps = any(option.startswith(("name=rootless", "name=userns")) for option in security)
    return [
        *(Ability(name, info.get(key) is True, advice) for name, key, advice in _LIMITS),
        Ability(
            "seccomp",
            any(option.startswith("name=seccomp") for option in security),
            "use an engine and a kernel that were built with seccomp",
        ),
        Ability(
            "user ids as on the host",
            not remaps,
            "use an engine that is neither rootless nor set to userns-remap: bots could not share their socket",
        ),
        Ability(
            "Linux containers",
            info.get("OSType") == "linux",
            "switch the engine to Linux containers, or use another one",
        ),
        Ability(
            "sockets shared with the host",
            shares_sockets(info),
            "use an engine on Linux itself: Docker Desktop's machine shares no Unix sockets with the host",
            needed=False,
        ),
    ]


def shares_sockets(info: Mapping[str, Any]) -> bool:
    """Whether containers can share a Unix socket with this machine (sandbox.md, Socket)."""
    return "OperatingSystem" in info and "Docker Desktop" not in str(info["OperatingSystem"])


def require_settings(info: Mapping[str, Any], limits: Limits) -> None:
    """Refuse a runtime for containers or a number of cores that the engine does not have. Raises ConfigError."""
    known = sorted(info.get("Runtimes") or {})
    if limits.runtime is not None and limits.runtime not in known:
        raise ConfigError(
            f"sandbox.runtime: expected one that the Docker engine has ({', '.join(known)}), got {limits.runtime!r}: "
            "install it and add it to the engine's daemon.json"
        )
    cores = info.get("NCPU")
    if cores is not None and limits.cpus > cores:
        raise ConfigError(
            f"sandbox.cpus: expected at most {cores}, the cores that the Docker engine has, got {limits.cpus:g}"
        )


def require_abilities(info: Mapping[str, Any]) -> None:
    """Refuse an engine that lacks something that is needed. Raises SandboxError naming all that it lacks."""
    missing = [ability for ability in abilities(info) if ability.needed and not ability.has]
    if missing:
        raise SandboxError(
            f"the Docker engine lacks {', '.join(ability.name for ability in missing)}, without which it holds no "
            "hostile bot: see `treelings doctor`, or use --sandbox process for bots that you trust"
        )
