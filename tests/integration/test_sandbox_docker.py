import asyncio
import os
import secrets
import shutil
import socket
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
from docker import APIClient

from referee.errors import ConfigError, EngineGone, SandboxError
from referee.limits import Limits, Reach
from referee.model import Submission
from referee.sandbox.docker import BOT_LABEL, LEAGUE_LABEL, RUN_LABEL, DockerSandbox
from referee.sandbox.engine import connect
from referee.sandbox.folders import RunFolder, base_folder
from referee.sandbox.run import Run
from tests.support.sandboxed import (
    PATIENCE_S,
    EngineProxy,
    another_referee,
    ended,
    listening,
    logged,
    script,
)

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("runtime_image")]

OUR_NETWORK = str(Path("/proc/self/ns/net").readlink())
LISTEN = """
import os, socket, time
server = socket.socket(socket.AF_UNIX)
server.bind(os.environ["TREELINGS_SOCKET"])
os.chmod(os.environ["TREELINGS_SOCKET"], 0o666)
server.listen()
print("listening")
time.sleep(60)
"""
REFEREE = """
import asyncio, sys
from pathlib import Path
from referee.model import Submission
from referee.sandbox.docker import DockerSandbox

async def main():
    sandbox = DockerSandbox(league="killed")
    await sandbox.open()
    bot = await sandbox.start(Submission("b", "a", "v", Path(sys.argv[1]), ("python", "bot.py"), "python"), "m")
    print(sandbox.run, bot.id, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.fixture
async def sandbox() -> AsyncIterator[DockerSandbox]:
    sandbox = DockerSandbox(league=f"test-{secrets.token_hex(4)}")
    await sandbox.open()
    yield sandbox
    await sandbox.close()


async def output(sandbox: DockerSandbox, folder: Path, code: str) -> list[str]:
    """The lines that a bot prints before it ends well."""
    return await printed(sandbox, script(folder, code))


async def printed(sandbox: DockerSandbox, submission: Submission) -> list[str]:
    """The same, of a script that is there."""
    bot = await sandbox.start(submission, "match")
    state = await ended(bot)
    log = await bot.log_tail()
    assert state.exit_code == 0, log
    return log.splitlines()


def tried(*statements: str, prelude: str = "import os, socket") -> str:
    """A bot that tries each statement and prints the name of its error, or "done"."""
    lines = [prelude, "def attempt(statement):", "    try:", "        exec(statement)"]
    lines += ["    except OSError as error:", "        print(os.strerror(error.errno))"]
    lines += ["    else:", "        print('done')"]
    return "\n".join(lines + [f"attempt({statement!r})" for statement in statements])


async def test_a_bot_listens_on_the_socket_that_it_was_given(sandbox: DockerSandbox, tmp_path: Path) -> None:
    bot = await sandbox.start(script(tmp_path, LISTEN), "match")
    await listening(bot)

    assert (await bot.state()).running
    assert len(os.fsencode(bot.socket)) < 100


async def test_a_bot_has_the_kit_and_grpc_works_with_threads_and_asyncio(
    sandbox: DockerSandbox, tmp_path: Path
) -> None:
    code = """
        import asyncio, os, threading
        from concurrent.futures import ThreadPoolExecutor
        import grpc, grpc.aio, treelings

        address = "unix:" + os.environ["TREELINGS_SOCKET"]

        class Echo(grpc.GenericRpcHandler):
            def service(self, details):
                return grpc.stream_stream_rpc_method_handler(lambda requests, context: requests)

        server = grpc.server(ThreadPoolExecutor(4))
        server.add_generic_rpc_handlers((Echo(),))
        server.add_insecure_port(address)
        server.start()

        async def talk():
            async with grpc.aio.insecure_channel(address) as channel:
                call = channel.stream_stream("/a/b")(iter([b"one", b"two"]))
                return [answer async for answer in call]

        print(asyncio.run(talk()))
        server.stop(0).wait()
        print(treelings.GUILDS)
    """
    assert await output(sandbox, tmp_path, code) == ["[b'one', b'two']", "ROYGBP"]


async def test_nothing_but_tmp_the_small_shared_memory_and_the_socket_folder_can_be_written(
    sandbox: DockerSandbox, tmp_path: Path
) -> None:
    code = tried(
        *(f"open('{folder}/file', 'w')" for folder in ("", "/bot", "/usr", "/root", "/var/tmp", "/run", "/etc")),
        *(f"open('{folder}/file', 'w')" for folder in ("/tmp", "/dev/shm", "/run/treelings")),
    )
    lines = await output(sandbox, tmp_path, code)

    assert set(lines[:7]) <= {"Read-only file system", "Permission denied"}
    assert lines[7:] == ["done"] * 3


async def test_only_unix_sockets_can_be_made(sandbox: DockerSandbox, tmp_path: Path) -> None:
    families = ("AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK", "AF_ALG", "AF_UNIX")
    code = tried(*(f"socket.socket(socket.{family}, socket.SOCK_DGRAM)" for family in families[:4]),
                 *(f"socket.socket(socket.{family}, socket.SOCK_STREAM)" for family in families[4:]))  # fmt: skip

    assert await output(sandbox, tmp_path, code) == ["Address family not supported by protocol"] * 6 + ["done"]


async def test_there_is_no_network_but_the_loopback(sandbox: DockerSandbox, tmp_path: Path) -> None:
    assert await output(sandbox, tmp_path, "import os; print(os.listdir('/sys/class/net'))") == ["['lo']"]


async def test_of_what_other_bots_do_in_their_network_nothing_is_seen(sandbox: DockerSandbox, tmp_path: Path) -> None:
    """A name that is bound and queued where no process has it open any more would stay as long as its namespace."""
    leave = """
        import os, socket, sys, time
        os.chdir("/run/treelings")
        kept, queue = socket.socketpair()
        name = socket.socket(socket.AF_UNIX)
        name.bind(bytes(1) + b"left behind")
        name.listen()
        socket.send_fds(kept, [b"x"], [name.fileno(), kept.fileno(), queue.fileno()])
        server = socket.socket(socket.AF_UNIX)
        server.bind(os.environ["TREELINGS_SOCKET"])
        server.listen()
        for word in ("net.unix.max_dgram_qlen", "net.core.somaxconn"):
            try:
                open("/proc/sys/" + word.replace(".", "/"), "w").write("7")
            except OSError as error:
                print(error.strerror)
        print("left" if "left behind" in open("/proc/net/unix").read() else "not there")
        if sys.argv[1:]:
            time.sleep(60)
        """
    look = """
        import os, socket
        sockets = open("/proc/net/unix").read().splitlines()[1:]
        print(len(sockets), os.readlink("/proc/self/ns/net"))
        try:
            socket.socket(socket.AF_UNIX).connect(bytes(1) + b"left behind")
        except OSError as error:
            print(error.strerror)
        print(open("/proc/sys/net/core/somaxconn").read() != "7")
        """
    (tmp_path / "stays").mkdir()
    neighbour = await sandbox.start(script(tmp_path / "stays", leave, ("python", "bot.py", "stay")), "match")
    await logged(neighbour, "left")
    (tmp_path / "before").mkdir()
    before = await output(sandbox, tmp_path / "before", leave)
    (tmp_path / "after").mkdir()
    after = await output(sandbox, tmp_path / "after", look)

    assert before == ["Read-only file system"] * 2 + ["left"]
    assert after[0].startswith("0 net:")
    assert after[0].split()[1] != OUR_NETWORK
    assert after[1:] == ["Connection refused", "True"]


async def test_an_abstract_socket_of_the_host_is_out_of_reach(sandbox: DockerSandbox, tmp_path: Path) -> None:
    name = f"treelings-test-{secrets.token_hex(4)}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0{name}")
        server.listen()
        code = tried(f"socket.socket(socket.AF_UNIX).connect('\\0{name}')")

        assert await output(sandbox, tmp_path, code) == ["Connection refused"]


async def test_a_bot_is_no_root_and_can_become_nobody_else(sandbox: DockerSandbox, tmp_path: Path) -> None:
    code = """
        import os
        print(os.getresuid() == (os.getuid(),) * 3, os.getresgid() == (os.getgid(),) * 3, os.getgroups())
        for line in open("/proc/self/status"):
            if line.split(":")[0] in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp"):
                print(*line.split())
        print(os.getuid())
    """
    lines = await output(sandbox, tmp_path, code)

    assert lines[0] in {"True True []", f"True True [{lines[-1]}]"}
    assert dict(line.split(": ") for line in lines[1:-1]) == {
        **dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), "0" * 16), "NoNewPrivs": "1", "Seccomp": "2"
    }  # fmt: skip
    assert lines[-1] != "0"


async def test_a_root_referee_gives_each_bot_a_user_id_of_its_own_and_others_their_own(
    sandbox: DockerSandbox, tmp_path: Path
) -> None:
    submission = script(tmp_path, "import os; print(os.getuid())")
    uids = {int((await printed(sandbox, submission))[0]) for _ in range(2)}

    if os.geteuid() == 0:
        assert len(uids) == 2
        assert min(uids) >= 200_000
    else:
        assert uids == {os.geteuid()}


async def test_a_setuid_file_gives_no_rights(sandbox: DockerSandbox, tmp_path: Path) -> None:
    submission = script(tmp_path, "", command=("/bot/show",))
    shutil.copyfile("/usr/bin/id", tmp_path / "show")
    (tmp_path / "show").chmod(0o6755)
    bot = await sandbox.start(submission, "match")
    await ended(bot)

    log = await bot.log_tail()
    assert "uid=" in log
    assert "euid=" not in log
    assert "uid=0" not in log


@pytest.mark.parametrize(
    ("name", "number"),
    [("ptrace", 101), ("process_vm_readv", 310), ("io_uring_setup", 425), ("bpf", 321), ("perf_event_open", 298),
     ("keyctl", 250), ("userfaultfd", 323), ("mount", 165), ("unshare", 272), ("setns", 308), ("inotify_init1", 294),
     ("chroot", 161)],
)  # fmt: skip
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86_64")
async def test_system_calls_that_no_bot_needs_are_refused(
    sandbox: DockerSandbox, tmp_path: Path, name: str, number: int
) -> None:
    code = f"""
        import ctypes, errno
        libc = ctypes.CDLL(None, use_errno=True)
        print(libc.syscall({number}, 0, 0, 0, 0, 0), errno.errorcode[ctypes.get_errno()])
    """
    assert await output(sandbox, tmp_path, code) == ["-1 EPERM"], name


async def test_a_bot_keeps_all_its_cores_whatever_it_asks_for(sandbox: DockerSandbox, tmp_path: Path) -> None:
    code = """
        import os
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(before)})
        print(len(before), os.sched_getaffinity(0) == before)
    """
    assert await output(sandbox, tmp_path, code) == [f"{os.cpu_count()} True"]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86_64")
async def test_namespaces_cannot_be_made_by_clone_either(sandbox: DockerSandbox, tmp_path: Path) -> None:
    code = """
        import ctypes, errno
        libc = ctypes.CDLL(None, use_errno=True)
        CLONE_NEWUSER, SIGCHLD = 0x10000000, 17
        for number in (56, 435):
            print(libc.syscall(number, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0), errno.errorcode[ctypes.get_errno()])
    """
    assert await output(sandbox, tmp_path, code) == ["-1 EPERM", "-1 ENOSYS"]


async def test_a_balloon_is_ended_by_the_memory_limit(sandbox: DockerSandbox, tmp_path: Path) -> None:
    bot = await sandbox.start(script(tmp_path, "b = bytearray()\nwhile True: b.extend(bytes(1 << 24))"), "match")

    state = await ended(bot)
    assert (state.exit_code, state.out_of_memory) == (137, True)


async def test_a_bot_whose_child_was_ended_by_the_memory_limit_was_not_itself(
    sandbox: DockerSandbox, tmp_path: Path
) -> None:
    code = """
        import subprocess, sys
        first = "open('/proc/self/oom_score_adj', 'w').write('1000')"  # of two, the kernel's choice
        balloon = first + "\\nb = bytearray()\\nwhile True: b.extend(bytes(1 << 24))"
        print(subprocess.run([sys.executable, "-c", balloon]).returncode, flush=True)
        sys.exit(5)
    """
    bot = await sandbox.start(script(tmp_path, code), "match")

    state = await ended(bot)
    assert (state.exit_code, state.out_of_memory) == (5, False)
    assert await bot.log_tail() == "-9\n"


async def test_an_exit_code_of_137_alone_is_no_end_by_the_memory_limit(sandbox: DockerSandbox, tmp_path: Path) -> None:
    bot = await sandbox.start(script(tmp_path, "import sys; sys.exit(137)"), "match")

    state = await ended(bot)
    assert (state.exit_code, state.out_of_memory) == (137, False)


async def test_what_a_bot_writes_beside_its_socket_counts_as_its_memory(sandbox: DockerSandbox, tmp_path: Path) -> None:
    code = """
        with open("/run/treelings/file", "wb") as file:
            for _ in range(400):
                file.write(bytes(1 << 20))
    """
    bot = await sandbox.start(script(tmp_path, code), "match")

    assert (await ended(bot)).exit_code != 0
    await bot.stop()
    assert not bot.socket.parent.exists()


async def test_a_fork_bomb_ends_at_the_limit(sandbox: DockerSandbox, tmp_path: Path) -> None:
    code = """
        import os, time
        count = 0
        try:
            while True:
                if os.fork() == 0:
                    time.sleep(60)
                count += 1
        except BlockingIOError:
            print(count)
    """
    (line,) = await output(sandbox, tmp_path, code)
    assert 50 < int(line) < 64


async def test_tmp_is_small_in_bytes_and_files_and_runs_nothing(sandbox: DockerSandbox, tmp_path: Path) -> None:
    code = """
        import errno, os
        def until_full(write):
            count = 0
            try:
                while True:
                    write(count)
                    count += 1
            except OSError as error:
                assert error.errno == errno.ENOSPC, error
            return count

        with open("/tmp/big", "wb", buffering=0) as file:
            print(until_full(lambda _: file.write(bytes(1 << 20))))
        os.unlink("/tmp/big")
        print(until_full(lambda number: open(f"/tmp/{number}", "w").close()) <= 1024)
        os.unlink("/tmp/0")
        with open("/dev/shm/big", "wb", buffering=0) as file:
            print(until_full(lambda _: file.write(bytes(1 << 16))))
        os.truncate("/dev/shm/big", 0)
        open("/tmp/0", "w").write("#!/bin/sh")
        os.chmod("/tmp/0", 0o700)
        try:
            os.execv("/tmp/0", ["0"])
        except PermissionError:
            print("not run")
    """
    assert await output(sandbox, tmp_path, code) == ["16", "True", "16", "not run"]


async def test_open_files_and_core_dumps_are_limited(sandbox: DockerSandbox, tmp_path: Path) -> None:
    code = """
        import resource
        print(resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrlimit(resource.RLIMIT_CORE))
    """
    assert await output(sandbox, tmp_path, code) == ["(256, 256) (0, 0)"]


async def test_a_flood_of_output_is_capped_and_its_tail_is_2000_bytes(sandbox: DockerSandbox, tmp_path: Path) -> None:
    code = """
        import os
        for _ in range(20_000):
            os.write(1, b"\\xff" + b"x" * 998 + b"\\n")
        print("the end")
    """
    bot = await sandbox.start(script(tmp_path, code), "match")
    await ended(bot)
    tail = await bot.log_tail()

    assert tail.endswith("the end\n")
    assert "\ufffd" in tail
    assert 1_990 <= len(tail) <= 2_000
    assert len(await bot.stop()) == 1024**2


async def test_a_bot_sees_no_other_process_and_no_name_of_its_league(sandbox: DockerSandbox, tmp_path: Path) -> None:
    code = """
        import os, socket
        print([name for name in os.listdir("/proc") if name.isdigit()], socket.gethostname(), os.getcwd())
        print(sorted(os.environ))
    """
    assert await output(sandbox, tmp_path, code) == [
        "['1'] bot /bot",
        "['HOME', 'HOSTNAME', 'LANG', 'PATH', 'PYTHONDONTWRITEBYTECODE', 'PYTHONUNBUFFERED', 'TREELINGS_SOCKET']",
    ]


async def test_the_limits_are_those_that_were_handed_in(tmp_path: Path, engine: APIClient) -> None:
    limits = Limits(memory_bytes=64 * 1024**2, pids=16, cpus=0.5, nofile=99, tmp_bytes=1024**2, cpuset="0")
    sandbox = DockerSandbox(league=f"test-{secrets.token_hex(4)}", limits=limits, at_once=1)
    await sandbox.open()
    try:
        bot = await sandbox.start(script(tmp_path, LISTEN), "match")
        config = engine.inspect_container(bot.id)["HostConfig"]
    finally:
        await sandbox.close()

    assert config["Memory"] == config["MemorySwap"] == 64 * 1024**2
    assert (config["PidsLimit"], config["NanoCpus"], config["CpusetCpus"]) == (16, 500_000_000, "0")
    assert {each["Name"]: each["Hard"] for each in config["Ulimits"]} == {
        "nofile": 99, "core": 0, "fsize": 64 * 1024**2,
    }  # fmt: skip


async def test_every_container_is_made_with_what_holds_a_hostile_bot(
    sandbox: DockerSandbox, tmp_path: Path, engine: APIClient
) -> None:
    bot = await sandbox.start(script(tmp_path, LISTEN), "match")
    found = engine.inspect_container(bot.id)
    config, host = found["Config"], found["HostConfig"]

    assert host["NetworkMode"] == "none"
    assert config["NetworkDisabled"]
    assert host["CapDrop"] == ["ALL"]
    assert not host["CapAdd"]
    assert not host["Privileged"]
    assert host["SecurityOpt"][0] == "no-new-privileges"
    assert "SCMP_ACT_ERRNO" in host["SecurityOpt"][1]
    assert host["ReadonlyRootfs"]
    assert host["Tmpfs"] == {"/tmp": "size=16777216,nr_inodes=1024,noexec,nosuid,nodev"}
    assert host["ShmSize"] == 1024**2
    assert host["Memory"] == host["MemorySwap"] == 256 * 1024**2
    assert host["PidsLimit"] == 64
    assert {each["Name"] for each in host["Ulimits"]} == {"nofile", "core", "fsize"}  # never nproc
    assert host["LogConfig"] == {"Type": "none", "Config": {}}  # what a bot prints is none of the engine's work
    assert host["CpuShares"] == 512
    assert host["IpcMode"] == "private"
    assert not host["Init"]
    assert host["RestartPolicy"]["Name"] in {"", "no"}
    assert config["Healthcheck"] == {"Test": ["NONE"]}
    assert (config["WorkingDir"], config["Hostname"]) == ("/bot", "bot")
    assert config["User"] not in {"", "0", "0:0"}
    assert {mount["Destination"]: mount["RW"] for mount in found["Mounts"]} == {"/bot": False, "/run/treelings": True}


async def test_tmp_takes_neither_setuid_files_nor_devices(sandbox: DockerSandbox, tmp_path: Path) -> None:
    code = """
        for line in open("/proc/self/mounts"):
            where, options = line.split()[1], line.split()[3].split(",")
            if where in ("/tmp", "/dev/shm"):
                print(where, sorted({"nosuid", "nodev", "noexec"} & set(options)))
    """
    everything = "['nodev', 'noexec', 'nosuid']"
    assert sorted(await output(sandbox, tmp_path, code)) == [f"/dev/shm {everything}", f"/tmp {everything}"]


async def test_the_runtime_for_containers_is_passed_to_the_engine(tmp_path: Path, engine: APIClient) -> None:
    sandbox = DockerSandbox(league=f"test-{secrets.token_hex(4)}", limits=Limits(runtime="runc"))
    await sandbox.open()
    try:
        bot = await sandbox.start(script(tmp_path, LISTEN), "match")
        await listening(bot)
        assert engine.inspect_container(bot.id)["HostConfig"]["Runtime"] == "runc"
    finally:
        await sandbox.close()


async def test_a_runtime_for_containers_that_the_engine_does_not_have_is_refused_before_any_bot_is_run() -> None:
    sandbox = DockerSandbox(league="none", limits=Limits(runtime="none-such"))

    with pytest.raises(ConfigError, match=r"expected one that the Docker engine has \(.*runc.*\), got 'none-such'"):
        await sandbox.open()
    await sandbox.close()


async def test_a_container_carries_its_league_run_and_bot(
    sandbox: DockerSandbox, tmp_path: Path, engine: APIClient
) -> None:
    bot = await sandbox.start(script(tmp_path, LISTEN), "match")
    labels = engine.inspect_container(bot.id)["Config"]["Labels"]

    assert labels[LEAGUE_LABEL].startswith("test-")
    assert labels[RUN_LABEL] == str(sandbox.run)
    assert labels[BOT_LABEL] == "tester"


async def test_a_command_that_is_not_there_is_a_bot_that_ended(sandbox: DockerSandbox, tmp_path: Path) -> None:
    bot = await sandbox.start(script(tmp_path, "", command=("/no-such-program",)), "match")

    assert (await ended(bot)).exit_code == 127
    assert "no-such-program" in await bot.log_tail()


async def test_a_runtime_that_nobody_knows_is_refused(sandbox: DockerSandbox, tmp_path: Path) -> None:
    submission = script(tmp_path, LISTEN)
    object.__setattr__(submission, "runtime", "cobol")

    with pytest.raises(SandboxError, match=r"expected one of python, .*, got 'cobol'"):
        await sandbox.start(submission, "match")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's bots have another user id")
async def test_files_that_a_bot_could_not_read_are_our_fault(sandbox: DockerSandbox, tmp_path: Path) -> None:
    submission = script(tmp_path, LISTEN)
    (tmp_path / "bot.py").chmod(0o600)

    with pytest.raises(SandboxError, match=r"bot\.py: .* got mode 0600"):
        await sandbox.start(submission, "match")


async def test_stopping_takes_the_container_and_its_folder_away_and_may_be_done_twice(
    sandbox: DockerSandbox, tmp_path: Path, engine: APIClient
) -> None:
    code = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)" + LISTEN
    bot = await sandbox.start(script(tmp_path, code), "match")
    await logged(bot, "listening")
    await asyncio.gather(bot.stop(), bot.stop())
    await bot.stop()

    assert engine.containers(all=True, filters={"id": bot.id}) == []
    assert not bot.socket.parent.exists()
    assert not (await bot.state()).running
    assert await bot.log_tail() == "listening\n"


async def test_a_removal_goes_on_when_its_caller_is_cancelled(tmp_path: Path, engine: APIClient) -> None:
    sandbox = DockerSandbox(league=f"test-{secrets.token_hex(4)}")
    await sandbox.open()
    bot = await sandbox.start(script(tmp_path, LISTEN), "match")
    stopping = asyncio.create_task(bot.stop())
    await asyncio.sleep(0)
    stopping.cancel()
    await sandbox.close()

    assert engine.containers(all=True, filters={"id": bot.id}) == []


async def test_closing_removes_whatever_the_run_still_has(tmp_path: Path, engine: APIClient) -> None:
    sandbox = DockerSandbox(league=f"test-{secrets.token_hex(4)}")
    await sandbox.open()
    submission = script(tmp_path, LISTEN)
    await sandbox.start(submission, "match")
    cut_short = asyncio.create_task(sandbox.start(submission, "match"))
    await asyncio.sleep(0)
    cut_short.cancel()
    await sandbox.close()
    await sandbox.close()

    assert engine.containers(all=True, filters={"label": f"{RUN_LABEL}={sandbox.run}"}) == []
    assert not RunFolder("docker", sandbox.run, base_folder()).path.exists()


@pytest.mark.parametrize("reach", ["socket", "tcp"])
async def test_nothing_is_left_of_a_container_that_could_not_be_started(
    reach: Reach, tmp_path: Path, engine: APIClient
) -> None:
    sandbox = DockerSandbox(league=f"test-{secrets.token_hex(4)}", limits=Limits(nofile=1, reach=reach))
    await sandbox.open()
    try:
        with pytest.raises(SandboxError, match="too many open files"):
            await sandbox.start(script(tmp_path, LISTEN), "match")

        label = f"{RUN_LABEL}={sandbox.run}"
        assert engine.containers(all=True, filters={"label": label}) == []
        assert engine.networks(filters={"label": label}) == []
        assert list(RunFolder("docker", sandbox.run, base_folder()).path.iterdir()) == []
    finally:
        await sandbox.close()


async def test_a_container_that_somebody_else_removed_is_our_failure_not_the_bots(
    sandbox: DockerSandbox, tmp_path: Path, engine: APIClient
) -> None:
    bot = await sandbox.start(script(tmp_path, LISTEN), "match")
    engine.remove_container(bot.id, force=True)

    with pytest.raises(SandboxError, match="somebody else removed it"):
        await bot.state()
    await bot.stop()


async def test_what_a_killed_referee_left_is_swept_by_the_next(tmp_path: Path, engine: APIClient) -> None:
    folder = script(tmp_path, LISTEN).folder
    with another_referee(REFEREE, str(folder)) as referee:
        assert referee.stdout is not None
        text, container = referee.stdout.readline().split()
        referee.kill()
    run = Run.parse(text)
    assert run is not None

    sandbox = DockerSandbox(league=f"test-{secrets.token_hex(4)}")
    await sandbox.open()
    await sandbox.close()

    assert engine.containers(all=True, filters={"id": container}) == []
    assert not RunFolder("docker", run, base_folder()).path.exists()


async def test_the_sweep_leaves_living_runs_and_everybody_elses_containers_alone(
    sandbox: DockerSandbox, tmp_path: Path, engine: APIClient, runtime_image: str
) -> None:
    bot = await sandbox.start(script(tmp_path, LISTEN), "match")
    await listening(bot)
    foreign = [
        engine.create_container(runtime_image, ["python", "-c", ""], labels=labels)["Id"]
        for labels in ({}, {RUN_LABEL: "not-ours"}, {RUN_LABEL: str(Run("f" * 8, "0" * 8, 1, "1"))})
    ]
    try:
        another = DockerSandbox(league=f"test-{secrets.token_hex(4)}")
        await another.open()
        await another.close()

        assert (await bot.state()).running
        assert bot.socket.exists()
        for container in foreign:
            assert engine.inspect_container(container)["State"]["Status"] == "created"
    finally:
        for container in foreign:
            engine.remove_container(container)


async def test_a_bot_is_known_to_have_printed_while_it_runs(sandbox: DockerSandbox, tmp_path: Path) -> None:
    bot = await sandbox.start(script(tmp_path, LISTEN), "match")

    assert "listening" in await logged(bot, "listening")


async def test_without_an_engine_nothing_is_opened(tmp_path: Path) -> None:
    sandbox = DockerSandbox(league="none", connect=lambda: connect(url=f"unix://{tmp_path}/none"))

    with pytest.raises(EngineGone):
        await sandbox.open()
    await sandbox.close()


async def test_before_it_is_open_nothing_is_started(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="not open"):
        await DockerSandbox(league="none").start(script(tmp_path, LISTEN), "match")


async def test_an_engine_that_goes_silent_is_gone_within_the_timeout_of_a_call(tmp_path: Path) -> None:
    silent = tmp_path / "docker.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(silent))
        server.listen()
        # The version is given, so that the client itself comes to be.
        client = APIClient(base_url=f"unix://{silent}", version="1.41", timeout=1)
        with pytest.raises(EngineGone, match="timed out"):
            await DockerSandbox(league="none", connect=lambda: client).open()


async def test_an_engine_that_is_lost_under_a_running_bot_is_gone_for_every_call(
    tmp_path: Path, engine: APIClient
) -> None:
    async with asyncio.timeout(PATIENCE_S), EngineProxy.serve(tmp_path / "docker.sock") as proxy:
        sandbox = DockerSandbox(
            league=f"test-{secrets.token_hex(4)}", connect=lambda: connect(url=f"unix://{tmp_path}/docker.sock")
        )
        await sandbox.open()
        submission = script(tmp_path, LISTEN)
        bot = await sandbox.start(submission, "match")
        try:
            await proxy.cut()
            for call in (bot.state, bot.stop, partial(sandbox.start, submission, ""), sandbox.close):
                with pytest.raises(EngineGone, match="does not answer"):
                    await call()
        finally:
            engine.remove_container(bot.id, force=True)
            RunFolder("docker", sandbox.run, base_folder()).remove()
