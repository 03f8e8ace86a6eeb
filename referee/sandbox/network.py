"""What of a network a container has: none; or, where bots are reached over TCP, one of its own (sandbox.md, Socket).

For engines that share no Unix sockets with the host, each container has a bridge of its own: without masquerade, so
that no answer finds its way back from outside; without neighbours; without name service; and with one port, which is
published on the loopback of this machine alone. That is weaker than no network at all: see WEAKER.
"""

import ipaddress
import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Literal

from docker import APIClient
from docker.errors import APIError, NotFound
from docker.types import IPAMConfig, IPAMPool

from referee.errors import SandboxError
from referee.limits import Reach
from referee.sandbox.engine import engine_errors, shares_sockets

HOST: Final = "127.0.0.1"
PORT: Final = 50051
"""Where bots listen inside of their containers."""

WEAKER: Final = (
    "bots are reached over TCP: they can reach services of this machine that listen on all addresses, and programs of "
    "this machine can reach them"
)
"""What is to be said wherever bots are reached so."""

_PROC: Final = Path("/proc")
_OPTIONS: Final = {
    "com.docker.network.bridge.enable_ip_masquerade": "false",
    "com.docker.network.bridge.enable_icc": "false",
}
# Set aside for tests of network devices (RFC 2544), so it is nobody's own network. An engine's usual pool is used up
# by some thirty networks.
_POOL: Final = ipaddress.ip_network("198.18.0.0/15")
_PREFIX: Final = 29  # a gateway and a container, and room for the engine's own
_TRIES: Final = 10

_SOCKETS: Final = ("socket", "socketpair")
_UNIX, _INET, _INET6 = 1, 2, 10  # address families
_STREAM, _TYPE_MASK = 1, 0xF
_TCP: Final = (0, 6)  # protocols: the type's own, and TCP by name


def way_to_bots(info: Mapping[str, Any], wish: Reach) -> Literal["socket", "tcp"]:
    """How bots are reached on an engine, from its `docker info`. Raises SandboxError if it cannot be as wished."""
    if wish == "tcp" or (wish == "auto" and not shares_sockets(info)):
        return "tcp"
    if not shares_sockets(info):
        raise SandboxError(
            'sandbox.reach: expected "auto" or "tcp", got "socket": this Docker engine shares no Unix sockets with the '
            "host"
        )
    return "socket"


def require_own_network(pid: int) -> None:
    """Refuse a bot that would share this process's network, which no engine should give it. Raises SandboxError.

    `pid` is the bot's, as this machine counts. One that is gone, or that this user may not look at, passes.
    """
    with suppress(FileNotFoundError, PermissionError):
        if (_PROC / str(pid) / "ns/net").readlink() == (_PROC / "self/ns/net").readlink():
            raise SandboxError(
                "expected the Docker engine to give a bot a network namespace of its own, got this machine's: "
                "use another engine, or report which one it is"
            )


def make_network(engine: APIClient, labels: Mapping[str, str]) -> str:
    """A network for one container; its id. Raises SandboxError, EngineGone."""
    with engine_errors("making a network"):
        for left in reversed(range(_TRIES)):
            try:
                return str(
                    engine.create_network(
                        f"treelings-{secrets.token_hex(8)}",
                        driver="bridge",
                        options=dict(_OPTIONS),
                        ipam=IPAMConfig(pool_configs=[IPAMPool(subnet=_subnet())]),
                        labels=dict(labels),
                    )["Id"]
                )
            except APIError as error:
                if not left or "overlaps" not in str(error.explanation):
                    raise
    raise AssertionError("the last try returns or raises")


def _subnet() -> str:
    size = 1 << (32 - _PREFIX)
    first = _POOL.network_address + size * secrets.randbelow(_POOL.num_addresses // size)
    return f"{first}/{_PREFIX}"


def remove_network(engine: APIClient, id_: str) -> None:
    """Remove a network that no container uses any more; fine if it is gone. Raises SandboxError, EngineGone."""
    with engine_errors("removing a network"):
        try:
            engine.remove_network(id_)
        except NotFound:
            return
        except APIError as error:
            # Two that remove it at the same time: whoever comes second finds it half gone.
            if error.status_code != HTTPStatus.NOT_FOUND and engine.networks(ids=[id_]):
                raise


def networks(engine: APIClient, label: str) -> list[dict[str, Any]]:
    """The networks that carry a label, or a label with a value ("name=value"). Raises EngineGone."""
    with engine_errors("looking for leftovers"):
        found: list[dict[str, Any]] = engine.networks(filters={"label": label})
    return found


def published_port(container: Mapping[str, Any]) -> int:
    """The port of this machine that leads to a container's, from what the engine tells of it; 0 if it has ended."""
    bindings = container["NetworkSettings"]["Ports"].get(f"{PORT}/tcp") or []
    return next((int(binding["HostPort"]) for binding in bindings if binding["HostIp"] == HOST), 0)


def allow_tcp(profile: str) -> str:
    """A seccomp profile (JSON) that lets sockets of TCP through, made from one that lets only Unix sockets through."""
    rules = json.loads(profile)
    rules["syscalls"] = [rule for rule in rules["syscalls"] if not _refuses_families(rule)] + [
        *(_rule("SCMP_ACT_ALLOW", ["socket"], family, protocol) for family in (_INET, _INET6) for protocol in _TCP),
        # No rule can say "none of these", and rules that overlap have no order: so one for each other family.
        *(_refusal("SCMP_CMP_EQ", family) for family in range(_INET6) if family not in (_UNIX, _INET)),
        _refusal("SCMP_CMP_GT", _INET6),
    ]
    return json.dumps(rules)


def _refuses_families(rule: Mapping[str, Any]) -> bool:
    return set(rule["names"]) == set(_SOCKETS) and rule["action"] == "SCMP_ACT_ERRNO"


def _rule(action: str, names: list[str], family: int, protocol: int) -> dict[str, Any]:
    return {
        "names": names,
        "action": action,
        "args": [
            {"index": 0, "op": "SCMP_CMP_EQ", "value": family},
            {"index": 1, "op": "SCMP_CMP_MASKED_EQ", "value": _TYPE_MASK, "valueTwo": _STREAM},
            {"index": 2, "op": "SCMP_CMP_EQ", "value": protocol},
        ],
    }


def _refusal(op: str, family: int) -> dict[str, Any]:
    return {
        "names": list(_SOCKETS),
        "action": "SCMP_ACT_ERRNO",
        "errnoRet": 97,  # EAFNOSUPPORT, as the profile that this is made from has it
        "args": [{"index": 0, "op": op, "value": family}],
    }
