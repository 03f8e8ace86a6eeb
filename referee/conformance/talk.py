"""One gRPC stream with a bot as the conformance run holds it: a message at a time, and whatever else may come."""

import asyncio
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

# gRPC prints what a peer says to stderr as it came; it reads this once, when it is imported.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc.aio
from google.protobuf import text_format

from referee.conformance.tap import Tap
from referee.limits import Limits
from referee.players.attached import HostPort
from referee.players.http2 import LONGEST_HEADERS, LONGEST_MESSAGE
from referee.text import printable
from treelings import ProtocolError, codec
from treelings.v1.game_pb2 import RefereeMessage

_OPTIONS: Final = (
    ("grpc.use_local_subchannel_pool", 1),  # each line a connection of its own
    ("grpc.enable_retries", 0),
    ("grpc.max_receive_message_length", LONGEST_MESSAGE),
    ("grpc.max_metadata_size", LONGEST_HEADERS),
    ("grpc.absolute_max_metadata_size", LONGEST_HEADERS),
    ("grpc.compression_enabled_algorithms_bitset", 1),  # none
    ("grpc.enable_http_proxy", 0),
    ("grpc.keepalive_time_ms", 2**31 - 1),
)
_LONGEST_SHOWN: Final = 1_200
_LONGEST_STATUS: Final = 160
_CONNECT_S: Final = 3.0
_WRITE_S: Final = 5.0  # for a message of some kilobytes to fit into the bot's window
_LATE_MS: Final = 2_000  # how much longer a late message is waited for, at most, to tell late from never
_A_BIT_MS: Final = 100


class Wrong(Exception):
    """What the bot got wrong; never leaves this package."""

    def __init__(self, expected: str, got: str, sent: str = "") -> None:
        super().__init__(f"expected {expected}, got {got}")
        self.expected = expected
        self.got = got
        self.sent = sent


class Late(Wrong):
    """What was expected did not come in time."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The bot ended the stream with this status; `text` is the whole of it, printable and bounded."""

    code: str
    text: str


class Line:
    """A connection to the bot."""

    def __init__(self, tap: Tap, options: tuple[tuple[str, int], ...]) -> None:
        self.tap = tap
        settings = {**dict(_OPTIONS), **dict(options)}
        # As a bot sees it that listens on a socket.
        named = (*settings.items(), ("grpc.default_authority", "localhost"))
        self._channel = grpc.aio.insecure_channel(tap.target, options=named)

    @classmethod
    async def open(cls, address: HostPort, options: tuple[tuple[str, int], ...] = ()) -> "Line":
        """Connect; `options` are gRPC's, over those of every referee. Raises Wrong."""
        try:
            async with asyncio.timeout(_CONNECT_S):
                return cls(await Tap.open(*address, Limits().sent_bytes), options)
        except TimeoutError:
            got = f"no answer in {_CONNECT_S:.0f} s"
        except OSError as error:
            got = error.strerror or str(error)
        raise Wrong("a bot that takes one more connection", got)

    def talk(self, path: str = codec.PATH, metadata: tuple[tuple[str, str | bytes], ...] = ()) -> "Talk":
        """Open a stream."""
        self.tap.new_game()
        return Talk(self._channel.stream_stream(path, bytes, bytes)(None, metadata=metadata), self.tap)

    async def close(self) -> None:
        """Hang up."""
        await self._channel.close(None)
        await self.tap.close()


class Talk:
    """A stream.

    sent         the last message that was sent, in protobuf's text format
    largest      bytes of the bot's largest message
    """

    def __init__(self, call: "grpc.aio.StreamStreamCall[bytes, bytes]", tap: Tap) -> None:
        self.sent = ""
        self.largest = 0
        self._call = call
        self._tap = tap
        self._reading: asyncio.Task[bytes | Ended] | None = None
        self._ended: Ended | None = None

    async def send(self, message: RefereeMessage | bytes) -> None:
        """Send a message, or bytes that are none. Raises Wrong if it is not taken."""
        self.sent = shown(message)
        data = message if isinstance(message, bytes) else message.SerializeToString()
        writing = asyncio.ensure_future(self._write(data))
        if not (await asyncio.wait([writing], timeout=_WRITE_S))[0]:
            writing.cancel()
            raise self.wrong("room for the message in the bot's window", f"none within {_WRITE_S:.0f} s")

    async def half_close(self) -> None:
        """Say that nothing more will be sent."""
        with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
            await self._call.done_writing()

    async def receive(self, within_ms: float) -> bytes | Ended | None:
        """The bot's next message, or how it ended the stream; None if nothing came, which may come later yet."""
        if not await self.comes(within_ms):
            return None
        if self._ended is not None:
            return self._ended
        assert self._reading is not None
        came = self._reading.result()
        self._reading = None
        if isinstance(came, Ended):
            self._ended = came
        else:
            self.largest = max(self.largest, len(came))
        return came

    async def comes(self, within_ms: float) -> bool:
        """Whether anything comes; it can be received afterwards."""
        if self._ended is None and self._reading is None:
            self._reading = asyncio.create_task(self._read())
        if self._reading is not None:
            await asyncio.wait([self._reading], timeout=within_ms / 1000)
        return self._ended is not None or (self._reading is not None and self._reading.done())

    async def message(self, expected: str, within_ms: int) -> tuple[bytes, float]:
        """The bot's next message, and how many milliseconds it took. Raises Wrong."""
        clock = asyncio.get_running_loop().time
        begun = clock()
        came = await self.receive(within_ms)
        expected = f"{expected} within {within_ms:,} ms"
        if came is None:
            came = await self.receive(min(_LATE_MS, 3 * within_ms + _A_BIT_MS))
            took_ms = (clock() - begun) * 1000
            raise Late(expected, f"{_words(came)} after {took_ms:,.0f} ms", self.sent)
        if isinstance(came, Ended):
            raise self.got(expected, came)
        return came, (clock() - begun) * 1000

    async def silence(self, within_ms: int) -> None:
        """Make sure that nothing comes so long. Raises Wrong."""
        came = await self.receive(within_ms)
        if came is not None:
            raise self.got("no message that nobody has asked for", came)

    async def end(self, within_ms: int) -> None:
        """The end of the stream, in order. Raises Wrong."""
        came = await self.receive(within_ms)
        if not isinstance(came, Ended) or came.code != "OK":
            raise self.got(f"the end of the stream with status OK, and no message, within {within_ms:,} ms", came)

    async def refusal(self, within_ms: int) -> Ended | None:
        """How the bot ended a stream that it could not go on with; None if it says nothing. Raises Wrong."""
        came = await self.receive(within_ms)
        if isinstance(came, bytes) or (came is not None and came.code == "OK"):
            raise self.got("a status that is not OK, or silence", came)
        return came

    async def metadata_bytes(self) -> int:
        """What headers and trailers come to, as gRPC counts them; of a stream that has ended."""
        return sum(
            len(key) + len(value) + 32
            for entries in (await self._call.initial_metadata(), await self._call.trailing_metadata())
            for key, value in entries or ()
        )

    def cancel(self) -> None:
        """Break the stream off."""
        self._call.cancel()

    def got(self, expected: str, came: bytes | Ended | None) -> Wrong:
        """What the bot got wrong that said this, or nothing."""
        if isinstance(came, Ended) and came.code == "UNAVAILABLE" and self._tap.hung_up:
            return self.wrong(expected, "the end of the connection; did its process end? Look at what it printed")
        return self.wrong(expected, _words(came))

    def wrong(self, expected: str, got: str) -> Wrong:
        """What the bot got wrong at this point of the stream."""
        if self._tap.cut:
            budget = Limits().sent_bytes
            return Wrong(
                f"at most {budget:,} bytes in a game, HTTP/2's own included", "more: the bot was cut off", self.sent
            )
        return Wrong(expected, got, self.sent)

    async def _write(self, data: bytes) -> None:
        # How the stream has ended is told to whoever reads.
        with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError, asyncio.CancelledError):
            if not self._call.done():
                await self._call.write(data)

    async def _read(self) -> bytes | Ended:
        try:
            message = await self._call.read()
        except grpc.aio.AioRpcError as error:
            return Ended(error.code().name, printable(f"{error.code().name}: {error.details()}", _LONGEST_STATUS))
        except asyncio.CancelledError:
            return Ended("CANCELLED", "CANCELLED")
        return message if isinstance(message, bytes) else Ended("OK", "OK")


def shown(message: RefereeMessage | bytes) -> str:
    """A message in protobuf's text format, in one line and bounded."""
    if isinstance(message, bytes):
        return printable(f"{len(message)} bytes: {message.hex()}", _LONGEST_SHOWN) if message else "an empty message"
    text = text_format.MessageToString(
        message, as_one_line=True, use_short_repeated_primitives=True, print_unknown_fields=True
    )
    return printable(text.strip() or "an empty message", _LONGEST_SHOWN)


def _words(came: bytes | Ended | None) -> str:
    """What came, in words."""
    if came is None:
        return "nothing"
    if isinstance(came, Ended):
        return f"the end of the stream with status {came.text}"
    try:
        message = codec.decode_bot(came)
    except ProtocolError as error:
        return str(error).partition("got ")[2]
    text = text_format.MessageToString(message, as_one_line=True, print_unknown_fields=True).strip()
    return printable(text, _LONGEST_STATUS) if text else "an empty message"
