"""Why a bot's stream broke: its process ended, of itself or by its memory limit, or it merely hung up."""

import asyncio
import re
import signal
from typing import Final

from referee.model import FaultKind
from referee.players.paths import without_paths
from referee.ports import BotState, RunningBot
from referee.text import printable

_PATIENCE_S: Final = 1.0  # a process that ends breaks its streams a moment before it is seen to have ended
_LOOK_EVERY_S: Final = 0.02
_LEAST_LOOKS: Final = 10  # where the machine stood still meanwhile, the process did so too
_LONGEST_LINE: Final = 160
# Python's way to name a line; "its folder" is what `without_paths` makes of it, /bot where a container mounts it.
_PLACE: Final = re.compile(r'^ *File "(?:its folder|/bot)/([\w./-]{1,80})", line (\d{1,6})', re.ASCII | re.MULTILINE)

# Node's: the error, where it was raised, and at last its own version.
_NODE_ENDS: Final = "Node.js v"
_NODE_ERROR: Final = re.compile(r"[A-Z]\w{0,40}(?:Error|Exception)?: ", re.ASCII)
_NODE_PLACE: Final = re.compile(
    r"^ +at .{0,200}?(?:its folder|/bot)/([\w./-]{1,80}):(\d{1,6}):\d{1,6}\)?$", re.ASCII | re.MULTILINE
)


async def explain(bot: RunningBot, otherwise: str) -> tuple[FaultKind, str]:
    """The fault behind a broken stream, and how the bot ended; `otherwise` if its process lives on.

    Takes up to a second. Raises EngineGone.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + _PATIENCE_S
    looks = 0
    while (state := await bot.state()).running:
        looks += 1
        if looks >= _LEAST_LOOKS and loop.time() >= deadline:
            return FaultKind.PROTOCOL, otherwise
        await asyncio.sleep(_LOOK_EVERY_S)
    kind = FaultKind.OUT_OF_MEMORY if state.out_of_memory else FaultKind.CRASH
    return kind, await ending(bot, state)


async def ending(bot: RunningBot, state: BotState) -> str:
    """How a bot that has ended did so, with the last line that it logged; printable and bounded."""
    if state.out_of_memory:
        return "the bot was ended by its memory limit"
    log = without_paths(await bot.log_tail(), bot)
    lines = [line for line in log.splitlines() if line.strip()]
    logged = (
        f"last line of its log: '{printable(_last(lines).strip(), _LONGEST_LINE)}'" if lines else "it logged nothing"
    )
    return f"the bot ended with {_exit(state.exit_code)} ({logged}{_place(log)})"


def _last(lines: list[str]) -> str:
    """The last line that says something: below an error Node tells where it was raised, and its own version."""
    if lines[-1].startswith(_NODE_ENDS):
        return next((line for line in reversed(lines) if _NODE_ERROR.match(line)), lines[-1])
    return lines[-1]


def _place(log: str) -> str:
    """Where in the bot's own files the last traceback of its log ends; empty if there is none."""
    places = _PLACE.findall(log) or _NODE_PLACE.findall(log)[:1]
    return f"; at {places[-1][0]}, line {places[-1][1]}" if places else ""


def _exit(code: int | None) -> str:
    if code is None:
        return "an unknown exit code"
    # The operating system tells a signal as a negative number, shells and engines as 128 and more.
    number = -code if code < 0 else code - 128
    name = next((known.name for known in signal.Signals if known == number), None)
    return f"exit code {code}" + (f", {name}" if name else "")
