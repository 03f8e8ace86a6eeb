"""How long a query takes while other containers start, and whether a limit of 100 ms ever fails a bot that is innocent.

Two sample bots in containers play whole games through the referee. In each round they do so first with nothing else to
do for the machine, then while others are started, waited for and removed, one after the other without a pause: as a
league does ahead of its next matches, though not as often.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from statistics import median, quantiles
from time import perf_counter
from typing import Final

from referee.errors import Overloaded
from referee.game import play_game
from referee.limits import Limits
from referee.loop import run
from referee.model import FaultKind, GameSpec, SeatHolder
from referee.players.grpc_player import BotLink
from referee.players.listening import wait_until_listening
from referee.ports import Answer, Failure, Player, RunningBot, Sandbox
from referee.sandbox.choose import choose_sandbox
from referee.submissions import find_bot, inspect
from treelings import Clock, View, derive_deck

TITLE: Final = "latency of a query while other containers start, at a limit of 100 ms"
FIGURES: Final = {
    "quiet_ms": ("median of a query with nothing else to do, ms; so tight a limit has every query looked at", ""),
    "busy_ms": ("median of a query while others start, ms", ""),
    "busy_p99_ms": ("99th percentile of a query while others start, ms", ""),
    "busy_p99_vs_quiet": ("99th percentile while others start / quiet median", "<= 8"),
    "worst_ms": ("longest of all queries, ms", ""),
    "queries": ("queries that were asked in all", ">= 100000"),
    "busy_queries": ("those of them that were asked while others started", ""),
    "false_timeouts": ("timeouts among them: no bot was slow", "<= 0"),
    "void_games": ("games that the referee would play again, since the machine was too busy", ""),
    "starts": ("containers that were started meanwhile", ""),
}

ROUNDS: Final = 8
QUIET: Final = 10_300  # queries a round; most of them here, where they take a third of the time
BUSY: Final = 2_000
CLOCK: Final = Clock(move_ms=100, bank_ms=100_000)


def measure(share: float = 1.0) -> dict[str, float]:
    """Medians over the rounds; counts and the longest query are of all. Raises SandboxError where no engine is.

    share  of the queries that are asked in full
    """
    return run(_measure(int(QUIET * share), int(BUSY * share)))


async def _measure(quiet_queries: int, busy_queries: int) -> dict[str, float]:
    sandbox, _ = choose_sandbox(
        "docker", league="bench", limits=Limits(), report=lambda line: print(line, file=sys.stderr)
    )
    await sandbox.open()
    try:
        table = _Table(sandbox)
        rounds = []
        await table.play(busy_queries)  # which lets both sides fill their tables of moves
        for _ in range(ROUNDS):
            quiet = await table.play(quiet_queries)
            async with table.others_starting():
                rounds.append((quiet, await table.play(busy_queries)))
        await table.close()
    finally:
        await sandbox.close()
    figures = {
        "quiet_ms": median(median(quiet) for quiet, _ in rounds),
        "busy_ms": median(median(busy) for _, busy in rounds),
        "busy_p99_ms": median(_p99(busy) for _, busy in rounds),
        "busy_p99_vs_quiet": median(_p99(busy) / median(quiet) for quiet, busy in rounds),
        "worst_ms": max(max(each) for both in rounds for each in both),
        "queries": float(table.queries),
        "busy_queries": float(sum(len(busy) for _, busy in rounds)),
        "false_timeouts": float(table.timeouts),
        "void_games": float(table.voids),
        "starts": float(table.starts),
    }
    return {name: figures[name] for name in FIGURES}


def _p99(times: list[float]) -> float:
    return quantiles(times, n=100)[-1]


class _Table:
    """Two bots that play game after game; what befell them."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.queries = self.timeouts = self.voids = self.starts = 0
        self._sandbox = sandbox
        self._submission = inspect(find_bot("random"))
        self._links: list[BotLink] = []
        self._game = 0

    async def play(self, at_least: int) -> list[float]:
        """Milliseconds of so many queries, and of those up to the end of the game."""
        times: list[float] = []
        while len(times) < at_least:
            if not self._links:
                self._links = [BotLink(await self._start()) for _ in range(2)]
            try:
                fair = await self._play(times)
            except Overloaded:
                self.voids += 1
                fair = False
            if not fair:
                await self.close()
        self.queries += len(times)
        return times

    async def _play(self, times: list[float]) -> bool:
        """Whether it went on to its end."""
        self._game += 1
        deal = f"bench/{self._game}"
        spec = GameSpec(f"{deal}/r0", "bench", None, "a-vs-b", deal, 0, "start", ("a", "b"))
        seats = [SeatHolder(bot, "") for bot in spec.bots]
        players = [_Timed(link.player(), times) for link in self._links]
        record = await play_game(spec, derive_deck(bytes(32), deal), seats, players, CLOCK)
        for fault in record.faults:
            if fault.kind is not FaultKind.TIMEOUT:
                raise RuntimeError(f"expected no faults but timeouts, got {fault}")
            self.timeouts += 1
        return not record.faults

    async def _start(self) -> RunningBot:
        return await self._sandbox.start(self._submission, "bench")

    @asynccontextmanager
    async def others_starting(self) -> AsyncIterator[None]:
        """Other bots are started and removed, one after the other, until the end."""
        over = False

        async def go_on() -> None:
            while not over:
                await self._start_and_remove()

        task = asyncio.create_task(go_on())
        try:
            yield
        finally:
            over = True
            await task

    async def _start_and_remove(self) -> None:
        bot = await self._start()
        try:
            reached = await wait_until_listening(bot)
            assert not isinstance(reached, Failure), reached
            reached.close()
            self.starts += 1
        finally:
            await bot.stop()

    async def close(self) -> None:
        """End the bots that play."""
        links, self._links = self._links, []
        for link in links:
            await link.close()


class _Timed:
    """A player whose queries are timed."""

    def __init__(self, player: Player, times: list[float]) -> None:
        self._player = player
        self._times = times
        self.start = player.start
        self.end = player.end

    async def ask(self, view: View) -> Answer | Failure:
        began = perf_counter()
        try:
            return await self._player.ask(view)
        finally:
            self._times.append((perf_counter() - began) * 1000)


if __name__ == "__main__":
    for name, figure in measure(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0).items():
        print(f"{name:24} {figure:10.2f}")
