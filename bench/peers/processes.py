"""Starts peers as bare processes and ends them."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench.peers.talk import Told

ROOT: Final = Path(__file__).resolve().parents[2]
KAGGLE_AGENT: Final = Path(__file__).with_name("kaggle_agent.py")
LINES_BOT: Final = Path(__file__).with_name("lines_bot.py")
_PATIENCE_S: Final = 60


@contextmanager
def serving(module: str, *arguments: str) -> Iterator[int]:
    """A server of bench.peers that is told its port last; gives the port once something listens there."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    command = _command(module, *arguments, str(port))
    server = subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL)
    try:
        give_up = time.monotonic() + _PATIENCE_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
            except OSError:
                if server.poll() is not None or time.monotonic() > give_up:
                    raise RuntimeError(f"bench.peers.{module} does not listen on port {port}") from None
                time.sleep(0.02)
            else:
                break
        yield port
    finally:
        server.terminate()
        server.wait()


@contextmanager
def running(module: str, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """A module of bench.peers that is spoken to in lines of text and ends when there are no more."""
    process = subprocess.Popen(
        _command(module, *arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=environment(),
    )
    try:
        yield process
    finally:
        process.communicate()


def environment() -> dict[str, str]:
    """The variables of a process that finds this repository's modules wherever it runs."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _command(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", f"bench.peers.{module}", *arguments]


def ask(process: "subprocess.Popen[str]", line: str) -> str:
    """Write a line, read a line."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(line + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
    except BrokenPipeError:
        answer = ""
    if not answer:
        raise RuntimeError(f"a peer ended by itself: {process.args!r}")
    return answer


def ask_for_move(process: "subprocess.Popen[str]", told: Told) -> str:
    """A bot's move over its pipes."""
    move: str = json.loads(ask(process, json.dumps(told)))["move"]
    return move
