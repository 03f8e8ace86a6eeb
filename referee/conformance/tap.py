"""Passes bytes on between gRPC and a bot that listens on a port, and looks at the frames that the bot sends.

gRPC tells nobody of a ping, nor of what a bot's frames come to; a referee counts the one and fears the other
(sandbox.md, gRPC).
"""

import asyncio
from contextlib import suppress
from typing import Final, Self

HEAD_BYTES: Final = 9
DATA: Final = 0
SETTINGS: Final = 4
PING: Final = 6
ACK: Final = 1
_BUFFER_BYTES: Final = 64 * 1024


class Frames:
    """The frames of one direction of HTTP/2, counted as their bytes come in (RFC 9113, 4.1).

    kinds         type and flags of those whose head has been seen, in order; the first thousand
    first_data    bytes of the first DATA frame that holds any
    """

    MOST: Final = 1_000

    def __init__(self) -> None:
        self.kinds: list[tuple[int, int]] = []
        self.pings = 0
        self.ping_answers = 0
        self.first_data = 0
        self._head = b""
        self._skip = 0

    def feed(self, data: bytes) -> None:
        """More bytes have come."""
        while data:
            if self._skip:
                passed = min(self._skip, len(data))
                self._skip -= passed
                data = data[passed:]
                continue
            missing = HEAD_BYTES - len(self._head)
            self._head += data[:missing]
            data = data[missing:]
            if len(self._head) == HEAD_BYTES:
                self._skip = int.from_bytes(self._head[:3], "big")
                self._see(self._head[3], self._head[4])
                self._head = b""

    def _see(self, kind: int, flags: int) -> None:
        if len(self.kinds) < self.MOST:
            self.kinds.append((kind, flags))
        if kind == DATA:
            self.first_data = self.first_data or self._skip
        if kind == PING:
            self.ping_answers += flags & ACK
            self.pings += 1 - (flags & ACK)


class Tap:
    """One connection to a bot, offered to gRPC under an address of its own.

    target      what a gRPC channel connects to; takes one connection
    frames      what the bot has sent
    game_bytes  bytes that the bot has sent since `new_game`
    most_bytes  the same for the game in which it has sent most
    hung_up     the bot has closed the connection
    cut         the bot has sent more than its budget for a game, and was cut off
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, budget_bytes: int) -> None:
        self.frames = Frames()
        self.game_bytes = self.most_bytes = 0
        self.cut = self.hung_up = False
        self.target = ""
        self._bot = (reader, writer)
        self._budget_bytes = budget_bytes
        self._ways: list[asyncio.Task[None]] = []
        self._writers = [writer]
        self._server: asyncio.Server | None = None

    @classmethod
    async def open(cls, host: str, port: int, budget_bytes: int) -> Self:
        """Connect to the bot and wait for gRPC. Raises OSError."""
        tap = cls(*await asyncio.open_connection(host, port), budget_bytes)
        # On the loopback: what a bot and a tool of its author's say to each other is nobody's secret.
        server = await asyncio.start_server(tap._joined, "127.0.0.1", 0)
        tap._server = server
        tap.target = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return tap

    def new_game(self) -> None:
        """Let the bot send its whole budget again."""
        self.game_bytes = 0

    async def close(self) -> None:
        """Hang up on both."""
        if self._server is not None:
            self._server.close()
        for way in self._ways:
            way.cancel()
        await asyncio.gather(*self._ways, return_exceptions=True)
        for writer in self._writers:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _joined(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        if self._ways:  # there is one connection to the bot, and it has been given away
            writer.close()
            return
        bot_reader, bot_writer = self._bot
        self._ways = [
            asyncio.create_task(self._pass_on(reader, bot_writer, from_bot=False)),
            asyncio.create_task(self._pass_on(bot_reader, writer, from_bot=True)),
        ]

    async def _pass_on(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, from_bot: bool) -> None:
        with suppress(OSError):
            while data := await source.read(_BUFFER_BYTES):
                if from_bot:
                    self.frames.feed(data)
                    self.game_bytes += len(data)
                    self.most_bytes = max(self.most_bytes, self.game_bytes)
                    self.cut = self.cut or self.game_bytes > self._budget_bytes
                if self.cut:
                    break
                sink.write(data)
                await sink.drain()
            self.hung_up = self.hung_up or (from_bot and not self.cut)
        for _, writer in (self._bot, (None, sink)):
            writer.close()
