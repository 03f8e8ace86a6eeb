import os
import socket
from typing import Any

import pytest

from referee.errors import SandboxError
from referee.limits import Limits
from referee.sandbox.doctor import check_waiting
from referee.sandbox.waiting import Waiting

HERE: dict[str, Any] = {"NCPU": 4, "Name": socket.gethostname()}
ELSEWHERE = HERE | {"Name": "somewhere.else.example"}


@pytest.mark.parametrize(
    ("at_once", "cpuset", "cpus", "share"),
    [(8, None, 1.0, 0.5), (2, None, 1.0, 1.0), (2, None, 4.0, 2.0), (8, "1-2", 1.0, 0.25), (3, "0,2-3", 2.0, 1.0),
     (8, "0-99", 1.0, 0.5), (5_000, None, 1.0, 0.01)],
)  # fmt: skip
def test_where_the_cores_are_shared_each_bot_has_its_share_but_no_more_than_its_limit(
    at_once: int, cpuset: str | None, cpus: float, share: float
) -> None:
    waiting = Waiting.on(HERE, Limits(cpus=cpus, cpuset=cpuset), at_once=at_once, hold="shared")

    assert waiting.hold == "shared"
    assert waiting.limits == Limits(cpus=share, cpuset=cpuset)


def test_of_an_engine_on_another_machine_nothing_can_be_frozen_or_watched_so_that_the_cores_are_shared() -> None:
    waiting = Waiting.on(ELSEWHERE, Limits(), at_once=16)

    assert waiting.hold == "shared"
    assert waiting.problem
    assert waiting.limits.cpus == 0.25


def test_a_freezer_that_must_be_there_and_is_not_is_refused() -> None:
    with pytest.raises(SandboxError, match="root" if os.geteuid() else r"another machine, 'somewhere\.else\.example'"):
        Waiting.on(ELSEWHERE, Limits(), at_once=2, hold="frozen")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may freeze")
def test_an_ordinary_user_watches_and_no_bot_has_less_than_its_limit() -> None:
    waiting = Waiting.on(HERE, Limits(), at_once=100)

    assert (waiting.hold, waiting.problem, waiting.limits) == ("watched", "freezing takes root", Limits())


@pytest.mark.skipif(os.geteuid() != 0, reason="freezing takes root")
def test_root_can_freeze_on_its_own_machine_and_then_no_bot_has_less_than_its_limit() -> None:
    waiting = Waiting.on(HERE, Limits(), at_once=100)

    assert (waiting.hold, waiting.problem, waiting.limits) == ("frozen", "", Limits())
    assert waiting.found in {"frozen (cgroup v1)", "frozen (cgroup v2)"}


def test_the_examination_says_which_protection_holds() -> None:
    frozen = check_waiting(Waiting("frozen", "frozen (cgroup v2)", "", Limits()))
    watched = check_waiting(Waiting.on(HERE, Limits(), at_once=16, hold="watched"))
    shared = check_waiting(Waiting.on(ELSEWHERE, Limits(), at_once=16))

    assert (frozen.level, frozen.found, frozen.advice) == ("ok", "frozen (cgroup v2)", "")
    assert watched.level == shared.level == "warning"
    assert watched.found == "not frozen; one that does not rest gets a tiny share of the cores"
    assert shared.found == "not frozen; a share of 0.25 cores each, on turn or not (cores: 4, bots: 16)"
    assert "run as root" in shared.advice
