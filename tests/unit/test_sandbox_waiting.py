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
def test_without_a_freezer_each_bot_has_its_share_of_the_cores_but_no_more_than_its_limit(
    at_once: int, cpuset: str | None, cpus: float, share: float
) -> None:
    waiting = Waiting.on(HERE, Limits(cpus=cpus, cpuset=cpuset), at_once=at_once, freezer=False)

    assert waiting.cgroup is None
    assert waiting.limits == Limits(cpus=share, cpuset=cpuset)


def test_nobody_freezes_what_an_engine_on_another_machine_runs() -> None:
    waiting = Waiting.on(ELSEWHERE, Limits(), at_once=16)

    assert waiting.cgroup is None
    assert waiting.problem
    assert waiting.limits.cpus == 0.25


def test_a_freezer_that_must_be_there_and_is_not_is_refused() -> None:
    with pytest.raises(SandboxError, match="root" if os.geteuid() else r"another machine, 'somewhere\.else\.example'"):
        Waiting.on(ELSEWHERE, Limits(), at_once=2, freezer=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may freeze")
def test_an_ordinary_user_has_no_freezer() -> None:
    assert Waiting.on(HERE, Limits(), at_once=2).problem == "freezing takes root"


@pytest.mark.skipif(os.geteuid() != 0, reason="freezing takes root")
def test_root_can_freeze_on_its_own_machine_and_then_no_bot_has_less_than_its_limit() -> None:
    waiting = Waiting.on(HERE, Limits(), at_once=100)

    assert waiting.cgroup in (1, 2)
    assert waiting.limits == Limits()
    assert str(waiting) == f"frozen (cgroup v{waiting.cgroup})"


def test_the_examination_says_which_protection_holds() -> None:
    frozen = check_waiting(Waiting(2, "", Limits(), 4, 8))
    shared = check_waiting(Waiting.on(HERE, Limits(), at_once=16, freezer=False))

    assert (frozen.level, frozen.found, frozen.advice) == ("ok", "frozen (cgroup v2)", "")
    assert shared.level == "warning"
    assert shared.found == "a share of 0.25 cores each (16 bots at once, cores: 4), on turn or not"
    assert "as root they would be frozen" in shared.advice
