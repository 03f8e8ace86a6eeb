"""A bot whose output is stuck or closed: it ends when it is told to, and its referee hears of a crash all the same."""

import fcntl
import os
import signal
import subprocess
import sys
import termios
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import grpc
import pytest

from tests.support.bot_client import PATIENCE_S, Client, choosing

BY_HAND = ("serve(First)", 'serve(First, listen="127.0.0.1:0")')
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if not name.startswith(("TREELINGS_", "PYTHONUNBUFFERED"))
}
PIPE_BYTES = 60_000  # of the 65,536 that it holds
FULL = """
                import os, sys
                os.set_blocking(1, False)
                while True:
                    try:
                        os.write(1, b"x" * 65_536)
                    except BlockingIOError:
                        break
                os.set_blocking(1, True)
                print("not written yet")
                print("thinking", file=sys.stderr, flush=True)
                while True:
                    pass
"""
STUCK = """
                print("thinking", file=__import__("sys").stderr, flush=True)
                while True:
                    print("x" * 1000)
"""


@pytest.fixture
def bot(tmp_path: Path) -> Iterator[Callable[[str], Client]]:
    """Runs a bot by hand whose `choose` has this body, and reads nothing of what it prints."""
    clients: list[Client] = []

    def start(body: str) -> Client:
        (tmp_path / "bot.py").write_text(textwrap.dedent(choosing(body)).replace(*BY_HAND))
        process = subprocess.Popen(
            [sys.executable, "bot.py"], cwd=tmp_path, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stderr is not None
        process.stderr.readline()
        clients.append(Client(process, process.stderr.readline().strip().rpartition("=")[2]))
        return clients[-1]

    yield start
    for client in clients:
        client.end()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_bot_that_is_stuck_in_print(bot: Callable[[str], Client], number: signal.Signals) -> None:
    client = bot("\n" + STUCK)
    game = client.game()
    game.ask()
    assert client.process.stderr is not None
    assert client.process.stderr.readline() == "thinking\n"
    fill_up(client.process.stdout)
    client.process.send_signal(number)
    assert client.process.wait(PATIENCE_S) == 128 + number
    assert client.process.stderr.read() == ""


def test_a_signal_ends_a_bot_that_thinks_with_words_that_nobody_takes(bot: Callable[[str], Client]) -> None:
    client = bot("\n" + FULL)
    client.game().ask()
    assert client.process.stderr is not None
    assert client.process.stderr.readline() == "thinking\n"
    client.process.send_signal(signal.SIGTERM)
    assert client.process.wait(PATIENCE_S) == 128 + signal.SIGTERM


@pytest.mark.parametrize("line", ["sys.stdout.close()", "sys.stdout = sys.stderr = None", "sys.stderr.close()"])
def test_a_signal_ends_a_bot_that_has_closed_its_output(bot: Callable[[str], Client], line: str) -> None:
    client = bot(f"import sys; {line}; return view.legal_moves[0]")
    game = client.game()
    game.ask()
    game.receive()
    client.process.send_signal(signal.SIGINT)
    assert client.process.wait(PATIENCE_S) == 130


@pytest.mark.parametrize("line", ["sys.stderr.close()", "sys.stderr = None"])
def test_a_crash_of_a_bot_that_has_closed_its_stderr_is_told(bot: Callable[[str], Client], line: str) -> None:
    client = bot(f"import sys; {line}; raise ValueError('lost')")
    for _ in range(2):
        game = client.game()
        game.ask()
        assert game.failure() == (grpc.StatusCode.UNKNOWN, "ValueError: lost")


def fill_up(stdout: IO[str] | None) -> None:
    """Wait until the pipe is as good as full."""
    assert stdout is not None
    while int.from_bytes(fcntl.ioctl(stdout, termios.FIONREAD, bytes(4)), sys.byteorder) < PIPE_BYTES:
        time.sleep(0.01)
