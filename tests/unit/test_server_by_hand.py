"""A bot that its author runs himself: `serve(..., listen=...)`, for as many games and referees as come."""

import os
import pty
import signal
import socket
import subprocess
import sys
import termios
import textwrap
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import grpc
import pytest

from tests.support.bot_client import FIRST, PATIENCE_S, Client, choosing
from tests.support.own_port import own_port

BY_HAND = ("serve(First)", 'serve(First, listen="127.0.0.1:0")')
WITHOUT = {name: value for name, value in os.environ.items() if not name.startswith("TREELINGS_")}

NOT_AT_ONCE_S = 0.5

CRASHES_UNLESS_LUCKY = """
    import treelings

    class First(treelings.Bot):
        def start(self, game): self.index = 0 if game.game == "lucky" else 999
        def choose(self, view): return view.legal_moves[self.index]

    treelings.serve(First)
"""


@pytest.fixture
def bot(tmp_path: Path) -> Iterator[Callable[[str], Client]]:
    """Runs a bot's source by hand, listening on a free port; its client knows the address that it tells."""
    clients: list[Client] = []

    def start(source: str) -> Client:
        (tmp_path / "bot.py").write_text(textwrap.dedent(source).replace(*BY_HAND))
        process = subprocess.Popen(
            [sys.executable, "bot.py"], cwd=tmp_path, env=WITHOUT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stderr is not None
        told = process.stderr.readline()
        command = process.stderr.readline().strip()
        address = command.rpartition("=")[2]
        clients.append(Client(process, address))
        assert told == f"First listens on {address}, until Ctrl-C. In another terminal:\n"
        assert command == f"treelings match random --attach first={address}"
        return clients[-1]

    yield start
    for client in clients:
        client.end()


def test_it_tells_where_it_listens_and_serves_one_referee_after_the_other(bot: Callable[[str], Client]) -> None:
    client = bot(FIRST)
    again = Client(client.process, client.address)
    for referee in (client, again):
        referee.game().play()
        referee.game().play()
        referee.close()


@pytest.mark.parametrize("host", ["localhost", "[::1]", "0.0.0.0", "[::]"])
def test_it_listens_on_all_that_a_host_stands_for(bot: Callable[[str], Client], host: str) -> None:
    if ":" in host and not has_ipv6():
        pytest.skip("this machine has no IPv6")
    client = bot(FIRST.replace("serve(First)", f'serve(First, listen="{host}:0")'))
    assert client.address.startswith(f"{host}:")
    port = client.address.rpartition(":")[2]
    for address in {"localhost": ["127.0.0.1"], "[::]": ["127.0.0.1", "[::1]"]}.get(host, [host]):
        again = Client(client.process, f"{address}:{port}")
        again.game().play()
        again.close()


def test_a_referee_that_is_gone_in_mid_game_leaves_it_fit_for_the_next(bot: Callable[[str], Client]) -> None:
    client = bot(FIRST)
    gone = Client(client.process, client.address)
    gone.game().ask()
    gone.close()
    client.game().play()


def test_a_crash_is_told_with_its_traceback_and_costs_that_game_alone(bot: Callable[[str], Client]) -> None:
    client = bot(CRASHES_UNLESS_LUCKY)
    unlucky = client.game(name="unlucky")
    unlucky.ask()
    assert unlucky.failure() == (grpc.StatusCode.UNKNOWN, "IndexError: tuple index out of range")
    client.game(name="lucky").play()
    client.process.send_signal(signal.SIGINT)
    code, _, err = client.output()
    assert code == 130
    assert ", in choose" in err
    assert err.endswith("IndexError: tuple index out of range\nThat game is lost; waiting for the next one.\n")


def test_ctrl_c_ends_it_without_a_word(bot: Callable[[str], Client]) -> None:
    client = bot(FIRST)
    client.game().play()
    client.process.send_signal(signal.SIGINT)
    code, out, err = client.output()
    assert (code, err) == (130, "")
    assert out.startswith("start game 0\nend festival")


def test_ctrl_c_at_a_debuggers_prompt_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(textwrap.dedent(choosing("breakpoint()")).replace(*BY_HAND))
    ours, its = pty.openpty()
    before = termios.tcgetattr(ours)
    process = subprocess.Popen(
        [sys.executable, "bot.py"], cwd=tmp_path, env=WITHOUT | {"TERM": "xterm"}, stdin=its, stdout=its,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    process.stderr.readline()
    client = Client(process, process.stderr.readline().strip().rpartition("=")[2])
    os.close(its)
    game = client.game()
    game.ask()
    shown = b""
    while b"(Pdb) " not in shown:
        shown += os.read(ours, 1024)
    assert termios.tcgetattr(ours) != before
    while process.poll() is None:  # readline loses one that comes between the prompt and its wait
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(NOT_AT_ONCE_S)
    assert client.output()[0] == 130
    assert termios.tcgetattr(ours) == before
    client.close()
    os.close(ours)


@pytest.fixture
def free_port() -> Iterator[int]:
    with own_port() as port:
        yield port


@pytest.mark.parametrize("variable", ["TREELINGS_SOCKET", "TREELINGS_LISTEN"])
def test_started_by_the_referee_it_listens_where_the_referee_says(
    tmp_path: Path, free_port: int, variable: str
) -> None:
    where = str(tmp_path / "bot.sock") if variable == "TREELINGS_SOCKET" else f"127.0.0.1:{free_port}"
    (tmp_path / "bot.py").write_text(textwrap.dedent(CRASHES_UNLESS_LUCKY).replace(*BY_HAND))
    process = subprocess.Popen(
        [sys.executable, "bot.py"], cwd=tmp_path, env=WITHOUT | {variable: where}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    client = Client(process, f"unix:{where}" if variable == "TREELINGS_SOCKET" else where)
    client.game(name="lucky").play()
    unlucky = client.game(name="unlucky")
    unlucky.ask()
    code, _, err = client.output()
    client.close()
    assert code == 1  # and the first crash ends it, as in any match
    assert err.startswith("Traceback")


@pytest.mark.parametrize(
    "listen",
    [
        *("", "nonsense", "50051", ":50051", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:\u0661"),
        *("127.0.0.1:" + "9" * 5_000, "::1:50051", "unix:never:50051", 50051, ("127.0.0.1", 50051)),
    ],
)
def test_what_is_no_address_is_told_in_one_line(listen: object) -> None:
    expected = "expected HOST:PORT, such as 127.0.0.1:50051\n"
    assert refused(listen) == f"listen={listen!a}: {expected}"


def test_a_port_that_is_in_use_is_told_in_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        assert refused(listen) == f"{listen}: cannot listen there: Address already in use\n"


def test_a_host_of_another_machine_is_told_in_one_line() -> None:
    assert refused("192.0.2.1:50051") == "192.0.2.1:50051: cannot listen there: Cannot assign requested address\n"


def refused(listen: object) -> str:
    """What a bot says that cannot listen there."""
    source = textwrap.dedent(FIRST).replace("serve(First)", f"serve(First, listen={listen!a})")
    done = subprocess.run(
        [sys.executable, "-c", source], env=WITHOUT, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 1
    assert done.stdout == ""
    return done.stderr


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as listener:
            listener.bind(("::1", 0))
    except OSError:
        return False
    return True
