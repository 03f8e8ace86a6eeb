"""The client's half of HTTP/2 and gRPC, as much of it as games need: bytes in, messages out; no socket, no clock.

RFC 9113 and gRPC's PROTOCOL-HTTP2.md. A client of gRPC's own would cost four times the processor time of this one, and
bounds no frames; here no frame is longer than 16 KiB, no message and no block of headers than it may be, nothing is
answered at greater length than it came, and whatever HTTP/2 forbids ends the conversation. How much may come in all is
for whoever reads the bytes to say (connection.py).
"""

import asyncio
from collections import deque
from collections.abc import Callable
from http import HTTPStatus
from typing import Final
from urllib.parse import unquote

from hpack import Decoder, HPACKError

LONGEST_MESSAGE: Final = 16 * 1024
"""Bytes that a message may have."""

LONGEST_HEADERS: Final = 8 * 1024
"""Bytes that a block of headers may have, packed, and what its headers come to, unpacked."""

_DATA, _HEADERS, _PRIORITY, _RST_STREAM, _SETTINGS, _PUSH_PROMISE, _PING, _GOAWAY, _WINDOW, _CONTINUATION = range(10)
_END_STREAM = _ACK = 0x1
_END_HEADERS, _PADDED, _WITH_PRIORITY = 0x4, 0x8, 0x20
_ENABLE_PUSH, _INITIAL_WINDOW, _MAX_HEADER_LIST = 0x2, 0x4, 0x6
_CANCEL: Final = (8).to_bytes(4, "big")

_HEAD_BYTES: Final = 9
_PREFIX_BYTES: Final = 5  # of each message: whether it is compressed, and its length
_LONGEST_FRAME: Final = 16 * 1024
_WINDOW_AT_FIRST: Final = 65_535
_WIDEST: Final = 2**31 - 1

_STATUSES: Final = {
    str(number): name
    for number, name in enumerate(
        (
            "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
            "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
            "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
        )
    )
}  # fmt: skip
_OF_RESET: Final = {7: "UNAVAILABLE", 8: "CANCELLED", 11: "RESOURCE_EXHAUSTED", 12: "PERMISSION_DENIED"}
_OF_HTTP: Final = {
    "400": "INTERNAL", "401": "UNAUTHENTICATED", "403": "PERMISSION_DENIED", "404": "UNIMPLEMENTED",
    "429": "UNAVAILABLE", "502": "UNAVAILABLE", "503": "UNAVAILABLE", "504": "UNAVAILABLE",
}  # fmt: skip


class _Forbidden(Exception):
    """The peer did what HTTP/2 or gRPC forbids, so that nothing that it says can be trusted any more."""

    def __init__(self, said: str, code: str = "INTERNAL") -> None:
        super().__init__(said)
        self.code = code


def _frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return b"".join(
        (len(payload).to_bytes(3, "big"), bytes((kind, flags)), stream.to_bytes(4, "big"), payload)
    )  # fmt: skip


def _setting(name: int, value: int) -> bytes:
    return name.to_bytes(2, "big") + value.to_bytes(4, "big")


def _header(name: bytes, value: bytes) -> bytes:
    """A header that no table remembers (RFC 7541, 6.2.2), neither name nor value longer than 126 bytes."""
    return bytes((0, len(name))) + name + bytes((len(value),)) + value


def _number(payload: bytes) -> int:
    return int.from_bytes(payload[:4], "big") & _WIDEST


# What a peer may send is bounded by bytes and not by windows: they are as wide as they can be.
_GREETING: Final = (
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    + _frame(
        _SETTINGS, 0, 0,
        _setting(_ENABLE_PUSH, 0) + _setting(_INITIAL_WINDOW, _WIDEST) + _setting(_MAX_HEADER_LIST, LONGEST_HEADERS),
    )
    + _frame(_WINDOW, 0, 0, (_WIDEST - _WINDOW_AT_FIRST).to_bytes(4, "big"))
)  # fmt: skip
_SETTINGS_ACK: Final = _frame(_SETTINGS, _ACK, 0)
# 0x20: a table of no entries, whatever the peer would allow; then POST and http from the table that all have. The path
# comes between: names with a colon before all others (RFC 9113, 8.3), or Node's server resets the stream.
_REQUEST: Final = b"\x20\x83\x86" + _header(b":authority", b"localhost")
_REQUEST_END: Final = _header(b"te", b"trailers") + _header(b"content-type", b"application/grpc")


class Call:
    """One call of a method that takes and gives messages until both sides have ended it.

    code     how the peer ended it: "OK", or another of gRPC's names; empty while it goes on
    details  what was said about it: hostile text of 8 KiB at most
    """

    def __init__(self, stream: int, window: int) -> None:
        self.code = ""
        self.details = ""
        self.stream: Final = stream
        self.window = window  # bytes that the peer lets us send
        self.unsent = bytearray()  # what waits for a window
        self.left = False  # nothing more will be sent
        self.begun = False  # the peer has answered with headers
        self._messages: deque[bytes] = deque()
        self._partial = bytearray()
        self._reader: asyncio.Future[None] | None = None

    async def read(self) -> bytes | None:
        """The next message; None where the peer has ended the call, in order or not."""
        while not self._messages:
            if self.code:
                return None
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        return self._messages.popleft()

    def take(self, data: bytes) -> None:
        """More of the peer's messages has come. Raises _Forbidden."""
        self._partial += data
        while len(self._partial) >= _PREFIX_BYTES:
            length = int.from_bytes(self._partial[1:_PREFIX_BYTES], "big")
            if self._partial[0]:
                raise _Forbidden("expected messages that are not compressed, got one that is", "UNIMPLEMENTED")
            if length > LONGEST_MESSAGE:
                said = f"expected messages of at most {LONGEST_MESSAGE:,} bytes, got one of {length:,}"
                raise _Forbidden(said, "RESOURCE_EXHAUSTED")
            end = _PREFIX_BYTES + length
            if len(self._partial) < end:
                return
            self._messages.append(bytes(self._partial[_PREFIX_BYTES:end]))
            del self._partial[:end]
            self._wake()

    def end(self, code: str, details: str) -> None:
        """The peer has ended it, with this status; only the first one counts."""
        if self.code:
            return
        if code == "OK" and self._partial:
            code, details = "INTERNAL", "it ended within a message"
        self.code, self.details = code, details
        self._wake()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)


class Session:
    """All calls over one connection. What is to be sent goes to `send`, in pieces that belong together."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._received = bytearray()  # less than a frame
        self._greeted = False  # the peer has told its settings
        self._calls: dict[int, Call] = {}  # those that the peer has not ended
        self._next = 1  # stream
        self._window = _WINDOW_AT_FIRST
        self._call_window = _WINDOW_AT_FIRST
        self._taken = 0  # bytes of the peer's data since our window was opened as wide as it can be
        self._block: tuple[int, bool, bytearray] | None = None  # headers that go on: stream, whether it ends, packed
        self._headers = Decoder(max_header_list_size=LONGEST_HEADERS)
        self._over = ""  # why there will be no further call
        send(_GREETING)

    @property
    def over(self) -> bool:
        """Whether no further call can be made."""
        return bool(self._over)

    @property
    def done(self) -> bool:
        """Whether nothing more can come of it at all."""
        return bool(self._over) and not self._calls

    def call(self, path: str) -> Call:
        """Begin a call. One that cannot be made has ended."""
        call = Call(self._next, self._call_window)
        if self._over:
            call.end("UNAVAILABLE", self._over)
            return call
        self._next += 2
        self._calls[call.stream] = call
        wider = _frame(_WINDOW, 0, 0, self._taken.to_bytes(4, "big")) if self._taken else b""
        self._taken = 0
        block = _REQUEST + _header(b":path", path.encode()) + _REQUEST_END
        self._send(wider + _frame(_HEADERS, _END_HEADERS, call.stream, block))
        return call

    def say(self, call: Call, message: bytes) -> None:
        """Send a message; as soon as the peer lets us, and never to one that has ended the call."""
        if not call.code and not call.left:
            call.unsent += b"\0" + len(message).to_bytes(4, "big") + message
            self._flush(call)

    def leave(self, call: Call) -> None:
        """Say no more; the peer may."""
        if not call.code and not call.left:
            call.left = True
            if not call.unsent:
                self._send(_frame(_DATA, _END_STREAM, call.stream))

    def receive(self, data: bytes | memoryview) -> None:
        """Take what the peer sent, in pieces as they come."""
        self._received += data
        try:
            self._take_frames()
        except _Forbidden as error:
            self.lose(str(error), error.code)

    def _take_frames(self) -> None:
        received, at = self._received, 0
        while len(received) - at >= _HEAD_BYTES:
            length = int.from_bytes(received[at : at + 3], "big")
            if length > _LONGEST_FRAME:
                raise _Forbidden(f"expected frames of at most {_LONGEST_FRAME:,} bytes, got one of {length:,}")
            end = at + _HEAD_BYTES + length
            if end > len(received):
                break
            stream = int.from_bytes(received[at + 5 : at + _HEAD_BYTES], "big") & _WIDEST
            self._frame(received[at + 3], received[at + 4], stream, bytes(received[at + _HEAD_BYTES : end]))
            at = end
        del received[:at]

    def lose(self, why: str, code: str = "UNAVAILABLE") -> None:
        """The connection is of no more use: all calls end."""
        self._over = self._over or why
        self._block = None
        calls, self._calls = self._calls, {}
        for call in calls.values():
            call.end(code, why)
        self._received.clear()

    def _frame(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if not self._greeted:
            if kind != _SETTINGS or flags & _ACK:
                raise _Forbidden("expected a server of HTTP/2, which begins with its settings", "UNAVAILABLE")
            self._greeted = True
        if self._block is not None and (kind != _CONTINUATION or stream != self._block[0]):
            raise _Forbidden("expected headers to go on, got another frame")
        if kind == _DATA:
            self._data(flags, stream, payload)
        elif kind == _HEADERS:
            self._begin_block(flags, stream, payload)
        elif kind == _CONTINUATION:
            self._go_on_with_block(flags, payload)
        elif kind == _WINDOW:
            self._widen(stream, payload)
        elif kind == _PING:
            if stream or len(payload) != 8:
                raise _Forbidden("expected pings of 8 bytes on stream 0")
            if not flags & _ACK:
                self._send(_frame(_PING, _ACK, 0, payload))
        elif kind == _SETTINGS:
            self._settle(flags, stream, payload)
        elif kind == _RST_STREAM:
            self._reset(stream, payload)
        elif kind == _GOAWAY:
            self._go_away(stream, payload)
        elif kind == _PUSH_PROMISE:
            raise _Forbidden("expected no promises, got one")
        # All others are to be ignored (RFC 9113, 4.1), and so are priorities.

    def _called(self, stream: int, what: str) -> Call | None:
        """The call on this stream; None if it has ended. Raises _Forbidden if it was never made."""
        if stream == 0 or stream >= self._next or stream % 2 == 0:
            raise _Forbidden(f"expected {what} on a stream that was opened, got stream {stream:,}")
        return self._calls.get(stream)

    def _data(self, flags: int, stream: int, payload: bytes) -> None:
        call = self._called(stream, "data")
        self._taken += len(payload)
        if flags & _PADDED:
            payload = _without_padding(payload)
        if call is None:
            return
        if not call.begun:
            raise _Forbidden("expected headers before data")
        try:
            call.take(payload)
        except _Forbidden as error:
            self._give_up(call, error.code, str(error))
            return
        if flags & _END_STREAM:
            self._end(call, "UNKNOWN", "it ended without a status")

    def _begin_block(self, flags: int, stream: int, payload: bytes) -> None:
        if (
            self._called(stream, "headers") is None
        ):  # to unpack them costs ten times what other frames of that length do
            raise _Forbidden(f"expected no headers on a stream that has ended, got some on stream {stream:,}")
        if flags & _PADDED:
            payload = _without_padding(payload)
        if flags & _WITH_PRIORITY:
            payload = payload[5:]
        self._block = stream, bool(flags & _END_STREAM), bytearray()
        self._go_on_with_block(flags, payload)

    def _go_on_with_block(self, flags: int, payload: bytes) -> None:
        if self._block is None:
            raise _Forbidden("expected no headers that go on, got some")
        stream, ends, packed = self._block
        packed += payload
        if len(packed) > LONGEST_HEADERS:
            raise _Forbidden(f"expected headers of at most {LONGEST_HEADERS:,} bytes, got more", "RESOURCE_EXHAUSTED")
        if flags & _END_HEADERS:
            self._block = None
            self._answer(self._calls[stream], self._unpacked(bytes(packed)), ends=ends)

    def _unpacked(self, packed: bytes) -> dict[str, str]:
        """The headers by name; of some with one name the last."""
        try:
            return {
                str(name, "ascii", "replace"): str(value, "utf-8", "replace")
                for name, value in self._headers.decode(packed, raw=True)
            }
        except (HPACKError, IndexError, ValueError, TypeError) as error:
            said = f"expected headers as HPACK packs them, {LONGEST_HEADERS:,} bytes at most: {type(error).__name__}"
            raise _Forbidden(said) from error

    def _answer(self, call: Call, headers: dict[str, str], *, ends: bool) -> None:
        if not call.begun:
            http = headers.get(":status", "none")
            if http != str(HTTPStatus.OK.value):
                self._give_up(call, _OF_HTTP.get(http, "UNKNOWN"), f"expected HTTP status 200, got {http}")
                return
            if not headers.get("content-type", "").startswith("application/grpc"):
                self._give_up(call, "UNKNOWN", "expected an answer of content-type application/grpc")
                return
            call.begun = True
            if not ends:
                return
        elif not ends:
            raise _Forbidden("expected headers at the begin and at the end of a stream, got more")
        code = headers.get("grpc-status", "")
        if not code:
            self._end(call, "UNKNOWN", "it ended without a status")
            return
        self._end(call, _STATUSES.get(code, "UNKNOWN"), unquote(headers.get("grpc-message", ""), errors="replace"))

    def _widen(self, stream: int, payload: bytes) -> None:
        if len(payload) != 4 or not (more := _number(payload)):
            raise _Forbidden("expected windows to be opened by 1 or more, in 4 bytes")
        if stream == 0:
            self._window = _widened(self._window, more)
            for call in list(self._calls.values()):
                self._flush(call)
        elif (at := self._called(stream, "a window")) is not None:
            at.window = _widened(at.window, more)
            self._flush(at)

    def _settle(self, flags: int, stream: int, payload: bytes) -> None:
        if stream or len(payload) % 6 or (flags & _ACK and payload):
            raise _Forbidden("expected settings of 6 bytes each, on stream 0")
        if flags & _ACK:
            return
        for at in range(0, len(payload), 6):
            if int.from_bytes(payload[at : at + 2], "big") == _INITIAL_WINDOW:
                self._set_window(int.from_bytes(payload[at + 2 : at + 6], "big"))
        self._send(_SETTINGS_ACK)

    def _set_window(self, bytes_: int) -> None:
        """What a call may send at first; those that go on may send so much more, or less, too (RFC 9113, 6.9.2)."""
        if bytes_ > _WIDEST:
            raise _Forbidden(f"expected a window of at most {_WIDEST:,} bytes, got one of {bytes_:,}")
        more, self._call_window = bytes_ - self._call_window, bytes_
        for call in list(self._calls.values()):
            call.window = _widened(call.window, more)
            self._flush(call)

    def _reset(self, stream: int, payload: bytes) -> None:
        call = self._called(stream, "a reset")
        if len(payload) != 4:
            raise _Forbidden("expected resets of 4 bytes")
        if call is not None:
            code = int.from_bytes(payload, "big")
            self._end(call, _OF_RESET.get(code, "INTERNAL"), f"it reset the stream (RST_STREAM, code {code:,})")

    def _go_away(self, stream: int, payload: bytes) -> None:
        if stream or len(payload) < 8:
            raise _Forbidden("expected GOAWAY of 8 bytes or more, on stream 0")
        last, code = _number(payload), int.from_bytes(payload[4:8], "big")
        why = f"GOAWAY received (code {code:,}) {payload[8:].decode('utf-8', 'replace')}".strip()
        self._over = self._over or why
        for call in [call for call in self._calls.values() if call.stream > last]:
            self._end(call, "UNAVAILABLE", why)

    def _flush(self, call: Call) -> None:
        """Send what the windows have room for, with the call's end if that is all."""
        while call.unsent and (room := min(call.window, self._window, _LONGEST_FRAME)) > 0:
            piece = bytes(call.unsent[:room])
            del call.unsent[:room]
            call.window -= len(piece)
            self._window -= len(piece)
            last = call.left and not call.unsent
            self._send(_frame(_DATA, _END_STREAM if last else 0, call.stream, piece))

    def _give_up(self, call: Call, code: str, details: str) -> None:
        """End a call whose peer has not."""
        self._send(_frame(_RST_STREAM, 0, call.stream, _CANCEL))
        self._end(call, code, details)

    def _end(self, call: Call, code: str, details: str) -> None:
        self._calls.pop(call.stream, None)
        call.end(code, details)


def _without_padding(payload: bytes) -> bytes:
    if not payload or payload[0] >= len(payload):
        raise _Forbidden("expected less padding than the frame is long")
    return payload[1 : len(payload) - payload[0]]


def _widened(window: int, more: int) -> int:
    if window + more > _WIDEST:
        raise _Forbidden(f"expected a window of at most {_WIDEST:,} bytes, got one of {window + more:,}")
    return window + more
