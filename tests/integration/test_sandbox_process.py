import asyncio
import os
import secrets
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from referee.errors import SandboxError
from referee.limits import Limits
from referee.sandbox.folders import RunFolder, base_folder
from referee.sandbox.process import ProcessSandbox
from referee.sandbox.run import Run, process_start
from tests.support.sandboxed import another_referee, ended, gone, listening, logged, script

MB = 1024**2
LISTEN = """
import os, socket, time
server = socket.socket(socket.AF_UNIX)
server.bind(os.environ["TREELINGS_SOCKET"])
server.listen()
print("listening")
time.sleep(60)
"""
REFEREE = """
import asyncio, sys
from dataclasses import replace
from pathlib import Path
from referee.model import Submission
from referee.sandbox.process import ProcessSandbox

async def main():
    sandbox = ProcessSandbox()
    await sandbox.open()
    bot = await sandbox.start(Submission("b", "a", "v", Path(sys.argv[1]), ("python", "bot.py"), "python"), "m")
    while "ready" not in await bot.log_tail():
        await asyncio.sleep(0.01)
    print(sandbox.run, bot.pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.fixture
async def sandbox() -> AsyncIterator[ProcessSandbox]:
    sandbox = ProcessSandbox()
    await sandbox.open()
    yield sandbox
    await sandbox.close()


async def test_a_bot_listens_on_the_socket_that_it_was_given(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    bot = await sandbox.start(script(tmp_path, LISTEN), "match")
    await listening(bot)

    assert (await bot.state()).running
    assert len(os.fsencode(bot.socket)) < 100


async def test_python_is_the_referees_own(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    bot = await sandbox.start(script(tmp_path, "import sys; print(sys.executable)"), "match")
    await ended(bot)

    assert (await bot.log_tail()).strip() == sys.executable


async def test_an_exit_code_is_told(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    bot = await sandbox.start(script(tmp_path, "import sys; sys.exit(3)"), "match")

    state = await ended(bot)
    assert (state.exit_code, state.out_of_memory) == (3, False)


async def test_a_kill_is_no_end_by_the_memory_limit(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    bot = await sandbox.start(script(tmp_path, "import os; os.kill(os.getpid(), 9)"), "match")

    state = await ended(bot)
    assert (state.exit_code, state.out_of_memory) == (-9, False)


async def test_a_command_that_is_not_there_is_a_bot_that_ended(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    bot = await sandbox.start(script(tmp_path, "", command=("/no-such-program",)), "match")

    assert (await ended(bot)).exit_code == 127
    assert "no-such-program" in await bot.log_tail()


async def test_both_outputs_are_logged_and_undecodable_bytes_replaced(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    code = r"import os; os.write(1, b'one \xff\n'); os.write(2, b'two\n')"
    bot = await sandbox.start(script(tmp_path, code), "match")
    await ended(bot)

    assert await bot.log_tail() == "one \ufffd\ntwo\n"


async def test_the_log_ends_at_its_cap_and_its_tail_is_2000_bytes(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    bot = await sandbox.start(script(tmp_path, "while True: print('x' * 99999)"), "match")
    state = await ended(bot)

    assert state.exit_code == 1
    assert len(await bot.log_tail()) == 2_000
    assert (bot.socket.parent / "log").stat().st_size <= 16 * 1024**2


async def test_a_bot_inherits_no_secrets(tmp_path: Path) -> None:
    sandbox = ProcessSandbox(environment={"PATH": os.environ["PATH"], "TOKEN": "secret"})
    await sandbox.open()
    try:
        bot = await sandbox.start(script(tmp_path, "import os; print('TOKEN' in os.environ)"), "match")
        await ended(bot)
        assert await bot.log_tail() == "False\n"
    finally:
        await sandbox.close()


async def test_stopping_ends_the_children_as_well_and_leaves_nothing(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    code = """
        import signal, subprocess, sys, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        print("child", child.pid, flush=True)
        time.sleep(60)
    """
    bot = await sandbox.start(script(tmp_path, code), "match")
    child = int((await logged(bot, "child")).split()[1])
    await bot.stop()
    await bot.stop()

    assert not (await bot.state()).running
    assert not bot.socket.parent.exists()
    await gone(child)


@pytest.mark.parametrize(
    "escape",
    ["start_new_session=True", "start_new_session=True, env={}", "process_group=0, env={}"],
    ids=["a session of its own", "that and an empty environment", "a group of its own"],
)
async def test_a_child_that_left_the_group_ends_with_its_bot(
    sandbox: ProcessSandbox, tmp_path: Path, escape: str
) -> None:
    code = f"""
        import subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], {escape})
        print("child", child.pid, flush=True)
        time.sleep(60)
    """
    bot = await sandbox.start(script(tmp_path, code), "match")
    child = int((await logged(bot, "child")).split()[1])
    await bot.stop()

    assert process_start(child) in (None, "ended")


async def test_an_orphan_that_left_the_session_ends_with_its_bot(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    code = """
        import os, time
        if os.fork() == 0:
            os.setsid()
            if (orphan := os.fork()) == 0:
                time.sleep(60)
            print("orphan", orphan, flush=True)
            os._exit(0)
        os.wait()
        print("ready", flush=True)
        time.sleep(60)
    """
    bot = await sandbox.start(script(tmp_path, code), "match")
    log = (await logged(bot, "ready")).split()
    orphan = int(log[log.index("orphan") + 1])
    assert bot.owns(orphan)
    await bot.stop()

    assert process_start(orphan) in (None, "ended")


async def test_a_bot_that_ended_before_its_children_takes_them_along(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    code = """
        import subprocess, sys
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        print("child", child.pid, flush=True)
    """
    bot = await sandbox.start(script(tmp_path, code), "match")
    assert (await ended(bot)).exit_code == 0
    child = int((await bot.log_tail()).split()[1])
    assert bot.owns(child)
    await bot.stop()

    assert process_start(child) in (None, "ended")


async def test_a_bot_owns_its_own_processes_and_no_others(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    submission = script(tmp_path, LISTEN)
    one, other = [await sandbox.start(submission, "match") for _ in range(2)]
    stranger = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await stranger.wait()

    assert one.owns(one.pid)
    assert not one.owns(other.pid)
    assert not one.owns(os.getpid())
    assert not one.owns(1)
    assert not one.owns(stranger.pid)  # gone
    await one.stop()
    assert not one.owns(one.pid)


async def test_limits_that_a_user_can_set_are_set(tmp_path: Path) -> None:
    code = """
        import resource as r
        print([r.getrlimit(which) for which in (r.RLIMIT_DATA, r.RLIMIT_FSIZE, r.RLIMIT_NOFILE, r.RLIMIT_CORE)])
        print(r.getrlimit(r.RLIMIT_STACK)[0])
    """
    limits = Limits(memory_bytes=64 * MB, pids=10, tmp_bytes=2 * MB, nofile=100)
    sandbox = ProcessSandbox(limits=limits)
    await sandbox.open()
    try:
        bot = await sandbox.start(script(tmp_path, code), "match")
        await ended(bot)
        data, file, stack = 64 * MB + 10 * 8 * MB, 2 * MB, 8 * MB
        assert await bot.log_tail() == f"[({data}, {data}), ({file}, {file}), (100, 100), (0, 0)]\n{stack}\n"
    finally:
        await sandbox.close()


async def test_a_limit_that_is_lower_here_already_is_no_obstacle(tmp_path: Path) -> None:
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE)[1] > 2**20)"
    sandbox = ProcessSandbox(limits=Limits(nofile=2**31))
    await sandbox.open()
    try:
        bot = await sandbox.start(script(tmp_path, code), "match")
        await ended(bot)
        assert await bot.log_tail() == "False\n"
    finally:
        await sandbox.close()


async def test_a_memory_balloon_ends_itself(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    bot = await sandbox.start(script(tmp_path, "held = [bytearray(2**26) for _ in range(64)]"), "match")

    assert (await ended(bot)).exit_code == 1
    assert "MemoryError" in await bot.log_tail()


async def test_stopping_returns_the_newest_part_of_the_log(tmp_path: Path) -> None:
    code = """
        import os
        block = b"x" * 65_535 + b"\\n"
        try:
            for _ in range(2**30 // len(block)):
                os.write(1, block)
        except OSError:
            os.ftruncate(1, 2_000_000)
        os.write(1, b"the end\\n")
    """
    limits = Limits(tmp_bytes=4 * MB, log_bytes=100_000)
    sandbox = ProcessSandbox(limits=limits)
    await sandbox.open()
    try:
        bot = await sandbox.start(script(tmp_path, code), "match")
        await ended(bot)
        log = await bot.stop()
        assert len(log) == 100_000
        assert log.endswith(b"xthe end\n")
        assert await bot.stop() == log
    finally:
        await sandbox.close()


async def test_what_a_bot_puts_in_its_logs_place_is_not_read(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a secret")
    code = f"""
        import os
        folder = os.path.dirname(os.environ["TREELINGS_SOCKET"])
        os.remove(folder + "/log")
        os.symlink({str(tmp_path / "secret")!r}, folder + "/log")
        print("mine")
    """
    bot = await sandbox.start(script(tmp_path, code), "match")
    await ended(bot)

    assert await bot.log_tail() == "mine\n"
    assert await bot.stop() == b"mine\n"


async def test_processor_time_is_told_for_a_bot_and_for_each_of_its_threads(
    sandbox: ProcessSandbox, tmp_path: Path
) -> None:
    code = """
        import subprocess, sys, threading, time
        def burn():
            while time.thread_time() < 0.2:
                pass
        gone = threading.Thread(target=burn)
        gone.start()
        gone.join()
        child = subprocess.Popen([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.3: pass"])
        child.wait()
        living = threading.Thread(target=lambda: (burn(), print("ready", flush=True), time.sleep(60)))
        living.start()
        living.join()
    """
    bot = await sandbox.start(script(tmp_path, code), "match")
    await logged(bot, "ready")
    used, times = bot.cpu_used_ms(), bot.cpu_times()
    assert used is not None
    assert times is not None
    assert used >= 680  # two threads and a child, whose time is counted in hundredths of a second
    assert times.used_ms >= 680
    assert len(times.threads) == 3  # the bot's two that live, and its watcher
    assert max(ran for ran, _ in times.threads.values()) >= 190
    assert all(waited >= 0 for _, waited in times.threads.values())
    await bot.stop()
    assert bot.cpu_used_ms() is None
    assert bot.cpu_times() is None


async def test_closing_ends_what_still_runs_and_removes_the_runs_folder(tmp_path: Path) -> None:
    sandbox = ProcessSandbox()
    await sandbox.open()
    bot = await sandbox.start(script(tmp_path, LISTEN), "match")
    await listening(bot)
    await sandbox.close()
    await sandbox.close()

    assert not (await bot.state()).running
    assert not bot.socket.parent.parent.exists()


async def test_a_bot_that_cannot_be_removed_keeps_none_of_the_others_running(tmp_path: Path) -> None:
    sandbox = ProcessSandbox()
    await sandbox.open()
    submission = script(tmp_path, LISTEN)
    bots = [await sandbox.start(submission, "match") for _ in range(2)]
    for bot in bots:
        await listening(bot)
        folder = bot.socket.parent
        folder.rename(folder.with_name(f"{folder.name}-moved"))
        folder.write_text("no folder, which could be emptied")

    with pytest.raises(SandboxError, match="cannot remove it"):
        await sandbox.close()
    assert [process_start(bot.pid) for bot in bots] == [None, None]
    assert not bots[0].socket.parent.parent.exists()
    await sandbox.close()  # what is left of them in here


async def test_no_bot_outlives_a_referee_that_was_killed(tmp_path: Path) -> None:
    folder = script(tmp_path, "print('ready', flush=True)\nimport time\ntime.sleep(60)").folder
    with another_referee(REFEREE, str(folder)) as referee:
        assert referee.stdout is not None
        bot = int(referee.stdout.readline().split()[1])
        assert process_start(bot) is not None
        referee.kill()
    await gone(bot)


@pytest.mark.alone  # the referees of other tests would sweep it too
async def test_what_a_killed_referee_left_is_swept_by_the_next(tmp_path: Path) -> None:
    # This bot gets rid of its watcher, so it does outlive its referee.
    code = """
        import os, time
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and int(name) != os.getpid() and os.getpgid(int(name)) == os.getpgrp():
                    os.kill(int(name), 9)
            except ProcessLookupError:
                pass  # any other process, which ended just now
        print("ready", flush=True)
        time.sleep(60)
    """
    folder = script(tmp_path, code).folder
    with another_referee(REFEREE, str(folder)) as referee:
        assert referee.stdout is not None
        run, pid = referee.stdout.readline().split()
        referee.kill()
    left = base_folder() / f"treelings-process-{run}"
    assert left.is_dir()
    assert process_start(int(pid)) not in (None, "ended")

    sandbox = ProcessSandbox()
    await sandbox.open()
    await sandbox.close()

    assert not left.exists()
    await gone(int(pid))


@pytest.mark.alone  # the referees of other tests would sweep it too
async def test_a_child_that_left_its_group_is_swept_by_the_next_referee(tmp_path: Path) -> None:
    code = """
        import subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
        with open("child", "w") as file:
            file.write(str(child.pid))
        print("ready", flush=True)
        time.sleep(60)
    """
    folder = script(tmp_path, code).folder
    with another_referee(REFEREE, str(folder)) as referee:
        assert referee.stdout is not None
        referee.stdout.readline()
        referee.kill()
    child = int((tmp_path / "child").read_text())
    assert process_start(child) not in (None, "ended")

    sandbox = ProcessSandbox()
    await sandbox.open()
    await sandbox.close()

    await gone(child)


@pytest.mark.alone  # the referees of other tests would sweep it too
async def test_a_record_that_another_sweep_has_just_removed_ends_no_start(tmp_path: Path) -> None:
    left = RunFolder("process", replace(Run.new(), started="1"), base_folder())  # this process began later: it is dead
    left.create()
    (left.path / "0123abcd.process").symlink_to(tmp_path / "removed")  # is listed, and is not there to be read

    sandbox = ProcessSandbox()
    await sandbox.open()
    await sandbox.close()

    assert not left.path.exists()


async def test_a_living_runs_bots_are_left_alone(sandbox: ProcessSandbox, tmp_path: Path) -> None:
    bot = await sandbox.start(script(tmp_path, LISTEN), "match")
    await listening(bot)

    another = ProcessSandbox()
    await another.open()
    await another.close()

    assert (await bot.state()).running
    assert bot.socket.exists()


async def test_a_process_that_got_a_leftovers_pid_is_left_alone(tmp_path: Path) -> None:
    dead = Run("f" * 8, Run.new().where, os.getpid(), "1")
    folder = base_folder() / f"treelings-process-{dead}"
    made = base_folder() / f"tests-{secrets.token_hex(4)}"
    made.mkdir(mode=0o700)
    (made / "00000000.process").write_text(f"{os.getpid()} 1")
    made.rename(folder)  # from now on the referees of other tests sweep it, too
    sandbox = ProcessSandbox()
    await sandbox.open()  # would end the test run, were it to trust the pid alone
    await sandbox.close()

    assert not folder.exists()
