"""One bot against another: scores seat against seat, whether these can be chance, and who beats whom in a ring."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from referee.model import GameRecord
from referee.strength import SCORES, mean_interval

_EVEN: Final = 0.5

Duels = Mapping[tuple[str, str], "Duel"]
"""By the two bots, both ways round, in alphabetical order."""

Ring = tuple[str, str, str]
"""Three bots of which each beats the next, and the last the first; it begins with the first in the alphabet."""


@dataclass(frozen=True, slots=True)
class Duel:
    """Results of one bot against another in the games they share, whoever else sat there.

    deals    different ones among these games; one with all its rotations is one sample
    points   1 for each game in which the bot ranked better, 0.5 for equal ranks
    verdict  1 if the bot is better than the other at 95 %, -1 if it is worse, 0 if that cannot be told
    """

    games: int
    deals: int
    points: float
    verdict: int

    @property
    def score(self) -> float:
        """Points a game, 0 to 1."""
        return self.points / self.games


@dataclass(slots=True)
class _Deal:
    games: int = 0
    halves: int = 0


def duels(records: Iterable[GameRecord]) -> Duels:
    """Every bot against every bot that it met; a game of n seats counts for each pair in it."""
    met: defaultdict[tuple[str, str], defaultdict[tuple[int | None, str], _Deal]]
    met = defaultdict(lambda: defaultdict(_Deal))
    for record in records:
        key = record.night, record.deal or record.deck
        for holder, rank in zip(record.seats, record.ranks, strict=True):
            for other, others in zip(record.seats, record.ranks, strict=True):
                if holder.bot < other.bot:
                    deal = met[holder.bot, other.bot][key]
                    deal.games += 1
                    deal.halves += 2 if rank < others else int(rank == others)
    found = {}
    for (bot, opponent), deals in met.items():
        duel = _duel(list(deals.values()))
        found[bot, opponent] = duel
        found[opponent, bot] = Duel(duel.games, duel.deals, duel.games - duel.points, -duel.verdict)
    return dict(sorted(found.items()))


def rings(of: Duels) -> tuple[Ring, ...]:
    """Every three bots that beat each other in a ring, each time at 95 %; in alphabetical order."""
    beaten: defaultdict[str, set[str]] = defaultdict(set)
    for (winner, loser), duel in of.items():
        if duel.verdict > 0:
            beaten[winner].add(loser)
    return tuple(
        (first, second, third)
        for first in sorted(beaten)
        for second in sorted(beaten[first])
        if first < second
        for third in sorted(beaten.get(second, ()))
        if first < third and first in beaten.get(third, ())
    )


def _duel(deals: list[_Deal]) -> Duel:
    # Sorted, so that the order of the records is not in the last digits.
    interval = mean_interval(sorted(deal.halves / (2 * deal.games) for deal in deals), bounds=SCORES)
    assert interval.low is not None  # scores have bounds
    assert interval.high is not None
    return Duel(
        games=sum(deal.games for deal in deals),
        deals=len(deals),
        points=sum(deal.halves for deal in deals) / 2,
        verdict=1 if interval.low > _EVEN else -1 if interval.high < _EVEN else 0,
    )
