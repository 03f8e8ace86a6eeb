"""One try to reach a bot: a connection to its own process, or why there is none."""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from referee.errors import SandboxError
from referee.model import Submission
from referee.players.dial import dial
from referee.players.handover import may_come
from referee.ports import Address
from tests.support.descriptors import no_more_descriptors, open_descriptors
from tests.support.own_port import own_port
from tests.support.players import FakeBot

LISTENER = """
import socket, sys, time
listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
listener.bind(sys.argv[1])
listener.listen(0)
print("listening", flush=True)
time.sleep(60)
"""

HANDING = """
import array, errno, socket, sys, time
listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
listener.bind(sys.argv[1])
listener.listen(1)
print("listening", flush=True)
caller, _ = listener.accept()
try:
    caller.sendmsg([b"taken"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))])
except OSError as error:
    caller.sendall(errno.errorcode[error.errno].encode())
time.sleep(60)
"""
PATIENCE_S = 30.0


class Callee(FakeBot):
    """A bot at an address, whose processes are the given ones."""

    def __init__(self, address: Address, *pids: int) -> None:
        super().__init__(Submission("callee", "Tests", "", Path("/nowhere"), ("true",), "python"))
        self.address = address
        self.pids = pids

    def owns(self, pid: int) -> bool:
        return pid in self.pids


@pytest.fixture
def path() -> Iterator[Path]:
    """Where a bot is to listen; short, as sockets' paths have to be."""
    with tempfile.TemporaryDirectory(prefix="dial-") as folder:
        yield Path(folder) / "bot.sock"


@contextmanager
def listening(path: Path, code: str = LISTENER) -> Iterator[int]:
    """A process that listens there: its id."""
    process = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process, process.stdout as said:
        assert said.readline() == b"listening\n"
        try:
            yield process.pid
        finally:
            process.kill()


async def obstacle(bot: FakeBot) -> str:
    """Why a bot cannot be reached; no descriptor may be left of the try."""
    before = open_descriptors()
    reached = await dial(bot)
    assert isinstance(reached, str), "it was reached"
    assert open_descriptors() <= before
    return reached


async def test_a_bot_that_listens_itself_is_reached_by_a_connection_that_never_blocks(path: Path) -> None:
    with listening(path) as pid:
        before = open_descriptors()
        reached = await dial(Callee(path, pid))
        assert isinstance(reached, socket.socket)
        with reached:
            assert reached.gettimeout() == 0
            assert reached.getpeername() == str(path)
            assert len(open_descriptors() - before) == 1


async def test_where_the_kernel_can_refuse_them_no_open_files_are_taken_from_a_bot(path: Path) -> None:
    with listening(path, HANDING) as pid:
        reached = await dial(Callee(path, pid))
        assert isinstance(reached, socket.socket)
        with reached:
            if may_come(reached):
                pytest.skip("this kernel is older than Linux 6.16")
            reached.settimeout(PATIENCE_S)
            assert reached.recv(100) == b"EPERM"


async def test_a_socket_that_another_process_listens_on_is_not_the_bot(path: Path) -> None:
    with listening(path) as pid:
        why = await obstacle(Callee(path, pid + 1))
    assert why == "expected the bot's own process to listen, got one of another"


async def test_a_socket_that_the_referee_listens_on_is_no_bot_whatever_the_sandbox_says(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        why = await obstacle(Callee(path, os.getpid(), 0))
    assert why == "expected the bot's own process to listen, got one of another"


def test_a_link_is_not_followed_not_even_to_the_bots_own_socket(path: Path) -> None:
    other = path.with_name("other.sock")
    path.symlink_to(other)
    with listening(other) as pid:
        assert asyncio.run(obstacle(Callee(path, pid))) == "what it put there is a link and no socket"
    assert asyncio.run(obstacle(Callee(path))) == "what it put there is a link and no socket"


def test_what_is_no_socket_is_not_opened(path: Path) -> None:
    os.mkfifo(path)
    assert asyncio.run(obstacle(Callee(path))) == "what it put there is no socket"
    path.unlink()
    path.write_text("")
    assert asyncio.run(obstacle(Callee(path))) == "what it put there is no socket"
    path.unlink()
    path.mkdir()
    assert asyncio.run(obstacle(Callee(path))) == "what it put there is no socket"


async def test_a_socket_that_nobody_listens_on_or_that_is_not_there_is_told_apart(path: Path) -> None:
    assert await obstacle(Callee(path)) == "it is not there"
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))
        assert await obstacle(Callee(path)) == "it is there, but nobody listens"


async def test_a_socket_for_datagrams_is_the_bots_doing_and_no_failure_of_ours(path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bound:
        bound.bind(str(path))
        assert await obstacle(Callee(path)) == "it is there, but it is no stream socket"


def test_a_folder_that_has_become_something_else_is_the_bots_doing(path: Path) -> None:
    path.write_text("")
    assert asyncio.run(obstacle(Callee(path / "bot.sock"))) == "Not a directory"


async def test_a_bot_that_takes_no_callers_does_not_hold_up_the_referee(path: Path) -> None:
    with listening(path) as pid:
        bot = Callee(path, pid)
        taken = []
        while isinstance(reached := await dial(bot), socket.socket):
            taken.append(reached)
            assert len(taken) < 10
        for each in taken:
            each.close()
    assert reached == "it is there, but no caller is taken"


async def test_a_want_of_descriptors_is_a_failure_of_ours(path: Path) -> None:
    with listening(path) as pid:
        bot = Callee(path, pid)
        with no_more_descriptors(), pytest.raises(SandboxError, match="cannot call callee: Too many open files"):
            await dial(bot)


@contextmanager
def port(backlog: int = 5) -> Iterator[tuple[socket.socket, tuple[str, int]]]:
    with socket.create_server(("127.0.0.1", 0), backlog=backlog) as server:
        server.settimeout(PATIENCE_S)
        yield server, ("127.0.0.1", server.getsockname()[1])


async def test_a_port_that_somebody_listens_on_is_reached_whether_or_not_it_speaks_first() -> None:
    for greeting in (b"hello", b""):
        with port() as (server, address):
            dialling = asyncio.create_task(dial(Callee(address)))
            await asyncio.sleep(0)  # it calls
            taken, _ = server.accept()
            with taken:
                taken.sendall(greeting)
                reached = await dialling
                assert isinstance(reached, socket.socket)
                with reached:
                    assert reached.gettimeout() == 0
                    assert reached.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                    taken.sendall(b"!")
                    reached.settimeout(10)
                    assert reached.recv(100).startswith(greeting or b"!")


async def test_a_port_that_nobody_listens_on_is_not_reached() -> None:
    with own_port() as number:
        assert await obstacle(Callee(("127.0.0.1", number))) == "it is there, but nobody listens"


async def test_a_port_whose_other_end_hangs_up_at_once_is_an_engines_own() -> None:
    with port() as (server, address):
        dialling = asyncio.create_task(dial(Callee(address)))
        await asyncio.sleep(0)  # it calls
        server.accept()[0].close()  # before it can look
        assert await dialling == "it is there, but nobody listens"
