"""Waiting, owning and processor time of bots in real containers."""

import asyncio
import os
import secrets
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from docker import APIClient

from referee.errors import SandboxError
from referee.limits import Limits
from referee.sandbox.cgroup import find_group
from referee.sandbox.container import Container
from referee.sandbox.docker import DockerSandbox
from referee.sandbox.folders import RunFolder, base_folder
from referee.sandbox.run import Run
from referee.sandbox.waiting import Hold
from tests.support.sandboxed import PATIENCE_S, another_referee, ended, logged, peer_of, script

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("runtime_image")]
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="freezing takes root")

IDLE = "import time\ntime.sleep(60)"
BURNER = """
import os, threading
for _ in range(3):
    if os.fork() == 0:
        break
print("burning", flush=True)
while True:
    pass
"""
REFEREE = """
import asyncio, sys
from pathlib import Path
from referee.model import Submission
from referee.sandbox.docker import DockerSandbox

async def main():
    sandbox = DockerSandbox(league="killed", hold="frozen")
    await sandbox.open()
    bot = await sandbox.start(Submission("b", "a", "v", Path(sys.argv[1]), ("python", "bot.py"), "python"), "m")
    bot.rest()
    print(sandbox.run, bot.id, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""
NOBODY = 65_534


@pytest.fixture
async def frozen() -> AsyncIterator[DockerSandbox]:
    sandbox = DockerSandbox(league=f"test-{secrets.token_hex(4)}", hold="frozen")
    await sandbox.open()
    yield sandbox
    await sandbox.close()


@pytest.fixture
async def shared() -> AsyncIterator[DockerSandbox]:
    limits = Limits(cpuset="0", cpus=0.8)
    sandbox = DockerSandbox(league=f"test-{secrets.token_hex(4)}", limits=limits, at_once=10, hold="shared")
    await sandbox.open()
    yield sandbox
    await sandbox.close()


async def until(happened: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not happened():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


def only_version_2(pid: int, proc: Path) -> Path:
    """/proc of a machine that has nothing but version 2, made of what this one has."""
    for place, wanted in ((f"{pid}/cgroup", "0::"), ("self/mountinfo", " - cgroup2 ")):
        lines = [line for line in Path("/proc", place).read_text().splitlines() if wanted in line]
        (proc / place).parent.mkdir(parents=True)
        (proc / place).write_text("\n".join(lines) + "\n")
    return proc


async def held(used_ms: Callable[[], float | None]) -> float:
    """What a burner has used, once it uses no more; each of its threads has to get to a core to be held there."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            before = used_ms()
            await asyncio.sleep(0.5)
            if before is not None and used_ms() == before:
                return before


async def uses_more(bot: Container, than: float) -> None:
    await until(lambda: (bot.cpu_used_ms() or 0) > than)


def pid_of(engine: APIClient, bot: Container) -> int:
    return int(engine.inspect_container(bot.id)["State"]["Pid"])


@AS_ROOT
async def test_a_bot_that_rests_uses_no_processor_time_until_it_is_woken(frozen: DockerSandbox, tmp_path: Path) -> None:
    bot = await frozen.start(script(tmp_path, BURNER), "match")
    await uses_more(bot, 50)
    bot.rest()
    at_rest = await held(bot.cpu_used_ms)
    bot.wake()
    await uses_more(bot, at_rest + 50)


@AS_ROOT
async def test_with_the_freezer_a_bot_has_all_that_its_limits_allow(
    frozen: DockerSandbox, tmp_path: Path, engine: APIClient
) -> None:
    bot = await frozen.start(script(tmp_path, IDLE), "match")

    assert engine.inspect_container(bot.id)["HostConfig"]["NanoCpus"] == 1_000_000_000
    assert bot.limits == Limits()


@AS_ROOT
async def test_a_frozen_bot_is_ended_and_its_log_is_kept(
    frozen: DockerSandbox, tmp_path: Path, engine: APIClient
) -> None:
    bot = await frozen.start(script(tmp_path, BURNER), "match")
    await logged(bot, "burning")
    bot.rest()

    assert b"burning" in await bot.stop()
    assert engine.containers(all=True, filters={"id": bot.id}) == []


@AS_ROOT
async def test_a_bot_that_is_being_ended_cannot_be_frozen_again(frozen: DockerSandbox, tmp_path: Path) -> None:
    bot = await frozen.start(script(tmp_path, BURNER), "match")
    stopping = asyncio.create_task(bot.stop())
    await asyncio.sleep(0)
    bot.rest()

    async with asyncio.timeout(PATIENCE_S):
        await stopping


@AS_ROOT
async def test_what_a_killed_referee_left_frozen_is_swept_by_the_next(tmp_path: Path, engine: APIClient) -> None:
    folder = script(tmp_path, BURNER).folder
    with another_referee(REFEREE, str(folder)) as referee:
        assert referee.stdout is not None
        text, container = referee.stdout.readline().split()
        assert engine.inspect_container(container)["State"]["Running"]
        referee.kill()  # and from now on the referees of other tests sweep too
    run = Run.parse(text)
    assert run is not None

    sandbox = DockerSandbox(league=f"test-{secrets.token_hex(4)}")
    await sandbox.open()
    await sandbox.close()

    assert engine.containers(all=True, filters={"id": container}) == []
    assert not RunFolder("docker", run, base_folder()).path.exists()


@AS_ROOT
async def test_a_bot_that_somebody_else_removed_needs_no_more_from_us(
    frozen: DockerSandbox, tmp_path: Path, engine: APIClient
) -> None:
    bot = await frozen.start(script(tmp_path, IDLE), "match")
    engine.remove_container(bot.id, force=True)

    bot.rest()
    bot.wake()
    assert await bot.stop() == b""


@pytest.mark.parametrize("hold", [pytest.param("frozen", marks=AS_ROOT), "watched", "shared"])
async def test_what_is_asked_of_a_bot_that_has_ended_does_nothing(tmp_path: Path, hold: Hold) -> None:
    sandbox = DockerSandbox(league=f"test-{secrets.token_hex(4)}", hold=hold)
    await sandbox.open()
    try:
        bot = await sandbox.start(script(tmp_path, "print('gone')"), "match")
        await ended(bot)
        bot.rest()
        bot.wake()
        await until(lambda: bot.cpu_used_ms() is None)  # its group goes at about the time when its end is told
        assert bot.cpu_times() is None
        assert await bot.stop() == b"gone\n"
    finally:
        await sandbox.close()


@AS_ROOT
async def test_groups_of_version_2_are_frozen_by_the_kernel_too(
    shared: DockerSandbox, tmp_path: Path, engine: APIClient
) -> None:
    (folder := tmp_path / "bot").mkdir()
    bot = await shared.start(script(folder, BURNER), "match")
    pid = pid_of(engine, bot)
    proc = only_version_2(pid, tmp_path / "proc")
    group = find_group(bot.id, pid, proc)
    if group is None:
        pytest.skip("version 2 is not mounted here, or the engine makes no groups of it")
    group.prepare_freezer()
    try:
        await until(lambda: (group.cpu_used_ms() or 0) > 50)
        group.freeze()
        at_rest = await held(group.cpu_used_ms)
        group.thaw()
        await until(lambda: (group.cpu_used_ms() or 0) > at_rest + 20)
    finally:
        group.thaw()
        group.close()


async def test_a_bot_that_does_not_rest_gets_a_tiny_share_for_good_and_one_that_does_keeps_its_own(
    tmp_path: Path, engine: APIClient
) -> None:
    sandbox = DockerSandbox(league=f"test-{secrets.token_hex(4)}", hold="watched")
    await sandbox.open()
    try:
        (restless := tmp_path / "restless").mkdir()
        (restful := tmp_path / "restful").mkdir()
        burner = await sandbox.start(script(restless, BURNER), "match")
        sleeper = await sandbox.start(script(restful, "print('asleep', flush=True)\n" + IDLE), "match")
        await logged(burner, "burning")
        await logged(sleeper, "asleep")

        def host_config(bot: Container) -> dict[str, Any]:
            config: dict[str, Any] = engine.inspect_container(bot.id)["HostConfig"]
            return config

        assert host_config(burner)["NanoCpus"] == 1_000_000_000
        burner.rest()
        sleeper.rest()
        await until(lambda: host_config(burner)["CpuShares"] == 2)
        burner.wake()
        assert host_config(burner)["CpuShares"] == 2
        assert host_config(sleeper)["CpuShares"] == 512
    finally:
        await sandbox.close()


@pytest.mark.alone  # on a busy core it may never get as much as its share, and so is never held back
async def test_where_the_cores_are_shared_a_bot_has_its_share_whether_it_is_to_rest_or_not(
    shared: DockerSandbox, tmp_path: Path, engine: APIClient
) -> None:
    bot = await shared.start(script(tmp_path, BURNER), "match")
    config = engine.inspect_container(bot.id)["HostConfig"]
    bot.rest()

    assert config["NanoCpus"] == 100_000_000  # of one core, between ten
    assert bot.limits.cpus == 0.1  # and so nobody takes what is beyond it for time that was lost
    await until(lambda: bool((times := bot.cpu_times()) and times.throttled_ms > 0))


async def test_a_bot_owns_its_own_processes_and_neither_its_neighbours_nor_the_referees(
    shared: DockerSandbox, tmp_path: Path
) -> None:
    code = """
        import os, socket, time
        server = socket.socket(socket.AF_UNIX)
        server.bind(os.environ["TREELINGS_SOCKET"])
        os.chmod(os.environ["TREELINGS_SOCKET"], 0o666)
        os.fork()
        server.listen()  # by either of two processes; the last one is whom the kernel names
        time.sleep(60)
    """
    bots = script(tmp_path, code)  # once: to write it again empties the file that the first one may be reading
    one, other = [await shared.start(bots, "match") for _ in range(2)]
    listener, neighbour = await peer_of(one), await peer_of(other)

    assert one.owns(listener)
    assert not one.owns(neighbour)
    assert other.owns(neighbour)
    assert not other.owns(listener)
    assert not one.owns(os.getpid())
    assert not one.owns(0)
    await one.stop()
    assert not one.owns(listener)


async def test_what_a_thread_had_of_a_core_and_what_it_waited_for_is_told(tmp_path: Path) -> None:
    core = str(min(os.sched_getaffinity(0)))
    limits = Limits(cpuset=core)
    sandbox = DockerSandbox(league=f"test-{secrets.token_hex(4)}", limits=limits, at_once=1)
    await sandbox.open()
    try:
        bot = await sandbox.start(script(tmp_path, "import time\ntime.sleep(0.1)\nwhile True: pass"), "match")
        await until(lambda: bool((times := bot.cpu_times()) and times.used_ms > 1_000))
        with burners(int(core)):
            before = bot.cpu_times()
            assert before is not None
            ((thread, (ran, waited)),) = before.threads.items()
            assert before.used_ms == pytest.approx(ran, abs=500)  # what has started it is in its group, too

            def lost_100_ms() -> bool:
                now = bot.cpu_times()
                return now is not None and now.threads[thread][1] > waited + 100

            await until(lost_100_ms)
        after = bot.cpu_times()
        assert after is not None
        assert after.threads[thread][0] > ran
    finally:
        await sandbox.close()


@contextmanager
def burners(core: int) -> Iterator[None]:
    """Two processes that want all of a core, and end by themselves should nobody end them."""
    code = f"import os, time\nos.sched_setaffinity(0, {{{core}}})\nwhile time.process_time() < 20: pass"
    processes = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@AS_ROOT
async def test_an_ordinary_user_can_read_but_not_freeze(
    shared: DockerSandbox, tmp_path: Path, engine: APIClient
) -> None:
    bot = await shared.start(script(tmp_path, BURNER), "match")
    pid = pid_of(engine, bot)
    await uses_more(bot, 1)
    os.seteuid(NOBODY)
    try:
        group = find_group(bot.id, pid)
        assert group is not None
        used, times, owns = group.cpu_used_ms(), group.cpu_times(), group.owns(pid)
        with pytest.raises(SandboxError, match="Permission denied"):
            group.prepare_freezer()
        group.close()
    finally:
        os.seteuid(0)

    assert used is not None
    assert used > 0
    assert times is not None
    assert pid in times.threads
    assert owns
