"""Waits until a freshly started bot can be reached."""

import asyncio
import socket
import time
from collections.abc import Callable
from typing import Final

from referee.model import FaultKind
from referee.players.dial import dial
from referee.players.endings import ending
from referee.ports import Failure, RunningBot

_TRY_EVERY_S: Final = 0.005
_LOOK_EVERY_S: Final = 0.1  # whether it still lives: that question may go to an engine


async def wait_until_listening(
    bot: RunningBot, now: Callable[[], float] = time.monotonic, tell: Callable[[str], None] | None = None
) -> socket.socket | Failure:
    """Call the bot until it takes a connection, and return that, non-blocking; the Failure is of kind `startup`.

    Waits for as long as the bot lives: whoever calls has a limit. `tell` is told why the bot cannot be reached as yet,
    as the end of a sentence on its socket. gRPC must not be let loose before somebody listens: it would back off for a
    second. Raises SandboxError.
    """
    look = now() + _LOOK_EVERY_S
    while isinstance(reached := await dial(bot), str):
        if tell is not None:
            tell(reached)
        if now() >= look:
            state = await bot.state()
            if not state.running:
                detail = f"{await ending(bot, state)} before it listened on its socket"
                return Failure(FaultKind.STARTUP, detail)
            look = now() + _LOOK_EVERY_S
        await asyncio.sleep(_TRY_EVERY_S)
    return reached
