"""The server's half of HTTP/2 and gRPC: calls of one method come, are answered and ended; no socket, no clock.

It sends no pings, and asks for no smaller pieces than HTTP/2 has by itself. What waits unread is bounded by bytes, not
by windows, which are as wide as they can be.
"""

from collections.abc import Callable
from typing import Final

from treelings.http2 import (
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    INITIAL_WINDOW,
    MAX_HEADER_LIST,
    MOST_STREAMS,
    PREFACE,
    PREFIX_BYTES,
    RST_STREAM,
    SETTINGS,
    STATUSES,
    WIDEST,
    WINDOW,
    WINDOW_AT_FIRST,
    End,
    Forbidden,
    Stream,
    frame,
    header,
    setting,
)  # fmt: skip

LONGEST_MESSAGE: Final = 64 * 1024
"""Bytes that a message may have."""

LONGEST_HEADERS: Final = 16 * 1024
"""Bytes that a block of headers may have, packed, and what its headers come to, unpacked."""

MOST_UNREAD: Final = 256 * 1024
"""Bytes of messages of one call that may wait to be read."""

_MOST_CALLS: Final = 64
_NO_ERROR, _PROTOCOL_ERROR, _REFUSED_STREAM = (code.to_bytes(4, "big") for code in (0, 1, 7))

_GREETING: Final = frame(
    SETTINGS, 0, 0,
    setting(MOST_STREAMS, _MOST_CALLS) + setting(INITIAL_WINDOW, WIDEST) + setting(MAX_HEADER_LIST, LONGEST_HEADERS),
) + frame(WINDOW, 0, 0, (WIDEST - WINDOW_AT_FIRST).to_bytes(4, "big"))  # fmt: skip
# 0x20: a table of no entries, whatever the peer would allow; 0x88: status 200, from the table that all have.
_RESPONSE: Final = b"\x20\x88" + header(b"content-type", b"application/grpc")
_NO_GRPC: Final = b"\x20\x08\x03415"


class Call(Stream):
    """A call of the method.

    gone  the peer has given it up, or is gone itself
    left  the peer says no more in it
    """

    def __init__(self, number: int, window: int, session: "Session") -> None:
        super().__init__(number, window, LONGEST_MESSAGE)
        self.gone = False
        self.left = False
        self.over = False  # we have ended it
        self.begun = False  # we have answered with headers
        self.unread_bytes = 0
        self._session = session

    def take(self, data: bytes) -> None:
        """More of the peer's messages has come. Raises Forbidden."""
        self.unread_bytes += len(data)
        if self.unread_bytes > MOST_UNREAD:
            raise Forbidden(f"expected at most {MOST_UNREAD:,} bytes ahead, got more", "RESOURCE_EXHAUSTED")
        super().take(data)

    def read(self) -> bytes:
        """The next of its messages, which is there."""
        message = self.messages.popleft()
        self.unread_bytes -= PREFIX_BYTES + len(message)
        return message

    def say(self, message: bytes) -> None:
        """Send a message; nothing to one that is gone."""
        self._session.say(self, message)

    def end(self, code: str, details: str) -> None:
        """End it with a status of gRPC; only the first one counts."""
        self._session.end(self, code, details)

    @property
    def told(self) -> bool:
        """Whether all of it has been sent, its end too, or nobody is there to be told."""
        return self.gone or (self.over and not self.unsent and not self.farewell)


class Session(End[Call]):
    """All calls over one connection."""

    def __init__(self, path: str, send: Callable[[bytes], None], called: Callable[[Call], None]) -> None:
        """`path` is the method's; `called` is handed each call of it."""
        super().__init__(send, LONGEST_HEADERS)
        self._path = path
        self._called = called
        self._last = 0  # stream
        self._preface = PREFACE  # what of it has not come yet
        self._send(_GREETING)

    def receive(self, data: bytes | memoryview) -> bool:
        """Take what the peer sent, in pieces as they come. False: it is no peer to talk to any more; hang up."""
        try:
            if self._preface:
                data = self._greet(bytes(data))
            self._take(data)
        except Forbidden as error:
            said = str(error).encode("ascii", "replace")
            self._send(frame(GOAWAY, 0, 0, self._last.to_bytes(4, "big") + _PROTOCOL_ERROR + said))
            return False
        return True

    def lose(self) -> None:
        """The connection is of no more use."""
        streams, self._streams = self._streams, {}
        for call in streams.values():
            call.gone = True

    def say(self, call: Call, message: bytes) -> None:
        """Send a message; nothing to a call that is gone."""
        if call.gone or call.over:
            return
        if not call.begun:
            call.begun = True
            self._send(frame(HEADERS, END_HEADERS, call.number, _RESPONSE))
        self._say(call, message)

    def end(self, call: Call, code: str, details: str) -> None:
        """End a call; only the first time counts."""
        if call.gone or call.over:
            return
        call.over = True
        block = b"" if call.begun else _RESPONSE
        block += header(b"grpc-status", str(STATUSES.index(code)).encode())
        if details:
            block += header(b"grpc-message", _quoted(details))
        call.farewell = frame(HEADERS, END_HEADERS | END_STREAM, call.number, block)
        if not call.left:
            call.farewell += frame(RST_STREAM, 0, call.number, _NO_ERROR)  # RFC 9113, 8.1
        self._flush(call)

    def _greet(self, data: bytes) -> bytes:
        """What comes after the preface. Raises Forbidden where there is none."""
        count = min(len(data), len(self._preface))
        if data[:count] != self._preface[:count]:
            raise Forbidden("expected HTTP/2 by prior knowledge")
        self._preface = self._preface[count:]
        return data[count:]

    def _flush(self, stream: Call) -> None:
        super()._flush(stream)
        if stream.told:
            self._streams.pop(stream.number, None)

    def _opened(self, number: int, what: str) -> Call | None:
        if number == 0 or number > self._last or number % 2 == 0:
            raise Forbidden(f"expected {what} on a stream that was opened, got stream {number:,}")
        return self._streams.get(number)

    def _may_have_headers(self, number: int) -> None:
        if number % 2 == 0:
            raise Forbidden(f"expected headers on a stream of a client's, got stream {number:,}")

    def _take_data(self, stream: Call, payload: bytes, *, ends: bool) -> None:
        if stream.over or stream.left:
            return
        try:
            stream.take(payload)
        except Forbidden as error:
            self.end(stream, error.code, str(error))
            return
        stream.left = ends

    def _take_headers(self, number: int, headers: dict[str, str], *, ends: bool) -> None:
        if number in self._streams:
            if not ends:
                raise Forbidden("expected headers at the begin and at the end of a stream, got more")
            self._streams[number].left = True
            return
        if number <= self._last:
            return  # of a call that we have ended
        self._last = number
        if len(self._streams) >= _MOST_CALLS:
            self._send(frame(RST_STREAM, 0, number, _REFUSED_STREAM))
            return
        if headers.get(":method") != "POST" or not headers.get("content-type", "").startswith("application/grpc"):
            answer = frame(HEADERS, END_HEADERS | END_STREAM, number, _NO_GRPC)
            self._send(answer if ends else answer + frame(RST_STREAM, 0, number, _NO_ERROR))
            return
        if wider := self._wider():
            self._send(wider)
        call = self._streams[number] = Call(number, self._stream_window, self)
        call.left = ends
        if headers.get(":path") == self._path:
            self._called(call)
        else:
            self.end(call, "UNIMPLEMENTED", "Method not found!")

    def _reset(self, stream: Call, code: int) -> None:
        self._streams.pop(stream.number, None)
        stream.gone = True

    def _go_away(self, last: int, code: int, said: bytes) -> None:
        pass  # it will make no more calls, and hang up once those that it has made are over


def _quoted(text: str) -> bytes:
    """As gRPC wants a status's message: what is no printable ASCII, percent signs too, as %XX."""
    return b"".join(
        bytes((byte,)) if 0x20 <= byte < 0x7F and byte != 0x25 else b"%%%02X" % byte for byte in text.encode()
    )
