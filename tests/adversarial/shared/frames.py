"""HTTP/2 by hand (RFC 9113): an honest game, and between its frames whatever no gRPC library would send.

Copied into each hostile submission; needs nothing but the kit.
"""

import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from treelings import codec
from treelings.v1.game_pb2 import BotMessage, Query, RefereeMessage

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED = 0x1, 0x1, 0x4, 0x8
PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind: int, payload: bytes = b"", *, flags: int = 0, stream: int = 0) -> bytes:
    """One frame; its length field says the truth."""
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def number(value: int, bits: int = 7) -> bytes:
    """An integer of HPACK (RFC 7541, 5.1) in a byte's last bits, whose other bits are 0."""
    most = (1 << bits) - 1
    if value < most:
        return bytes((value,))
    value -= most
    rest = []
    while value >= 0x80:
        rest.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((most, *rest, value))


def header(name: bytes, value: bytes) -> bytes:
    """A header that no table remembers (RFC 7541, 6.2.2)."""
    return b"\x00" + number(len(name)) + name + number(len(value)) + value


STATUS_200: Final = b"\x88"
RESPONSE: Final = STATUS_200 + header(b"content-type", b"application/grpc")
STATUS_OK: Final = header(b"grpc-status", b"0")


class Peer:
    """The referee at the other end of one connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._reader = connection.makefile("rb")
        self._lock = threading.Lock()
        self._opened = False
        self.stream = 0  # of the game that is played

    def send(self, *frames: bytes) -> None:
        """Send bytes as they are."""
        with self._lock:
            self.connection.sendall(b"".join(frames))

    def open(self, block: bytes = RESPONSE) -> None:
        """Answer the call with its headers, once for each stream."""
        if not self._opened:
            self._opened = True
            self.send(frame(HEADERS, block, flags=END_HEADERS, stream=self.stream))

    def say(self, message: bytes) -> None:
        """Send one gRPC message."""
        self.open()
        self.send(frame(DATA, b"\0" + struct.pack(">I", len(message)) + message, stream=self.stream))

    def finish(self, block: bytes = STATUS_OK) -> None:
        """End the stream with trailers."""
        self.open()
        self.send(frame(HEADERS, block, flags=END_HEADERS | END_STREAM, stream=self.stream))

    def messages(self) -> Iterator[RefereeMessage]:
        """What the referee says, until it hangs up; its settings and pings are answered."""
        self._reader.read(len(PREFACE))
        text = b""
        while len(head := self._reader.read(9)) == 9:
            payload = self._reader.read(int.from_bytes(head[:3], "big"))
            kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
            if kind == SETTINGS and not flags & ACK:
                self.send(frame(SETTINGS, flags=ACK))
            elif kind == PING and not flags & ACK:
                self.send(frame(PING, payload, flags=ACK))
            elif kind == HEADERS and stream > self.stream:
                self.stream, self._opened, text = stream, False, b""
            elif kind == DATA:
                text += payload
                while len(text) >= 5 and len(text) >= (end := 5 + int.from_bytes(text[1:5], "big")):
                    yield RefereeMessage.FromString(text[5:end])
                    text = text[end:]


def greet(peer: Peer) -> None:
    """Begin as a server must, and let the referee say as much as it likes."""
    peer.send(frame(SETTINGS), frame(WINDOW_UPDATE, struct.pack(">I", 1 << 24)))


def ready(peer: Peer) -> None:
    """Be set up for the game."""
    peer.say(codec.ready_message().SerializeToString())


def reply(query: Query, move: str | None = None) -> bytes:
    """The reply to a query: the first legal move, or this text."""
    message = BotMessage()
    message.reply.turn = query.turn
    message.reply.move = query.legal[0] if move is None else move
    return message.SerializeToString()


def answer(peer: Peer, query: Query) -> None:
    """Play the first legal move."""
    peer.say(reply(query))


def serve(
    *,
    connected: Callable[[Peer], None] = greet,
    start: Callable[[Peer], None] = ready,
    query: Callable[[Peer, Query], None] = answer,
) -> None:
    """Serve games for ever: each of these has its honest default."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.environ["TREELINGS_SOCKET"])
        os.chmod(os.environ["TREELINGS_SOCKET"], 0o666)  # noqa: PTH101 - plain calls read best beside bind
        listener.listen()
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=_converse, args=(Peer(connection), connected, start, query)).start()


def _converse(
    peer: Peer,
    connected: Callable[[Peer], None],
    start: Callable[[Peer], None],
    query: Callable[[Peer, Query], None],
) -> None:
    with suppress(ConnectionError):  # the referee has hung up
        connected(peer)
        for message in peer.messages():
            if message.HasField("start"):
                start(peer)
            elif message.HasField("query"):
                query(peer, message.query)
            else:
                peer.finish()
