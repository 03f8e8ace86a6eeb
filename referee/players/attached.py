"""Bots that their authors run themselves, in a debugger for example: reached over TCP, and not started, held or ended.

Such a bot has no sandbox, no log and no digest. When it has broken down, its next game waits until it listens again.
"""

import asyncio
import os
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from referee.errors import UsageError
from referee.limits import Limits
from referee.model import Submission
from referee.ports import Address, BotState, CpuTimes, RunningBot, Sandbox
from treelings.http2 import PREFACE, SETTINGS, frame

VERSION: Final = "sha256:" + 64 * "0"
"""What stands in records for the digest of a bot whose files nobody has seen (records.md)."""

_AT_FIRST_S: Final = 5.0
_AGAIN_S: Final = 60.0  # for an author to start it once more
_CALL_S: Final = 2.0
_TRY_EVERY_S: Final = 0.2
_LOG: Final = "what it prints is shown where it runs"
_GREETING: Final = PREFACE + frame(SETTINGS, 0, 0)
_ANSWER: Final = bytes((SETTINGS,))  # after three bytes of length: what a server says first (RFC 9113, 3.4 and 4.1)
_NO_BOT: Final = "it is no bot that takes calls there"
_SILENT: Final = "no answer, as from a bot that still thinks or stands at a breakpoint (let it go on)"  # one thread

HostPort = tuple[str, int]


def attached_submission(name: str) -> Submission:
    """What takes the place of the files of a bot that its author runs."""
    return Submission(name, "attached", VERSION, Path(os.devnull), (), "attached")


class WithAttached:
    """A sandbox in which some bots are not run at all but called where they listen (ports.Sandbox)."""

    def __init__(
        self, inner: Sandbox, attached: Mapping[str, HostPort], tell: Callable[[str], None],
        *, at_first_s: float = _AT_FIRST_S, again_s: float = _AGAIN_S,
    ) -> None:  # fmt: skip
        """`attached`: where those bots listen, by name; `tell` is told in a line what is waited for.

        at_first_s, again_s  how long it is waited for a bot to listen: at the begin, and after it has broken down
        """
        self._inner = inner
        self._attached = attached
        self._tell = tell
        self._at_first_s = at_first_s
        self._again_s = again_s

    @property
    def name(self) -> str:
        """Of the sandbox of all other bots."""
        return self._inner.name

    async def open(self) -> None:
        """Wait for the bots that are attached, then open the sandbox. Raises UsageError, SandboxError."""
        for name, address in self._attached.items():
            await self._wait_for(name, address, self._at_first_s)
        await self._inner.open()

    async def start(self, submission: Submission, match: str) -> RunningBot:
        """Start a bot, or wait until it listens if it is attached. Raises SandboxError; UsageError if it does not."""
        address = self._attached.get(submission.name)
        if address is None:
            return await self._inner.start(submission, match)
        await self._wait_for(submission.name, address, self._again_s)
        return AttachedBot(submission, address)

    async def close(self) -> None:
        """Close the sandbox; bots that are attached go on."""
        await self._inner.close()

    async def _wait_for(self, name: str, address: HostPort, within_s: float) -> None:
        """Wait until somebody listens. Raises UsageError."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + within_s
        told = False
        while (obstacle := await _obstacle(address)) is not None:
            if loop.time() >= ends:
                raise UsageError(
                    f"{name}: expected it to listen on {shown(address)}, got: {obstacle}; start it there first, with "
                    f'treelings.serve(YourBot, listen="{shown(address)}") at the end of its file'
                )
            if not told:
                self._tell(f"{name}: waiting {within_s:.0f} s for it to listen on {shown(address)} ({obstacle}) …")
                told = True
            await asyncio.sleep(_TRY_EVERY_S)


class AttachedBot:
    """A bot that runs wherever its author lets it (ports.RunningBot)."""

    def __init__(self, submission: Submission, address: HostPort) -> None:
        self._submission = submission
        self._address = address

    @property
    def submission(self) -> Submission:
        """Its name; it has no files here."""
        return self._submission

    @property
    def limits(self) -> Limits:
        """Those of any bot, of which only `sent_bytes` counts: nothing else of it can be seen from here."""
        return Limits()

    @property
    def address(self) -> Address:
        """Where it listens."""
        return self._address

    def owns(self, pid: int) -> bool:
        """False: its processes may be another machine's."""
        return False

    def wake(self) -> None:
        """Nothing: it is never held."""

    def rest(self) -> None:
        """Nothing: it is never held."""

    def cpu_used_ms(self) -> float | None:
        """None: that cannot be told."""
        return None

    def cpu_times(self) -> CpuTimes | None:
        """None: that cannot be told."""
        return None

    async def state(self) -> BotState:
        """Whether somebody listens where it is to."""
        return BotState(running=await _obstacle(self._address) is None)

    async def log_tail(self) -> str:
        """In place of its log, where that is."""
        return _LOG

    async def stop(self) -> bytes:
        """Nothing: it goes on. It has no log here."""
        return b""


def shown(address: HostPort) -> str:
    """An address as it is written: "127.0.0.1:50051", "[::1]:50051"."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


async def _obstacle(address: HostPort) -> str | None:
    """Why no bot can be called there, in a few words; None if one takes the call.

    Asked before it is waited for a bot without end: who takes a call may be anybody, a mistyped port's web server too.
    """
    try:
        async with asyncio.timeout(_CALL_S):
            return None if await _greets(address) else _NO_BOT
    except TimeoutError:
        return _SILENT
    except OSError as error:
        return in_words(error)


def in_words(error: OSError) -> str:
    """Why a call failed: a loop words it as it likes; what a name service says has a number of its own, below zero."""
    return os.strerror(error.errno) if error.errno and error.errno > 0 else f"{error.strerror or error}"


async def _greets(address: HostPort) -> bool:
    """Whether somebody there greets as gRPC does. Raises OSError."""
    host, port = address
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    reader, writer = await asyncio.open_connection(host, port, family=family)
    try:
        writer.write(_GREETING)
        return (await reader.readexactly(4)).endswith(_ANSWER)
    except asyncio.IncompleteReadError:
        return False
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
