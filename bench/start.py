"""What a bot's start costs: python -m bench.start.

From the call that starts the sample bot `random` in a container to a connection on its socket, and on to its first
answer. Beside it, in the same run and in turn: a container of the same image with none of the sandbox's options
that merely imports grpc, from its making to its end. What a machine does meets both alike; figures are medians.
"""

import asyncio
import socket
import sys
from statistics import median
from time import perf_counter

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

ROUNDS = 9
PATIENCE_S = 30


def measure() -> dict[str, float]:
    """Milliseconds from start to listening, to the first answer, of the removal, of the bare container; a ratio.

    Raises SandboxError where there is no engine.
    """
    sandbox, _ = choose_sandbox(
        "docker", league="bench", limits=Limits(), report=lambda line: print(line, file=sys.stderr)
    )

    async def rounds() -> list[dict[str, float]]:
        await sandbox.open()
        try:
            submission = inspect(find_bot("random"))
            timed = []
            for number in range(ROUNDS):
                began = perf_counter()
                bot = await sandbox.start(submission, "bench")
                started = perf_counter()
                async with asyncio.timeout(PATIENCE_S):
                    reached = await wait_until_listening(bot)
                listening = perf_counter()
                if isinstance(reached, socket.socket):
                    reached.close()
                link = BotLink(bot)
                await link.player().start(GameStart(f"bench/{number}", 0, 2, "start", Clock()))
                answered = perf_counter()
                await bot.stop()
                stopped = perf_counter()
                await link.close()
                bare = await asyncio.to_thread(_bare, engine)
                timed.append(
                    {
                        "container_started_ms": (started - began) * 1000,
                        "listening_ms": (listening - began) * 1000,
                        "first_answer_ms": (answered - began) * 1000,
                        "removed_ms": (stopped - answered) * 1000,
                        "bare_import_grpc_ms": bare * 1000,
                        "listening_vs_bare": (listening - began) / bare,
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
