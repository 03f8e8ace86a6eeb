"""What is kept of the output of bots in real containers."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from docker import APIClient

from referee.limits import Limits
from referee.sandbox.docker import DockerSandbox
from tests.support.sandboxed import ended, logged, script

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("runtime_image")]

CAP = 64 * 1024
FLOOD = """
import os, time
for number in range(20_000):
    os.write(1, b"%09d\\n" % number)
os.write(1, b"the end \\xff\\n")
time.sleep(60)
"""


@pytest.fixture
async def sandbox() -> AsyncIterator[DockerSandbox]:
    sandbox = DockerSandbox(league=f"test-{secrets.token_hex(4)}", limits=Limits(log_bytes=CAP))
    await sandbox.open()
    yield sandbox
    await sandbox.close()


async def test_stopping_a_bot_returns_all_that_it_wrote_to_stdout_and_stderr(
    sandbox: DockerSandbox, tmp_path: Path
) -> None:
    code = """
        import os, time
        os.write(1, b"out\\n")
        os.write(2, b"\\x1b[31merr without an end")
        print("written", flush=True)
        time.sleep(60)
    """
    bot = await sandbox.start(script(tmp_path, code), "match")
    await logged(bot, "written")

    log = await bot.stop()
    assert b"out\n" in log
    assert b"\x1b[31merr without an end" in log


async def test_what_a_bot_wrote_last_of_all_is_kept(sandbox: DockerSandbox, tmp_path: Path) -> None:
    bot = await sandbox.start(script(tmp_path, "import os\nfor n in range(100): os.write(1, b'%d\\n' % n)"), "match")
    await ended(bot)

    assert await bot.stop() == b"".join(b"%d\n" % number for number in range(100))


async def test_of_a_flood_the_newest_part_is_kept_and_no_more_than_the_limit(
    sandbox: DockerSandbox, tmp_path: Path
) -> None:
    bot = await sandbox.start(script(tmp_path, FLOOD), "match")
    await logged(bot, "the end")

    log = await bot.stop()
    assert len(log) <= CAP
    assert b"the end" in log
    assert b"000000000\n" not in log


async def test_stopping_twice_returns_the_same_also_at_the_same_time(sandbox: DockerSandbox, tmp_path: Path) -> None:
    bot = await sandbox.start(script(tmp_path, "print('once')"), "match")
    await ended(bot)

    one, other = await asyncio.gather(bot.stop(), bot.stop())
    assert one == other == b"once\n"
    assert await bot.stop() == b"once\n"


async def test_a_bot_that_could_not_be_executed_leaves_the_reason(sandbox: DockerSandbox, tmp_path: Path) -> None:
    bot = await sandbox.start(script(tmp_path, "", command=("/no-such-program",)), "match")

    assert b"no-such-program" in await bot.stop()


async def test_of_a_bot_that_somebody_else_removed_all_is_kept(
    sandbox: DockerSandbox, tmp_path: Path, engine: APIClient
) -> None:
    bot = await sandbox.start(script(tmp_path, "print('once')"), "match")
    await ended(bot)
    engine.remove_container(bot.id, force=True)

    assert await bot.stop() == b"once\n"


async def test_stdout_and_stderr_keep_their_order(sandbox: DockerSandbox, tmp_path: Path) -> None:
    bot = await sandbox.start(
        script(tmp_path, "import os\nfor n in range(500): os.write(1 + n % 2, b'%d\\n' % n)"), "match"
    )
    await ended(bot)

    assert (await bot.stop()).split() == [b"%d" % number for number in range(500)]


async def test_nothing_is_read_that_a_bot_puts_in_the_place_of_its_output(
    sandbox: DockerSandbox, tmp_path: Path
) -> None:
    code = """
        import os
        print("first", flush=True)
        folder = os.path.dirname(os.environ["TREELINGS_SOCKET"])
        (name,) = os.listdir(folder)
        os.unlink(f"{folder}/{name}")
        os.symlink("/etc/passwd", f"{folder}/{name}")
        print("last", flush=True)
    """
    bot = await sandbox.start(script(tmp_path, code), "match")
    await ended(bot)

    assert await bot.stop() == b"first\nlast\n"


async def test_what_a_bot_prints_counts_as_its_memory(tmp_path: Path) -> None:
    sandbox = DockerSandbox(league=f"test-{secrets.token_hex(4)}", limits=Limits(memory_bytes=48 * 1024**2))
    await sandbox.open()
    try:
        bot = await sandbox.start(script(tmp_path, "import os\nwhile True: os.write(1, b'x' * 2**20)"), "match")
        state = await ended(bot)
    finally:
        await sandbox.close()

    assert state.out_of_memory or state.exit_code == 1  # at its memory limit, or at that of a file
