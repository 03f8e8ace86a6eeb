"""Tables that are played now, outside any league: some of the same bots side by side, deal after deal."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Final

from referee.game import Watch
from referee.match import Pause, Table
from referee.model import GameSpec, MatchSpec, Outcome, Submission, VoidGame
from referee.ports import Connect, KeepLog, Sandbox
from referee.schedule import match_id, plan_deal
from treelings import Clock, Refill

_ROOM_FOR_NUMBER: Final = 29  # of the 32 characters that a name may have


@dataclass(frozen=True, slots=True)
class PlayedDeal:
    """What became of a deal.

    number  its place among the deals that were handed in, from 0
    games   one outcome for each of its games, in their order
    """

    number: int
    games: tuple[Outcome, ...]


class QuickTables:
    """Plays deals at several tables of the same bots; each table has processes of its own."""

    def __init__(
        self, bots: Sequence[Submission], sandbox: Sandbox, secret: bytes, clock: Clock, connect: Connect,
        keep_log: KeepLog | None = None, *, jobs: int = 1, tell: Callable[[Outcome], None] = lambda _: None,
        watch: Watch | None = None, pause: Pause = asyncio.sleep,
    ) -> None:  # fmt: skip
        """`bots` have different names (`apart`); `sandbox` is open, and stays so; `secret`: what decks follow from.

        jobs   tables that play at once
        tell   is told of each game as soon as it has been played, or is void
        watch  is shown every position of each game at the first of these tables
        pause  waits for so many seconds, before a game that our side has failed is played again
        """
        self._submissions = {bot.name: bot for bot in bots}
        names = tuple(sorted(self._submissions))
        self._match = MatchSpec(match_id(names), 0, names, ())
        self._sandbox = sandbox
        self._secret = secret
        self._clock = clock
        self._connect = connect
        self._keep_log = keep_log
        self._jobs = jobs
        self._tell = tell
        self._watch = watch
        self._pause = pause

    async def play(self, deals: Iterable[Sequence[GameSpec]]) -> AsyncGenerator[PlayedDeal, None]:
        """Play deals, each handed in as all of its games; one after the other comes back as it is finished.

        A table takes the next deal when it is free, so `deals` may be endless. All bots are ended when this is closed
        (`aclose`, or contextlib.aclosing around a loop that may be left), when it is cancelled and when it fails.
        Raises SandboxError for a table whose bots cannot be started, or ended, at all; EngineGone at once. Any other
        failure on our side makes a game void, after three attempts.
        """
        waiting = enumerate(deals)
        news: asyncio.Queue[PlayedDeal | asyncio.Task[None]] = asyncio.Queue()
        tables = [
            asyncio.create_task(self._sit(waiting, news.put_nowait, None if number else self._watch))
            for number in range(self._jobs)
        ]
        try:
            for table in tables:
                table.add_done_callback(news.put_nowait)
            playing = len(tables)
            while playing:
                new = await news.get()
                if isinstance(new, PlayedDeal):
                    yield new
                else:
                    new.result()
                    playing -= 1
        finally:
            for table in tables:
                table.cancel()
            await asyncio.wait(tables)
            for table in tables:
                if not table.cancelled():
                    table.result()

    async def _sit(
        self, waiting: Iterator[tuple[int, Sequence[GameSpec]]], done: Callable[[PlayedDeal], None],
        watch: Watch | None,
    ) -> None:  # fmt: skip
        """One table, until no deal waits any more."""
        table = Table(
            self._match, self._submissions, self._sandbox, self._secret, self._clock, self._connect, self._keep_log,
            pause=self._pause, watch=watch,
        )  # fmt: skip
        try:
            for number, games in waiting:
                await table.open()
                done(PlayedDeal(number, await self._play(table, games)))
        finally:
            await table.close()

    async def _play(self, table: Table, games: Sequence[GameSpec]) -> tuple[Outcome, ...]:
        outcomes: dict[str, Outcome] = {}
        async for outcome in table.play(games):
            outcomes[outcome.game if isinstance(outcome, VoidGame) else outcome.id] = outcome
            self._tell(outcome)
        return tuple(outcomes[game.id] for game in games)


def apart(bots: Sequence[Submission]) -> list[Submission]:
    """The same bot may sit at such a table twice: its second seat is called name-2."""
    names: set[str] = set()
    found = []
    for bot in bots:
        # With "vs" at its end it would have what stands between the names of a match.
        stem = bot.name[:_ROOM_FOR_NUMBER].removesuffix("-vs")
        numbered = (f"{stem}-{number}" for number in count(2))
        name = next(name for name in chain([bot.name], numbered) if name not in names)
        names.add(name)
        found.append(replace(bot, name=name))
    return found


def endless_deals(bots: Sequence[str], refill: Refill) -> Iterator[tuple[GameSpec, ...]]:
    """Deal after deal for bots of these names, each in all rotations of the seats; the same ones as in any match."""
    return (plan_deal(league="", night=None, bots=bots, deal=deal, refill=refill) for deal in count())
