"""Waits until a freshly started bot can be reached."""

import asyncio
import math
import socket
import time
from collections.abc import Callable
from typing import Final

from referee.model import FaultKind
from referee.players import standstill
from referee.players.dial import dial
from referee.players.endings import ending
from referee.ports import Failure, RunningBot

_TRY_EVERY_S: Final = 0.005
_LOOK_EVERY_S: Final = 0.1  # whether it still lives: that question may go to an engine


async def wait_until_listening(
    bot: RunningBot, allowance_ms: int | None, now: Callable[[], float] = time.monotonic
) -> socket.socket | Failure:
    """Call the bot until it takes a connection, and return that, non-blocking; the Failure is of kind `startup`.

    Ends early for a bot that has ended. Without an allowance it waits for as long as the bot lives. gRPC must not be
    let loose before somebody listens: it would back off for a second. Raises SandboxError for our own side, also if
    we stood still while a bot did not listen in time.
    """
    deadline = math.inf if allowance_ms is None else now() + allowance_ms / 1000
    look = now() + _LOOK_EVERY_S
    longest_s = 0.0  # what a pause between two tries took
    while isinstance(reached := await dial(bot), str):
        if now() >= deadline:
            standstill.check(_TRY_EVERY_S, longest_s)
            detail = f"expected the bot to listen on its socket within {allowance_ms:,} ms: {reached}"
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
    return reached
