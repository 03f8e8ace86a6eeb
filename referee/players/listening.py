"""Waits until a freshly started bot listens on its socket."""

import asyncio
import socket
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from referee.model import FaultKind
from referee.players import standstill
from referee.players.endings import ending
from referee.ports import Address, Failure, RunningBot

_TRY_EVERY_S: Final = 0.005
_LOOK_EVERY_S: Final = 0.1  # whether it still lives: that question may go to an engine


async def wait_until_listening(
    bot: RunningBot, allowance_ms: int, now: Callable[[], float] = time.monotonic
) -> Failure | None:
    """Try the bot's socket until it takes a connection; the Failure is of kind `startup`.

    Ends early for a bot that has ended. gRPC must not be set on a socket before somebody listens there: it
    would back off for a second. Raises SandboxError for our own side, also if we stood still while a bot did not
    listen in time.
    """
    deadline = now() + allowance_ms / 1000
    look = now() + _LOOK_EVERY_S
    longest_s = 0.0  # what a pause between two tries took
    while (obstacle := _obstacle(bot.address)) is not None:
        if now() >= deadline:
            standstill.check(_TRY_EVERY_S, longest_s)
            detail = f"expected the bot to listen on its socket within {allowance_ms:,} ms: {obstacle}"
            return Failure(FaultKind.STARTUP, detail)
        if now() >= look:
            state = await bot.state()
            if not state.running:
                detail = f"{await ending(bot, state)} before it listened on its socket"
                return Failure(FaultKind.STARTUP, detail)
            look = now() + _LOOK_EVERY_S
        paused = now()
        await asyncio.sleep(_TRY_EVERY_S)
        longest_s = max(longest_s, now() - paused)
    return None


def _obstacle(path: Address) -> str | None:
    """Why nobody can be reached at this path; None if somebody can."""
    assert isinstance(path, Path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as attempt:
        attempt.settimeout(0)
        try:
            if not stat.S_ISSOCK(path.lstat().st_mode):
                return "what it put there is no socket"
            attempt.connect(str(path))
        except FileNotFoundError:
            return "it is not there"
        except ConnectionRefusedError:
            return "it is there, but nobody listens"
        except PermissionError:
            return "it is there, but others may not write to it (expected mode 0666)"
        except BlockingIOError:  # somebody listens, with more callers than it has taken yet
            return None
    return None
