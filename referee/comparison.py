"""NEW against OLD, deal after deal: what they got against each other, and when it is enough (strength.py).

Deals count in the order of their numbers and not in that of their end: those in which bots think little are over first,
and a test that stops by itself would see too many of them. So the outcome follows from decks and bots alone, however
many tables play side by side.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from referee.model import Fault, GameRecord, Outcome, VoidGame
from referee.strength import Sprt, Verdict

Games = Sequence[Outcome]

PATIENCE: Final = 5
"""After so many deals in which a bot has forfeited every game, or none could be played, there is nothing to compare."""


class End(StrEnum):
    """Why no further deal is needed."""

    DECIDED = "decided"
    BROKEN = "broken"
    VOID = "void"


@dataclass(slots=True)
class Faults:
    """What a bot did wrong in the deals that count: `games` that it forfeited, and the first fault with its game."""

    games: int = 0
    first: tuple[str, Fault] | None = None


class Comparison:
    """The deals of one comparison.

    counts  deals in which NEW got 0, 1, … 2n half points against OLD, in n games
    llr     of the test, after the last deal that counts
    voids   deals that did not count, since our side failed to play them
    reason  why the last of these was not played
    faults  by the bot's name, opponents included
    """

    def __init__(self, old: str, new: str, seats: int, test: Sprt) -> None:
        """`old` and `new` are names of different bots at a table of so many seats."""
        self.test = test
        self.counts = [0] * (2 * seats + 1)
        self.llr = 0.0
        self.voids = 0
        self.reason = ""
        self.faults: dict[str, Faults] = {}
        self._old = old
        self._new = new
        self._seats = seats
        self._waiting: dict[int, Games] = {}
        self._next = 0
        self._void_in_a_row = 0

    def add(self, number: int, games: Games) -> list[GameRecord]:
        """A deal is over; `number` counts from 0, in whatever order they come.

        Returns the games of all deals that count now for the first time, in order; none once there is an `end`.
        """
        self._waiting[number] = games
        counted: list[GameRecord] = []
        while self.end is None and (following := self._waiting.pop(self._next, None)) is not None:
            self._next += 1
            counted += self._take(following)
        return counted

    @property
    def deals(self) -> int:
        """Deals that count."""
        return sum(self.counts)

    @property
    def games(self) -> int:
        """Games that count."""
        return self.deals * self._seats

    @property
    def verdict(self) -> Verdict:
        """What the test says so far."""
        return self.test.verdict(self.llr)

    @property
    def end(self) -> End | None:
        """Why no further deal is needed; None while one is."""
        if self.verdict is not Verdict.OPEN:
            return End.DECIDED
        if self.broken:
            return End.BROKEN
        return End.VOID if self._void_in_a_row >= PATIENCE else None

    @property
    def broken(self) -> tuple[str, ...]:
        """Which of OLD and NEW, by name, have forfeited every single game of some deals."""
        if self.deals < PATIENCE:
            return ()
        return tuple(bot for bot in (self._old, self._new) if self.forfeits(bot) == self.games)

    def forfeits(self, bot: str) -> int:
        """Games that the bot of this name has forfeited."""
        return self.faults[bot].games if bot in self.faults else 0

    def _take(self, games: Games) -> list[GameRecord]:
        played = [game for game in games if isinstance(game, GameRecord)]
        failed = [game for game in games if isinstance(game, VoidGame)]
        if failed:
            self.voids += 1
            self._void_in_a_row += 1
            self.reason = failed[0].reasons[-1]
            return []
        self._void_in_a_row = 0
        self.counts[sum(map(self._half_points, played))] += 1
        self.llr = self.test.llr(self.counts)
        for game in played:
            for fault in game.faults:
                of_bot = self.faults.setdefault(game.seats[fault.seat].bot, Faults())
                of_bot.games += 1
                of_bot.first = of_bot.first or (game.id, fault)
        return played

    def _half_points(self, game: GameRecord) -> int:
        """What NEW got against OLD, whatever the others at the table did (records.md, Points)."""
        bots = [seat.bot for seat in game.seats]
        old, new = game.ranks[bots.index(self._old)], game.ranks[bots.index(self._new)]
        return 2 if new < old else int(new == old)
