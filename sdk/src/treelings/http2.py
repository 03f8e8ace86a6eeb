"""What both ends of gRPC over HTTP/2 do alike, as much as games need: bytes in, messages out; no socket, no clock.

RFC 9113, RFC 7541 and gRPC's PROTOCOL-HTTP2.md. The kit's server (calls.py) and the referee's client are made of it. No
frame is longer than 16 KiB, no message and no block of headers than it may be, nothing is answered at greater length
than it came, and whatever HTTP/2 forbids ends the conversation.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from treelings.headers import Headers, NoHeaders

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END_STREAM = ACK = 0x1
END_HEADERS, PADDED, WITH_PRIORITY = 0x4, 0x8, 0x20
ENABLE_PUSH, MOST_STREAMS, INITIAL_WINDOW, MAX_HEADER_LIST = 0x2, 0x3, 0x4, 0x6

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
LONGEST_FRAME: Final = 16 * 1024
WINDOW_AT_FIRST: Final = 65_535
WIDEST: Final = 2**31 - 1

STATUSES: Final = (
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
    "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
    "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
)  # fmt: skip
"""gRPC's statuses; each one's number is its place."""

_HEAD_BYTES: Final = 9
PREFIX_BYTES: Final = 5  # of each message: whether it is compressed, and its length


class Forbidden(Exception):
    """The peer did what HTTP/2 or gRPC forbids; `code` is the status of gRPC that tells it."""

    def __init__(self, said: str, code: str = "INTERNAL") -> None:
        super().__init__(said)
        self.code = code


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """One frame."""
    return b"".join(
        (len(payload).to_bytes(3, "big"), bytes((kind, flags)), stream.to_bytes(4, "big"), payload)
    )  # fmt: skip


def setting(name: int, value: int) -> bytes:
    """One setting."""
    return name.to_bytes(2, "big") + value.to_bytes(4, "big")


def header(name: bytes, value: bytes) -> bytes:
    """A header that no table remembers (RFC 7541, 6.2.2)."""
    return b"\0" + _length(name) + name + _length(value) + value


def _length(text: bytes) -> bytes:
    """As an integer of 7 bits and more (RFC 7541, 5.1)."""
    rest = len(text) - 0x7F
    if rest < 0:
        return bytes((len(text),))
    packed = bytearray((0x7F,))
    while rest >= 0x80:
        packed.append(rest & 0x7F | 0x80)
        rest >>= 7
    packed.append(rest)
    return bytes(packed)


def without_padding(payload: bytes) -> bytes:
    """What a padded frame holds. Raises Forbidden."""
    if not payload or payload[0] >= len(payload):
        raise Forbidden("expected less padding than the frame is long")
    return payload[1 : len(payload) - payload[0]]


def _number(payload: bytes) -> int:
    return int.from_bytes(payload[:4], "big") & WIDEST


class Stream:
    """One call: what of it has come, and what is to be sent.

    number    of the stream
    window    bytes that the peer lets us send
    unsent    what waits for a window
    farewell  the frame that ends our side, once all else is sent; empty: there is none, or it has been sent
    messages  that came and were not read
    """

    def __init__(self, number: int, window: int, longest_message: int) -> None:
        self.number: Final = number
        self.window = window
        self.unsent = bytearray()
        self.farewell = b""
        self.messages: deque[bytes] = deque()
        self.partial = bytearray()  # less than a message
        self._longest_message = longest_message

    def take(self, data: bytes) -> None:
        """More of the peer's messages has come. Raises Forbidden."""
        partial = self.partial
        partial += data
        while len(partial) >= PREFIX_BYTES:
            length = int.from_bytes(partial[1:PREFIX_BYTES], "big")
            if partial[0]:
                raise Forbidden("expected messages that are not compressed, got one that is", "UNIMPLEMENTED")
            if length > self._longest_message:
                said = f"expected messages of at most {self._longest_message:,} bytes, got one of {length:,}"
                raise Forbidden(said, "RESOURCE_EXHAUSTED")
            end = PREFIX_BYTES + length
            if len(partial) < end:
                return
            self.messages.append(bytes(partial[PREFIX_BYTES:end]))
            del partial[:end]


S = TypeVar("S", bound=Stream)


class End(ABC, Generic[S]):
    """One end of a connection. What is to be sent goes to `send`, in pieces that belong together."""

    def __init__(self, send: Callable[[bytes], None], longest_headers: int) -> None:
        self._send = send
        self._received = bytearray()  # less than a frame
        self._greeted = False  # the peer has told its settings
        self._streams: dict[int, S] = {}  # those that go on
        self._window = WINDOW_AT_FIRST
        self._stream_window = WINDOW_AT_FIRST
        self._taken = 0  # bytes of the peer's data since our window was opened as wide as it can be
        self._block: tuple[int, bool, bytearray] | None = None  # headers that go on: stream, whether it ends, packed
        self._longest_headers = longest_headers
        self._headers = Headers(longest_headers)

    # What the two ends do each in its own way.

    @abstractmethod
    def _opened(self, number: int, what: str) -> S | None:
        """The stream of that number; None if it has ended. Raises Forbidden if it was never opened."""

    @abstractmethod
    def _may_have_headers(self, number: int) -> None:
        """Raises Forbidden where none may come."""

    @abstractmethod
    def _take_data(self, stream: S, payload: bytes, *, ends: bool) -> None:
        """Take a piece of its messages; `ends`: the peer will send no more. Raises Forbidden."""

    @abstractmethod
    def _take_headers(self, number: int, headers: dict[str, str], *, ends: bool) -> None:
        """Take the headers of a stream, or its trailers. Raises Forbidden."""

    @abstractmethod
    def _reset(self, stream: S, code: int) -> None:
        """The peer has ended it, with this code of HTTP/2."""

    @abstractmethod
    def _go_away(self, last: int, code: int, said: bytes) -> None:
        """The peer answers no streams above `last`, and said why."""

    # What they do alike.

    def _take(self, data: bytes | memoryview) -> None:
        """Take what the peer sent, in pieces as they come. Raises Forbidden."""
        received = self._received
        received += data
        at = 0
        while len(received) - at >= _HEAD_BYTES:
            length = int.from_bytes(received[at : at + 3], "big")
            if length > LONGEST_FRAME:
                raise Forbidden(f"expected frames of at most {LONGEST_FRAME:,} bytes, got one of {length:,}")
            end = at + _HEAD_BYTES + length
            if end > len(received):
                break
            number = int.from_bytes(received[at + 5 : at + _HEAD_BYTES], "big") & WIDEST
            self._frame(received[at + 3], received[at + 4], number, bytes(received[at + _HEAD_BYTES : end]))
            at = end
        del received[:at]

    def _frame(self, kind: int, flags: int, number: int, payload: bytes) -> None:
        if not self._greeted:
            if kind != SETTINGS or flags & ACK:
                raise Forbidden("expected a peer of HTTP/2, which begins with its settings", "UNAVAILABLE")
            self._greeted = True
        if self._block is not None and (kind != CONTINUATION or number != self._block[0]):
            raise Forbidden("expected headers to go on, got another frame")
        if kind == DATA:
            stream = self._opened(number, "data")
            self._taken += len(payload)
            if flags & PADDED:
                payload = without_padding(payload)
            if stream is not None:
                self._take_data(stream, payload, ends=bool(flags & END_STREAM))
        elif kind == HEADERS:
            self._begin_block(flags, number, payload)
        elif kind == CONTINUATION:
            self._go_on_with_block(flags, payload)
        elif kind == WINDOW:
            self._widen(number, payload)
        elif kind == PING:
            if number or len(payload) != 8:
                raise Forbidden("expected pings of 8 bytes on stream 0")
            if not flags & ACK:
                self._send(frame(PING, ACK, 0, payload))
        elif kind == SETTINGS:
            self._settle(flags, number, payload)
        elif kind == RST_STREAM:
            stream = self._opened(number, "a reset")
            if len(payload) != 4:
                raise Forbidden("expected resets of 4 bytes")
            if stream is not None:
                self._reset(stream, int.from_bytes(payload, "big"))
        elif kind == GOAWAY:
            if number or len(payload) < 8:
                raise Forbidden("expected GOAWAY of 8 bytes or more, on stream 0")
            self._go_away(_number(payload), int.from_bytes(payload[4:8], "big"), payload[8:])
        elif kind == PUSH_PROMISE:
            raise Forbidden("expected no promises, got one")
        # All others are to be ignored (RFC 9113, 4.1), and so are priorities.

    def _begin_block(self, flags: int, number: int, payload: bytes) -> None:
        self._may_have_headers(number)
        if flags & PADDED:
            payload = without_padding(payload)
        if flags & WITH_PRIORITY:
            payload = payload[5:]
        self._block = number, bool(flags & END_STREAM), bytearray()
        self._go_on_with_block(flags, payload)

    def _go_on_with_block(self, flags: int, payload: bytes) -> None:
        if self._block is None:
            raise Forbidden("expected no headers that go on, got some")
        number, ends, packed = self._block
        packed += payload
        if len(packed) > self._longest_headers:
            said = f"expected headers of at most {self._longest_headers:,} bytes, got more"
            raise Forbidden(said, "RESOURCE_EXHAUSTED")
        if flags & END_HEADERS:
            self._block = None
            self._take_headers(number, self._unpacked(bytes(packed)), ends=ends)

    def _unpacked(self, packed: bytes) -> dict[str, str]:
        try:
            return self._headers.read(packed)
        except NoHeaders as error:
            said = f"expected headers as HPACK packs them, {self._longest_headers:,} bytes at most: {error}"
            raise Forbidden(said) from error

    def _widen(self, number: int, payload: bytes) -> None:
        if len(payload) != 4 or not (more := _number(payload)):
            raise Forbidden("expected windows to be opened by 1 or more, in 4 bytes")
        if number == 0:
            self._window = _widened(self._window, more)
            for each in list(self._streams.values()):
                self._flush(each)
        elif (stream := self._opened(number, "a window")) is not None:
            stream.window = _widened(stream.window, more)
            self._flush(stream)

    def _settle(self, flags: int, number: int, payload: bytes) -> None:
        if number or len(payload) % 6 or (flags & ACK and payload):
            raise Forbidden("expected settings of 6 bytes each, on stream 0")
        if flags & ACK:
            return
        for at in range(0, len(payload), 6):
            if int.from_bytes(payload[at : at + 2], "big") == INITIAL_WINDOW:
                self._set_window(int.from_bytes(payload[at + 2 : at + 6], "big"))
        self._send(_SETTINGS_ACK)

    def _set_window(self, bytes_: int) -> None:
        """What a stream may send at first; those that go on may send so much more, or less (RFC 9113, 6.9.2)."""
        if bytes_ > WIDEST:
            raise Forbidden(f"expected a window of at most {WIDEST:,} bytes, got one of {bytes_:,}")
        more, self._stream_window = bytes_ - self._stream_window, bytes_
        for each in list(self._streams.values()):
            each.window = _widened(each.window, more)
            self._flush(each)

    def _say(self, stream: S, message: bytes) -> None:
        """Send a message, as soon as the peer lets us."""
        stream.unsent += b"\0" + len(message).to_bytes(4, "big") + message
        self._flush(stream)

    def _flush(self, stream: S) -> None:
        """Send what the windows have room for, and the end of our side if that is all."""
        while stream.unsent and (room := min(stream.window, self._window, LONGEST_FRAME)) > 0:
            piece = bytes(stream.unsent[:room])
            del stream.unsent[:room]
            stream.window -= len(piece)
            self._window -= len(piece)
            self._send(frame(DATA, 0, stream.number, piece))
        if stream.farewell and not stream.unsent:
            farewell, stream.farewell = stream.farewell, b""
            self._send(farewell)

    def _wider(self) -> bytes:
        """The frame that lets the peer send as much again as it has sent; empty if that is nothing."""
        taken, self._taken = self._taken, 0
        return frame(WINDOW, 0, 0, taken.to_bytes(4, "big")) if taken else b""


_SETTINGS_ACK: Final = frame(SETTINGS, ACK, 0)


def _widened(window: int, more: int) -> int:
    if window + more > WIDEST:
        raise Forbidden(f"expected a window of at most {WIDEST:,} bytes, got one of {window + more:,}")
    return window + more
