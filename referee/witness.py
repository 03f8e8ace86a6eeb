"""Sees how one bot starts, answers and leaves its games, and changes nothing of it."""

import time
from collections.abc import Callable

from referee.ports import Answer, Connect, Failure, Link, Player, RunningBot
from treelings import GameEnd, GameStart, View


class Witness:
    """Stands between a table and the links to its bots.

    starts_ms   how long each start of a game was waited for until the bot was ready or had failed: for the first in a
                process that is what was left of its own start when the containers of all seats were there
    last_ms     what the bot's last start or answer took, until it was there or it was known that none comes
    processes   how often the bot was started
    disorderly  games after which its process could not play another
    """

    def __init__(self, connect: Connect, bot: str, now: Callable[[], float] = time.monotonic) -> None:
        """`bot` is the name of the one that is looked at; `now` counts seconds."""
        self._connect = connect
        self._bot = bot
        self._now = now
        self.starts_ms: list[float] = []
        self.last_ms = 0.0
        self.processes = 0
        self.disorderly = 0

    def connect(self, bot: RunningBot) -> Link:
        """A link to a bot (ports.Connect)."""
        link = self._connect(bot)
        if bot.submission.name != self._bot:
            return link
        self.processes += 1
        return _WatchedLink(link, self)

    def took(self, since: float) -> float:
        """Note that the bot was waited for since then; milliseconds."""
        self.last_ms = 1_000 * (self._now() - since)
        return self.last_ms

    def time(self) -> float:
        """Seconds on the witness's watch."""
        return self._now()


class _WatchedLink:
    def __init__(self, link: Link, witness: Witness) -> None:
        self._link = link
        self._witness = witness

    def player(self) -> Player:
        return _WatchedPlayer(self._link.player(), self._witness)

    async def left_in_order(self, within_ms: int) -> bool:
        in_order = await self._link.left_in_order(within_ms)
        self._witness.disorderly += not in_order
        return in_order

    async def close(self) -> bytes:
        return await self._link.close()


class _WatchedPlayer:
    def __init__(self, player: Player, witness: Witness) -> None:
        self._player = player
        self._witness = witness

    async def start(self, game: GameStart) -> Failure | None:
        since = self._witness.time()
        failure = await self._player.start(game)
        self._witness.starts_ms.append(self._witness.took(since))
        return failure

    async def ask(self, view: View) -> Answer | Failure:
        since = self._witness.time()
        answer = await self._player.ask(view)
        self._witness.took(since)
        return answer

    async def end(self, result: GameEnd) -> None:
        await self._player.end(result)
