"""What a bot's start costs: python -m bench.start.

From the call that starts the sample bot `random` in a container to a connection on its socket, and on to its first
answer. Beside it, in the same run and in turn: a container of the same image with none of the sandbox's options and
no network that merely imports grpc, from its making to its end. What a machine does meets both alike; figures are
medians. The processor's time is the whole machine's: it is to do nothing else.
"""

import asyncio
import os
import socket
import sys
from math import nan
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final

from docker import APIClient

from referee.limits import Limits
from referee.loop import run
from referee.players.grpc_player import BotLink
from referee.players.listening import wait_until_listening
from referee.sandbox.choose import choose_sandbox
from referee.sandbox.engine import connect
from referee.sandbox.image import wanted_image
from referee.submissions import find_bot, inspect
from treelings import Clock, GameStart

TITLE: Final = "a container, from its start"
ROUNDS: Final = 15
PATIENCE_S: Final = 30
_SETTLE_S: Final = 0.15
_STAT: Final = Path("/proc/stat")
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")

FIGURES: Final = {
    "container_started_ms": ("start of a bot: until the engine has started its container, ms", ""),
    "listening_ms": ("start of a bot: until it listens, ms", ""),
    "first_answer_ms": ("start of a bot: until its first answer, ms", ""),
    "removed_ms": ("end of a bot, with all that it left; nobody waits for it, ms", ""),
    "busy_ms": ("start and end of a bot, of the whole machine's processor time, ms", ""),
    "bot_busy_ms": ("of it the bot's own, from its first instruction until it listens, ms", ""),
    "bare_import_grpc_ms": ("a bare container that imports grpc, from its making to its end, ms", ""),
    "first_answer_vs_bare": ("start of a bot until its first answer / a bare container that imports grpc", "<= 1.1"),
}


def measure() -> dict[str, float]:
    """Medians over the rounds, of ratios too. Raises SandboxError where there is no engine."""
    sandbox, _ = choose_sandbox(
        "docker", league="bench", limits=Limits(), report=lambda line: print(line, file=sys.stderr)
    )

    async def rounds() -> list[dict[str, float]]:
        await sandbox.open()
        try:
            submission = inspect(find_bot("random"))
            timed = []
            for number in range(ROUNDS):
                busy = busy_s()
                began = perf_counter()
                bot = await sandbox.start(submission, "bench")
                started = perf_counter()
                async with asyncio.timeout(PATIENCE_S):
                    reached = await wait_until_listening(bot)
                listening, own = perf_counter(), bot.cpu_used_ms()
                if isinstance(reached, socket.socket):
                    reached.close()
                link = BotLink(bot)
                await link.player().start(GameStart(f"bench/{number}", 0, 2, "start", Clock()))
                answered = perf_counter()
                await bot.stop()
                stopped = perf_counter()
                await link.close()
                await asyncio.sleep(_SETTLE_S)  # the engine goes on for a while
                busy = busy_s() - busy
                bare = await asyncio.to_thread(_bare, engine)
                timed.append(
                    {
                        "container_started_ms": (started - began) * 1000,
                        "listening_ms": (listening - began) * 1000,
                        "first_answer_ms": (answered - began) * 1000,
                        "removed_ms": (stopped - answered) * 1000,
                        "busy_ms": busy * 1000,
                        "bot_busy_ms": nan if own is None else own,
                        "bare_import_grpc_ms": bare * 1000,
                        "first_answer_vs_bare": (answered - began) / bare,
                    }
                )
            return timed
        finally:
            await sandbox.close()

    engine = connect()
    try:
        timed = run(rounds())
    finally:
        engine.close()
    return {name: median(each[name] for each in timed) for name in timed[0]}


def busy_s() -> float:
    """Processor time that all cores of this machine have spent on anything, in seconds, to a hundredth."""
    user, nice, system, _idle, _waiting, *interrupts = map(int, _STAT.read_text().split("\n", 1)[0].split()[1:8])
    return (user + nice + system + sum(interrupts)) / _TICKS_PER_S


def _bare(engine: APIClient) -> float:
    """Seconds that a container takes which imports grpc and ends."""
    began = perf_counter()
    container = engine.create_container(
        wanted_image(), entrypoint=["python", "-c", "import grpc"], network_disabled=True
    )["Id"]
    try:
        engine.start(container)
        engine.wait(container, timeout=PATIENCE_S)
        return perf_counter() - began
    finally:
        engine.remove_container(container, force=True)


if __name__ == "__main__":
    for name, figure in measure().items():
        print(f"{name:24} {figure:8.2f}")
