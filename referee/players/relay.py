"""Stands between gRPC and one bot: passes bytes on, counts what the bot sends, and cuts when it is too much.

gRPC bounds messages but no frames: floods of them take a core and hundreds of megabytes from the referee, even if
every answer is correct (sandbox.md, gRPC). Here a bot has a budget of bytes for each game; nothing beyond it gets to
gRPC. A relay is also the one connection that a bot has for its whole match: its other end was looked at when it was
made, and it is never made anew.

Nothing but bytes gets through: a bot that hands over open files is cut off, before one is taken (handover.py).

It runs in the referee's event loop, by readiness and plain calls: no thread, no copy, two wakings a move. Transports
of asyncio cost up to three times as much on its own loop, and no less on uvloop.
"""

import asyncio
import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from referee.errors import SandboxError
from referee.players import handover
from referee.players.dial import PEERS_ARE_KNOWN, peer_pid

_BUFFER_BYTES: Final = 16 * 1024  # for each direction; a message has a hundred bytes or two
_CLOSED: Final = -1
_JOIN_S: Final = 5.0  # far more than gRPC takes to call this very process


class Relay:
    """The way of bytes between gRPC, which connects to `target`, and a bot.

    target  address for a gRPC channel; takes one connection, from this process
    """

    def __init__(
        self, bot: socket.socket, budget_bytes: int, *, abstract: bool = sys.platform.startswith("linux")
    ) -> None:
        """`bot` is a non-blocking connection, the relay's own from here on. Raises SandboxError.

        abstract  listen under a name that is in no folder, so that nothing can be left over; only Linux has such
        """
        self._bot = bot
        self._budget_bytes = budget_bytes
        self._sent_bytes = 0
        self._sent_before = 0  # this game
        self._overspent = False
        self._handed_over = False
        self._ways: tuple[_Way, ...] = ()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._sockets = [bot]
        try:
            self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._sockets.append(self._listener)
            self._listener.settimeout(0)
            if abstract:
                name = secrets.token_hex(16)
                self.target = f"unix-abstract:{name}"
                self._listener.bind(f"\0{name}")
            else:
                self._folder = tempfile.TemporaryDirectory(prefix="treelings-relay-")  # its mode is 0700
                self.target = f"unix:{Path(self._folder.name) / 'relay.sock'}"
                self._listener.bind(self.target.removeprefix("unix:"))
            self._listener.listen()
        except OSError as error:
            self.close()
            raise SandboxError(f"cannot make a socket between gRPC and a bot: {error}") from error

    @property
    def joined(self) -> bool:
        """Whether gRPC and the bot are connected."""
        return bool(self._ways)

    @property
    def overspent(self) -> bool:
        """Whether the bot was cut off for what it sent."""
        return self._overspent

    @property
    def offence(self) -> str:
        """Why the bot was cut off: what was expected, and what came; empty if it was not."""
        if self._handed_over:
            return "expected nothing but bytes on its socket, got open files that it handed over"
        if self._overspent:
            return f"expected at most {self._budget_bytes:,} bytes in a game, got more (frames of gRPC's own included)"
        return ""

    @property
    def sent_bytes(self) -> int:
        """What the bot has sent in all its games."""
        return self._sent_bytes

    def new_game(self) -> None:
        """Let the bot send its whole budget again."""
        self._sent_before = self._sent_bytes

    async def join(self) -> None:
        """Wait for gRPC, whose channel has been told to connect, and begin. Raises SandboxError."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_JOIN_S):
                grpc, _ = await loop.sock_accept(self._listener)
                while PEERS_ARE_KNOWN and peer_pid(grpc) != os.getpid():
                    grpc.close()
                    grpc, _ = await loop.sock_accept(self._listener)
        except (OSError, TimeoutError) as error:
            self.close()
            raise SandboxError(f"gRPC did not connect to a bot's relay: {type(error).__name__}: {error}") from error
        # Deaf but not closed: nobody else can listen under its name as long as the match lasts.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._remove_folder()
        grpc.settimeout(0)
        self._sockets.append(grpc)
        self._ways = (
            _Way(
                loop, self._bot, grpc, self._count, self.close, self._handed if handover.may_come(self._bot) else None
            ),
            _Way(loop, grpc, self._bot, _unlimited, self.close, None),
        )

    def close(self) -> None:
        """Hang up on both sides; may be called twice."""
        for way in self._ways:
            way.stop()
        self._ways = ()
        for each in self._sockets:
            if each is not self._bot:
                each.close()
        if self._bot.fileno() != _CLOSED:
            handover.hang_up(self._bot)
        self._remove_folder()

    def _remove_folder(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _count(self, count: int) -> bool:
        self._sent_bytes += count
        self._overspent = self._sent_bytes - self._sent_before > self._budget_bytes
        return not self._overspent

    def _handed(self) -> None:
        self._handed_over = True


def _unlimited(count: int) -> bool:
    return True


class _Way:
    """One direction: reads from a source only while its sink has taken all that was read before.

    allows  told how much was read; whether it may be passed on
    over    called at the source's end, at any failure of either, and where more was read than is allowed
    handed  called before `over` where the source hands over open files; None: it cannot
    """

    __slots__ = ("_allows", "_blocked", "_buffer", "_handed", "_loop", "_over", "_rest", "_sink", "_source")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        source: socket.socket,
        sink: socket.socket,
        allows: Callable[[int], bool],
        over: Callable[[], None],
        handed: Callable[[], None] | None,
    ) -> None:
        self._loop = loop
        self._source = source
        self._sink = sink
        self._allows = allows
        self._over = over
        self._handed = handed
        self._buffer = memoryview(bytearray(_BUFFER_BYTES))
        self._rest = self._buffer[:0]  # what the sink has not taken yet
        self._blocked = False
        loop.add_reader(source, self._read)

    def stop(self) -> None:
        """Watch neither socket any more."""
        self._loop.remove_reader(self._source)
        self._loop.remove_writer(self._sink)

    def _read(self) -> None:
        try:
            count = self._receive()
        except BlockingIOError:
            return
        except OSError:
            count = 0
        if count == 0 or not self._allows(count):
            self._over()
            return
        self._rest = self._buffer[:count]
        self._write()

    def _receive(self) -> int:
        if self._handed is None:
            return self._source.recv_into(self._buffer)
        harmless = handover.look(self._source, self._buffer)
        if harmless is None:
            self._handed()
        return self._source.recv_into(self._buffer, harmless) if harmless else 0

    def _write(self) -> None:
        try:
            self._rest = self._rest[self._sink.send(self._rest) :]
        except BlockingIOError:
            pass
        except OSError:
            self._over()
            return
        if bool(self._rest) is self._blocked:
            return
        self._blocked = not self._blocked
        if self._blocked:
            self._loop.remove_reader(self._source)
            self._loop.add_writer(self._sink, self._write)
        else:
            self._loop.remove_writer(self._sink)
            self._loop.add_reader(self._source, self._read)
