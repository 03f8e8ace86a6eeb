"""The client's half of HTTP/2 and gRPC, as much of it as games need: bytes in, messages out; no socket, no clock.

What both halves do alike is the kit's (treelings/http2.py). A client of gRPC's own would cost four times the processor
time of this one, and bounds no frames. How much may come in all is for whoever reads the bytes to say (connection.py).
"""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Final
from urllib.parse import unquote

from treelings.http2 import (
    DATA,
    ENABLE_PUSH,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    INITIAL_WINDOW,
    MAX_HEADER_LIST,
    PREFACE,
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

LONGEST_MESSAGE: Final = 16 * 1024
"""Bytes that a message may have."""

LONGEST_HEADERS: Final = 8 * 1024
"""Bytes that a block of headers may have, packed, and what its headers come to, unpacked."""

_CANCEL: Final = (8).to_bytes(4, "big")
_STATUSES: Final = {str(number): name for number, name in enumerate(STATUSES)}
_OF_RESET: Final = {7: "UNAVAILABLE", 8: "CANCELLED", 11: "RESOURCE_EXHAUSTED", 12: "PERMISSION_DENIED"}
_OF_HTTP: Final = {
    "400": "INTERNAL", "401": "UNAUTHENTICATED", "403": "PERMISSION_DENIED", "404": "UNIMPLEMENTED",
    "429": "UNAVAILABLE", "502": "UNAVAILABLE", "503": "UNAVAILABLE", "504": "UNAVAILABLE",
}  # fmt: skip

# What a peer may send is bounded by bytes and not by windows: they are as wide as they can be.
_GREETING: Final = (
    PREFACE
    + frame(
        SETTINGS, 0, 0,
        setting(ENABLE_PUSH, 0) + setting(INITIAL_WINDOW, WIDEST) + setting(MAX_HEADER_LIST, LONGEST_HEADERS),
    )
    + frame(WINDOW, 0, 0, (WIDEST - WINDOW_AT_FIRST).to_bytes(4, "big"))
)  # fmt: skip
# 0x20: a table of no entries, whatever the peer would allow; then POST and http from the table that all have. The path
# comes between: names with a colon before all others (RFC 9113, 8.3), or Node's server resets the stream.
_REQUEST: Final = b"\x20\x83\x86" + header(b":authority", b"localhost")
_REQUEST_END: Final = header(b"te", b"trailers") + header(b"content-type", b"application/grpc")


class Call(Stream):
    """One call of a method that takes and gives messages until both sides have ended it.

    code     how the peer ended it: "OK", or another of gRPC's names; empty while it goes on
    details  what was said about it: hostile text of 8 KiB at most
    """

    def __init__(self, number: int, window: int) -> None:
        super().__init__(number, window, LONGEST_MESSAGE)
        self.code = ""
        self.details = ""
        self.left = False  # nothing more will be sent
        self.begun = False  # the peer has answered with headers
        self._reader: asyncio.Future[None] | None = None

    async def read(self) -> bytes | None:
        """The next message; None where the peer has ended the call, in order or not."""
        while not self.messages:
            if self.code:
                return None
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        return self.messages.popleft()

    def take(self, data: bytes) -> None:
        """More of the peer's messages has come. Raises Forbidden."""
        super().take(data)
        if self.messages:
            self._wake()

    def end(self, code: str, details: str) -> None:
        """The peer has ended it, with this status; only the first one counts."""
        if self.code:
            return
        if code == "OK" and self.partial:
            code, details = "INTERNAL", "it ended within a message"
        self.code, self.details = code, details
        self._wake()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)


class Session(End[Call]):
    """All calls over one connection. What is to be sent goes to `send`, in pieces that belong together."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        super().__init__(send, LONGEST_HEADERS)
        self._next = 1  # stream
        self._over = ""  # why there will be no further call
        self._send(_GREETING)

    @property
    def over(self) -> bool:
        """Whether no further call can be made."""
        return bool(self._over)

    @property
    def done(self) -> bool:
        """Whether nothing more can come of it at all."""
        return bool(self._over) and not self._streams

    def call(self, path: str) -> Call:
        """Begin a call. One that cannot be made has ended."""
        call = Call(self._next, self._stream_window)
        if self._over:
            call.end("UNAVAILABLE", self._over)
            return call
        self._next += 2
        self._streams[call.number] = call
        block = _REQUEST + header(b":path", path.encode()) + _REQUEST_END
        self._send(self._wider() + frame(HEADERS, END_HEADERS, call.number, block))
        return call

    def say(self, call: Call, message: bytes) -> None:
        """Send a message; as soon as the peer lets us, and never to one that has ended the call."""
        if not call.code and not call.left:
            self._say(call, message)

    def leave(self, call: Call) -> None:
        """Say no more; the peer may."""
        if not call.code and not call.left:
            call.left = True
            call.farewell = frame(DATA, END_STREAM, call.number)
            self._flush(call)

    def receive(self, data: bytes | memoryview) -> None:
        """Take what the peer sent, in pieces as they come."""
        try:
            self._take(data)
        except Forbidden as error:
            self.lose(str(error), error.code)

    def lose(self, why: str, code: str = "UNAVAILABLE") -> None:
        """The connection is of no more use: all calls end."""
        self._over = self._over or why
        self._block = None
        calls, self._streams = self._streams, {}
        for call in calls.values():
            call.end(code, why)
        self._received.clear()

    def _opened(self, number: int, what: str) -> Call | None:
        if number == 0 or number >= self._next or number % 2 == 0:
            raise Forbidden(f"expected {what} on a stream that was opened, got stream {number:,}")
        return self._streams.get(number)

    def _may_have_headers(self, number: int) -> None:
        if self._opened(number, "headers") is None:
            # To unpack them costs ten times what other frames of that length do.
            raise Forbidden(f"expected no headers on a stream that has ended, got some on stream {number:,}")

    def _take_data(self, stream: Call, payload: bytes, *, ends: bool) -> None:
        if not stream.begun:
            raise Forbidden("expected headers before data")
        try:
            stream.take(payload)
        except Forbidden as error:
            self._give_up(stream, error.code, str(error))
            return
        if ends:
            self._end(stream, "UNKNOWN", "it ended without a status")

    def _take_headers(self, number: int, headers: dict[str, str], *, ends: bool) -> None:
        call = self._streams[number]
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
            raise Forbidden("expected headers at the begin and at the end of a stream, got more")
        code = headers.get("grpc-status", "")
        if not code:
            self._end(call, "UNKNOWN", "it ended without a status")
            return
        self._end(call, _STATUSES.get(code, "UNKNOWN"), unquote(headers.get("grpc-message", ""), errors="replace"))

    def _reset(self, stream: Call, code: int) -> None:
        self._end(stream, _OF_RESET.get(code, "INTERNAL"), f"it reset the stream (RST_STREAM, code {code:,})")

    def _go_away(self, last: int, code: int, said: bytes) -> None:
        why = f"GOAWAY received (code {code:,}) {said.decode('utf-8', 'replace')}".strip()
        self._over = self._over or why
        for call in [call for call in self._streams.values() if call.number > last]:
            self._end(call, "UNAVAILABLE", why)

    def _give_up(self, call: Call, code: str, details: str) -> None:
        """End a call whose peer has not."""
        self._send(frame(RST_STREAM, 0, call.number, _CANCEL))
        self._end(call, code, details)

    def _end(self, call: Call, code: str, details: str) -> None:
        self._streams.pop(call.number, None)
        call.end(code, details)
