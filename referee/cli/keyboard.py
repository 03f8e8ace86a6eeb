"""Lines that a person types, or that come through a pipe, without ever holding up the event loop."""

import asyncio
import os
from collections import deque
from contextlib import suppress
from threading import Thread
from typing import Final

_CHUNK_BYTES: Final = 4096
_LONGEST_LINE_BYTES: Final = 1000  # what goes beyond is dropped


class Keyboard:
    """Reads lines from a file descriptor, and no more of it than it is asked for."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._lines: deque[bytes] = deque()
        self._rest = b""
        self._ended = False

    async def line(self) -> str | None:
        """The next line without its end, undecodable bytes escaped; None where the input has ended."""
        while not self._lines and not self._ended:
            chunk = await self._chunk()
            *lines, rest = (self._rest + chunk).split(b"\n")
            self._rest = rest[:_LONGEST_LINE_BYTES]
            self._lines += [line[:_LONGEST_LINE_BYTES] for line in lines]
            if not chunk:
                self._ended = True
                self._lines += [self._rest] if self._rest else []
        return self._lines.popleft().decode("utf-8", "backslashreplace") if self._lines else None

    async def _chunk(self) -> bytes:
        # A thread of its own that nobody waits for: one of the loop's pool would keep the process from ending at
        # Ctrl-C until somebody presses Enter. And os.read, which holds no lock that the interpreter's end would want.
        loop = asyncio.get_running_loop()
        came: asyncio.Future[bytes] = loop.create_future()

        def tell(data: bytes) -> None:
            if not came.done():
                came.set_result(data)

        def read() -> None:
            try:
                data = os.read(self._descriptor, _CHUNK_BYTES)
            except OSError:  # a terminal that was closed, or no input at all: it has ended
                data = b""
            with suppress(RuntimeError):  # the loop was closed meanwhile: nobody asks any more
                loop.call_soon_threadsafe(tell, data)

        Thread(target=read, name="keyboard", daemon=True).start()
        return await came
