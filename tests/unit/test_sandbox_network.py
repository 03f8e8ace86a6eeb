"""How bots are reached on which engine, and what a bot's sockets may be where that is TCP."""

import json
import os
import subprocess
from importlib import resources
from typing import Any

import pytest

from referee.errors import SandboxError
from referee.limits import Reach
from referee.sandbox.network import allow_tcp, published_port, require_own_network, way_to_bots

LINUX = {"OSType": "linux", "OperatingSystem": "Debian GNU/Linux 12 (bookworm)"}
DESKTOP = {"OSType": "linux", "OperatingSystem": "Docker Desktop"}
PROFILE = resources.files("referee.sandbox").joinpath("seccomp.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("info", "wish", "way"),
    [
        (LINUX, "auto", "socket"),
        (LINUX, "socket", "socket"),
        (LINUX, "tcp", "tcp"),
        (DESKTOP, "auto", "tcp"),
        (DESKTOP, "tcp", "tcp"),
    ],
)
def test_bots_are_reached_over_sockets_where_these_can_be_shared_unless_told_otherwise(
    info: dict[str, Any], wish: Reach, way: str
) -> None:
    assert way_to_bots(info, wish) == way


def test_sockets_that_cannot_be_shared_are_not_promised() -> None:
    with pytest.raises(SandboxError, match=r'sandbox\.reach: expected "auto" or "tcp", got "socket"'):
        way_to_bots(DESKTOP, "socket")


def test_a_bot_in_the_network_of_this_machine_is_refused() -> None:
    with pytest.raises(SandboxError, match="a network namespace of its own, got this machine's"):
        require_own_network(os.getpid())


def test_a_bot_that_is_gone_is_in_no_network() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    require_own_network(process.pid)


def test_the_profile_for_tcp_differs_in_sockets_alone() -> None:
    def others(profile: str) -> dict[str, Any]:
        rules: dict[str, Any] = json.loads(profile)
        rules["syscalls"] = [rule for rule in rules["syscalls"] if "socket" not in rule["names"]]
        return rules

    assert others(allow_tcp(PROFILE)) == others(PROFILE)


def test_every_family_of_sockets_has_rules_that_agree() -> None:
    """Rules that overlap with different actions would count in an order that nobody states."""
    rules = [rule for rule in json.loads(allow_tcp(PROFILE))["syscalls"] if "socket" in rule["names"]]
    for family in range(50):
        actions = {rule["action"] for rule in rules if _holds(rule["args"][0], family)}
        assert actions == ({"SCMP_ACT_ALLOW"} if family in (1, 2, 10) else {"SCMP_ACT_ERRNO"})


def _holds(condition: dict[str, Any], family: int) -> bool:
    value: int = condition["value"]
    return {"SCMP_CMP_EQ": family == value, "SCMP_CMP_GT": family > value, "SCMP_CMP_NE": family != value}[
        condition["op"]
    ]


def test_the_port_of_a_container_is_that_on_the_loopback() -> None:
    found = {"50051/tcp": [{"HostIp": "0.0.0.0", "HostPort": "1"}, {"HostIp": "127.0.0.1", "HostPort": "32768"}]}
    assert published_port({"NetworkSettings": {"Ports": found}}) == 32768


@pytest.mark.parametrize("ports", [{}, {"50051/tcp": None}, {"50051/tcp": []}])
def test_a_container_that_has_ended_has_no_port(ports: dict[str, Any]) -> None:
    assert published_port({"NetworkSettings": {"Ports": ports}}) == 0
