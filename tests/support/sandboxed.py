"""Bots for tests of the sandboxes: a script, what it says, and how it ends."""

import asyncio
import socket
import struct
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from textwrap import dedent
from typing import Self

from referee.model import Submission
from referee.ports import BotState, RunningBot
from referee.sandbox.run import process_start

PATIENCE_S = 60.0
"""Longest wait for what must happen soon; a busy machine does not reach it."""


def script(folder: Path, code: str, command: tuple[str, ...] = ("python", "bot.py")) -> Submission:
    """A submission of one file, readable by all as the league's own copies are; a folder is for one.

    To write a file again empties it first, and a bot that is starting may read it just then.
    """
    folder.chmod(0o755)
    with (folder / "bot.py").open("x", encoding="utf-8") as file:
        file.write(dedent(code))
    (folder / "bot.py").chmod(0o644)
    return Submission("tester", "Tests", "sha256:" + "0" * 64, folder, command, "python")


async def ended(bot: RunningBot) -> BotState:
    """How the bot ended, once it has."""
    async with asyncio.timeout(PATIENCE_S):
        while (state := await bot.state()).running:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.02)
    return state


async def logged(bot: RunningBot, word: str) -> str:
    """The bot's log, once the word is in it."""
    async with asyncio.timeout(PATIENCE_S):
        while word not in (log := await bot.log_tail()):
            assert (await bot.state()).running or word in await bot.log_tail(), f"ended before {word!r}: {log}"
            await asyncio.sleep(0.02)
    return log


async def listening(bot: RunningBot) -> None:
    """Wait until the bot's socket takes connections."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                _, writer = await asyncio.open_unix_connection(str(bot.address))
            except (FileNotFoundError, ConnectionRefusedError):
                state = await bot.state()
                assert state.running, f"ended before it listened: {state}, output {await bot.log_tail()!r}"
                await asyncio.sleep(0.01)
            else:
                writer.close()
                await writer.wait_closed()
                return


async def peer_of(bot: RunningBot) -> int:
    """The process that listens on the bot's socket, once one does, as the kernel names it."""
    await listening(bot)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(bot.address))
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid: int = struct.unpack("3i", credentials)[0]
    return pid


async def gone(pid: int) -> None:
    """Wait until a process has ended."""
    async with asyncio.timeout(PATIENCE_S):
        while process_start(pid) not in (None, "ended"):  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


def another_referee(code: str, *arguments: str) -> "subprocess.Popen[str]":
    """Run Python code that uses the referee in a process of its own, to be killed."""
    root = Path(__file__).parents[2]
    # Python looks for modules in the working directory too, as it does for the tests themselves.
    return subprocess.Popen(
        [sys.executable, "-c", dedent(code), *arguments], stdout=subprocess.PIPE, text=True, cwd=root
    )


class EngineProxy:
    """Stands between a client and the local engine, until it is cut off."""

    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._talks: set[asyncio.Task[None]] = set()

    @classmethod
    @asynccontextmanager
    async def serve(cls, path: Path) -> AsyncIterator[Self]:
        proxy = cls()
        proxy._server = await asyncio.start_unix_server(proxy._handle, str(path))
        try:
            yield proxy
        finally:
            await proxy.cut()

    async def cut(self) -> None:
        """Hang up on everybody, and answer nobody any more; nothing of it is open afterwards."""
        assert self._server is not None
        self._server.close()
        while self._talks:  # whoever was about to call the engine hears of it then
            for writer in self._open:
                writer.transport.abort()
            await asyncio.wait(self._talks, timeout=0.01)
        await self._server.wait_closed()

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = asyncio.current_task()
        assert talk is not None
        self._talks.add(talk)
        try:
            async with self._closing(writer):
                if self._server is None or not self._server.is_serving():
                    return
                engine_reader, engine_writer = await asyncio.open_unix_connection("/var/run/docker.sock")
                async with self._closing(engine_writer):
                    await asyncio.gather(_copy(reader, engine_writer), _copy(engine_reader, writer))
        finally:
            self._talks.discard(talk)

    @asynccontextmanager
    async def _closing(self, writer: asyncio.StreamWriter) -> AsyncIterator[None]:
        self._open.add(writer)
        try:
            yield
        finally:
            self._open.discard(writer)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while chunk := await source.read(65_536):
            target.write(chunk)
            await target.drain()
    target.close()
