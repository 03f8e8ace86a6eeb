"""How a container's bot is ended, on an engine that is made up."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pytest
import requests
from docker.errors import APIError

from referee.errors import SandboxError
from referee.limits import Limits
from referee.model import Submission
from referee.sandbox.container import Container
from referee.sandbox.output import EngineOutput

if TYPE_CHECKING:
    from docker import APIClient

    from referee.sandbox.cgroup import Group

T = TypeVar("T")

BUSY_BOT_MS = 40.0  # processor time that it uses each time it is looked at


def refusal(status: int, why: str) -> APIError:
    response = requests.Response()
    response.status_code = status
    return APIError("no", response, why)


class Engine:
    """An engine whose container survives so many kills, and is already being removed where that is said.

    tells_late  looks at the container before the engine tells that it has ended
    """

    def __init__(self, survives: int = 0, status: int = 500, *, going: bool = False, tells_late: int = 0) -> None:
        self.left = survives
        self.status = status
        self.going = going
        self.tells_late = tells_late
        self.asked: list[str] = []

    def inspect_container(self, container: str) -> dict[str, dict[str, object]]:
        self.asked.append("look")
        self.tells_late -= 1
        return {"State": {"Running": self.tells_late >= 0, "ExitCode": 3, "OOMKilled": False}}

    def kill(self, container: str, signal: str) -> None:
        self.asked.append("kill")
        if self.left:
            self.left -= 1
            raise refusal(self.status, "did not receive an exit event")

    def wait(self, container: str, condition: str = "not-running") -> None:
        self.asked.append("wait" if condition == "not-running" else f"wait until {condition}")

    def logs(self, container: str, tail: int) -> bytes:
        return b"its last words"

    def remove_container(self, container: str, **options: Any) -> None:
        self.asked.append("remove")
        if self.going:
            raise refusal(409, f"removal of container {container} is already in progress")

    def update_container(self, container: str, cpu_shares: int) -> None:
        self.asked.append(f"shares {cpu_shares}")


class FrozenGroup:
    """A group that is frozen, though its bot is deep in the kernel and burns on."""

    def __init__(self) -> None:
        self.used_ms = 0.0
        self.looks = 0

    def cpu_used_ms(self) -> float:
        self.used_ms += BUSY_BOT_MS
        return self.used_ms

    def freeze(self) -> None:
        """Hold nobody."""

    def thaw(self) -> None:
        """Let go of nobody."""

    def kill(self) -> bool:
        """Leave that to the engine."""
        return False

    def has_threads(self) -> bool:
        """The bot dies as slowly as `looks` says."""
        self.looks -= 1
        return self.looks >= 0

    def close(self) -> None:
        """There is nothing to give back."""


async def call(function: Callable[[], T], /) -> T:
    return function()


def container(engine: Engine, folder: Path, group: FrozenGroup | None = None) -> Container:
    made_up = cast("APIClient", engine)
    submission = Submission("bot", "Tests", "", folder, ("true",), "python")
    return Container(
        made_up, "id", submission, Limits(), folder / "sockets", EngineOutput(made_up, "id"), None,
        cast("Group | None", group),
        address=folder / "bot.sock", network=None, call=call, forget=lambda _: None,
    )  # fmt: skip


async def test_a_bot_that_takes_long_to_die_is_waited_for(tmp_path: Path) -> None:
    engine = Engine(survives=5)
    assert await container(engine, tmp_path).stop() == b"its last words"
    assert engine.asked == ["kill"] * 6 + ["wait", "remove"]


async def test_a_bot_that_has_ended_of_itself_is_not_killed_again(tmp_path: Path) -> None:
    engine = Engine(survives=1, status=409)
    await container(engine, tmp_path).stop()
    assert engine.asked == ["kill", "wait", "remove"]


async def test_a_container_that_somebody_else_is_removing_is_gone_when_the_removal_returns(tmp_path: Path) -> None:
    engine = Engine(going=True)
    await container(engine, tmp_path).stop()
    assert engine.asked == ["kill", "wait", "remove", "wait until removed"]


async def test_a_bot_that_never_dies_is_a_failure_of_ours_in_the_end(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="ending bot: the Docker engine refused: did not receive an exit event"):
        await container(Engine(survives=10_000), tmp_path).stop()


async def test_a_kill_that_the_engine_refuses_for_another_reason_is_not_tried_again(tmp_path: Path) -> None:
    engine = Engine(survives=1, status=400)
    with pytest.raises(SandboxError):
        await container(engine, tmp_path).stop()
    assert engine.asked == ["kill"]


async def test_a_frozen_bot_that_burns_on_in_the_kernel_gets_a_tiny_share_and_its_own_to_die_with(
    tmp_path: Path,
) -> None:
    engine = Engine()
    bot = container(engine, tmp_path, FrozenGroup())
    for _ in range(3):
        bot.rest()
        bot.wake()
        await asyncio.sleep(0)
    assert engine.asked == ["shares 2"]
    await bot.stop()
    assert engine.asked == ["shares 2", "shares 512", "kill", "wait", "remove"]


async def test_processes_that_outlive_their_container_are_waited_for(tmp_path: Path) -> None:
    group = FrozenGroup()
    group.looks = 3
    await container(Engine(), tmp_path, group).stop()
    assert group.looks == -1  # asked until none was left


async def test_a_bot_whose_processes_have_ended_is_told_to_have_ended_once_the_engine_knows(tmp_path: Path) -> None:
    engine = Engine(tells_late=3)
    state = await container(engine, tmp_path, FrozenGroup()).state()
    assert (state.running, state.exit_code) == (False, 3)
    assert engine.asked == ["look"] * 4


async def test_of_a_bot_that_lives_the_engine_is_asked_once(tmp_path: Path) -> None:
    engine, group = Engine(tells_late=3), FrozenGroup()
    group.looks = 1
    assert (await container(engine, tmp_path, group).state()).running
    assert engine.asked == ["look"]
