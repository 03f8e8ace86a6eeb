"""The one connection to a bot, for its whole match: counts what the bot sends, and cuts it off when that is too much.

Floods of frames cost whoever reads them a core, even if every answer is correct (sandbox.md, gRPC). So a bot has a
budget of bytes for each game, and nothing beyond it is looked at. The other end was looked at when the connection was
made (dial.py), and it is never made anew.

Nothing but bytes is taken: a bot that hands over open files is cut off, before one is taken (handover.py).

It runs in the referee's event loop, by readiness and plain calls: no thread, one waking a move. Transports of asyncio
cost up to three times as much on its own loop, and no less on uvloop.
"""

import asyncio
import socket
from typing import Final

from referee.players import handover
from referee.players.http2 import Call, Session

_BUFFER_BYTES: Final = 16 * 1024  # a message has a hundred bytes or two
_CLOSED: Final = -1


class Connection:
    """The way to one bot and back."""

    def __init__(self, bot: socket.socket, budget_bytes: int) -> None:
        """`bot` is a non-blocking connection, this one's own from here on; `budget_bytes`: what a game may bring."""
        self._loop = asyncio.get_running_loop()
        self._bot = bot
        self._budget_bytes = budget_bytes
        self._sent_bytes = 0
        self._sent_before = 0  # this game
        self._overspent = False
        self._handed_over = False
        self._may_be_handed = handover.may_come(bot)
        self._buffer = memoryview(bytearray(_BUFFER_BYTES))
        self._unsent = bytearray()  # what the bot has not taken yet
        self._session = Session(self._send)
        self._loop.add_reader(bot, self._read)

    @property
    def ready(self) -> bool:
        """Whether another game can be played over it."""
        return not self._session.over

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

    def call(self, path: str) -> Call:
        """Begin a game: the bot may send its whole budget again."""
        self._sent_before = self._sent_bytes
        return self._session.call(path)

    def say(self, call: Call, message: bytes) -> None:
        """Send a message, without waiting; nothing if the bot has ended the call."""
        self._session.say(call, message)

    def leave(self, call: Call) -> None:
        """Say no more in this call; nothing if the bot has ended it."""
        self._session.leave(call)

    def close(self) -> None:
        """Hang up; may be called twice."""
        self._hang_up("it was closed")

    def _hang_up(self, why: str) -> None:
        if self._bot.fileno() != _CLOSED:
            self._loop.remove_reader(self._bot)
            self._loop.remove_writer(self._bot)
            handover.hang_up(self._bot)
        self._unsent.clear()
        self._session.lose(why)

    def _read(self) -> None:
        try:
            count = self._receive()
        except BlockingIOError:
            return
        except OSError:  # it has been reset
            count = 0
        self._sent_bytes += count
        self._overspent = self._sent_bytes - self._sent_before > self._budget_bytes
        if count == 0 or self._overspent:
            self._hang_up("it hung up")
            return
        self._session.receive(self._buffer[:count])
        if self._session.done:
            self._hang_up("it was closed")
        elif self._is_over():
            self._hang_up("it hung up")

    def _receive(self) -> int:
        if not self._may_be_handed:
            return self._bot.recv_into(self._buffer)
        harmless = handover.look(self._bot, self._buffer)
        if harmless is None:
            self._handed_over = True
        return self._bot.recv_into(self._buffer, harmless) if harmless else 0

    def _is_over(self) -> bool:
        """Whether the bot's last words have been read. uvloop tells no more of a socket once it was reset."""
        try:
            return not self._bot.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True

    def _send(self, data: bytes) -> None:
        if self._unsent:
            self._unsent += data
            return
        sent = self._try(data)
        if sent < len(data):
            self._unsent += data[sent:]
            self._loop.add_writer(self._bot, self._go_on)

    def _go_on(self) -> None:
        del self._unsent[: self._try(self._unsent)]
        if not self._unsent:
            self._loop.remove_writer(self._bot)

    def _try(self, data: bytes | bytearray) -> int:
        """Send as much as the bot takes now; all is lost on one that takes nothing any more, of which reading tells."""
        try:
            return self._bot.send(data)
        except BlockingIOError:
            return 0
        except OSError:
            return len(data)
