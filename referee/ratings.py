"""How strong bots are, by all games of a league at once, computed from records and from nothing else.

One fit (plackett_luce.py) takes the games of all sizes of tables; a forfeit is what its rank says. Elo is

    400 / ln 10 * (theta - mean theta of all bots)

A deal with all its rotations is one sample: intervals are those of the sandwich estimator, by Student's t with one
degree of freedom less than the bot has deals. With fewer than 30 deals this knows too little of itself. Such a rating
is provisional, and its interval no smaller than that of the Hessian, for which every choice is a sample. Deals that all
ended alike say nothing of how much deals vary; the interval is the Hessian's then.

Where no chain of wins leads from every bot to every other, some distances have no end. Each bot then gets half a win
and half a loss against a phantom, the intervals are the Hessian's, and distances are lower bounds.

Numbers are rounded to a tenth of an Elo, after a fit that is right to a millionth. The last digits of floating point
differ from machine to machine, and so they never show.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, log
from typing import TYPE_CHECKING, Final

from referee.model import GameRecord
from referee.strength import CONFIDENCE, student

if TYPE_CHECKING:
    from referee.plackett_luce import Fit, Game

ELO: Final = 400 / log(10)
"""Elo of one theta."""

SETTLED_DEALS: Final = 30
"""With fewer deals a rating is provisional."""

_ALIKE: Final = 1e-6
_DECIMALS: Final = 1
_SHOWN: Final = 0.05
"""The least Elo that is not 0 once it is rounded."""


@dataclass(frozen=True, slots=True)
class Rating:
    """One row of a table of ratings.

    elo          0 is the mean of all bots
    low, high    where the true value is, 95 times in a hundred
    deals        in which it sat at the table
    first_rank   the best rank that it may have, behind all that are significantly better
    last_rank    the worst one, ahead of all that are significantly worse; it is compared with all others at once, so
                 that its true rank is out of this range 5 times in a hundred at most
    bound        no chain of wins leads from every bot to every other: distances are lower bounds
    provisional  fewer than SETTLED_DEALS deals
    """

    bot: str
    elo: float
    low: float
    high: float
    games: int
    deals: int
    first_rank: int
    last_rank: int
    bound: bool
    provisional: bool


@dataclass(frozen=True, slots=True)
class SeatEffect:
    """What a seat is worth at tables of so many players.

    elo          0 is the mean of the table's seats
    low, high    where the true values of all seats of that size of a table are at once, 95 times in a hundred
    significant  whether 0 is out of the interval
    more_wins    by how many per cent it wins more often than the mean seat; those who tie for a win share it
    """

    players: int
    seat: int
    elo: float
    low: float
    high: float
    significant: bool
    more_wins: float


@dataclass(frozen=True, slots=True)
class Contrast:
    """By how many Elo a bot is better than another, by all games of all bots, with the 95 % interval of this pair."""

    elo: float
    low: float
    high: float

    @property
    def significant(self) -> bool:
        """Whether 0 is out of the interval."""
        return not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True)
class Ratings:
    """All that is estimated.

    rows   best first, bots of equal Elo by name
    seats  by size of the table and number; empty without records
    """

    rows: tuple[Rating, ...]
    seats: tuple[SeatEffect, ...]
    _pairs: "_Pairs | None" = field(repr=False, compare=False)

    @property
    def bound(self) -> bool:
        """Whether distances are lower bounds."""
        return any(row.bound for row in self.rows)

    def contrast(self, bot: str, other: str) -> Contrast:
        """Of two different bots that have a row. Raises KeyError for others."""
        if self._pairs is None or bot == other:
            raise KeyError((bot, other))
        numbers = self._pairs.numbers
        return self._pairs.contrast(numbers[bot], numbers[other])


class _Pairs:
    """How far bots are apart, each pair worked out when it is asked for: there are many."""

    def __init__(self, fit: "Fit", numbers: Mapping[str, int], deals: Mapping[int, int]) -> None:
        self.numbers = numbers
        self._connected = fit.connected
        self._theta = fit.theta.tolist()
        self._errors = fit.difference_errors()
        self._deals = deals

    def contrast(self, bot: int, other: int) -> Contrast:
        """Of one pair alone."""
        errors = self._errors[bot, other].tolist()
        deals = min(self._deals[bot], self._deals[other])
        reach = _reach(errors, deals, connected=self._connected)
        return Contrast(*_elo(self._theta[bot] - self._theta[other], reach))

    def outdone(self) -> tuple[list[int], list[int]]:
        """By bot: how many others are significantly better, and how many are worse.

        Each is compared with all others at once, which are right together 95 times in a hundred (Bonferroni). The same
        as `_reach` and `_elo` for each pair, a row of them at a time, since pairs are the square of bots.
        """
        import numpy as np

        bots = len(self._theta)
        confidence = 1 - (1 - CONFIDENCE) / max(1, bots - 1)
        theta, deals = np.array(self._theta), np.array([self._deals[bot] for bot in range(bots)])
        of_choices = student(inf, confidence)
        of_deals = np.zeros(deals.max() + 1)
        for count in {count for count in deals.tolist() if count > 1}:
            of_deals[count] = student(count - 1, confidence)
        better, worse = np.zeros(bots, dtype=int), np.zeros(bots, dtype=int)
        for bot in range(bots - 1):
            by_deals, by_choices = self._errors[bot, bot + 1 :].T
            shared = np.minimum(deals[bot], deals[bot + 1 :])
            reach = of_choices * by_choices
            if self._connected:
                wide = of_deals[shared] * by_deals
                wide = np.where(shared >= SETTLED_DEALS, wide, np.maximum(wide, reach))
                reach = np.where((shared < 2) | (by_deals < _ALIKE), reach, wide)
            apart = theta[bot] - theta[bot + 1 :]
            above, below = ELO * (apart - reach) >= _SHOWN, ELO * (apart + reach) <= -_SHOWN
            better[bot] += below.sum()
            worse[bot] += above.sum()
            better[bot + 1 :] += above
            worse[bot + 1 :] += below
        return better.tolist(), worse.tolist()


def rate(records: Iterable[GameRecord]) -> Ratings:
    """Rate all bots that appear in the records, whose order changes nothing."""
    found = list(records)
    if not found:
        return Ratings((), (), None)
    # Here, so that only those wait for numpy and scipy who rate something.
    from referee.plackett_luce import Game, fit, fit_seats

    bots = sorted({holder.bot for record in found for holder in record.seats})
    numbers = {bot: number for number, bot in enumerate(bots)}
    deals = {deal: number for number, deal in enumerate(sorted({_deal(record) for record in found}))}
    games = [
        Game(deals[_deal(record)], tuple(numbers[holder.bot] for holder in record.seats), record.ranks)
        for record in found
    ]
    by_bots = fit(games, len(bots))
    by_seats = fit_seats(games, by_bots)
    sat_in = _deals(games)
    pairs = _Pairs(by_bots, numbers, sat_in)
    return Ratings(_rows(by_bots, bots, games, sat_in, pairs), tuple(_seats(by_seats, games)), pairs)


def _deal(record: GameRecord) -> tuple[int, str]:
    """What the games of one deal have in common; a deck that was given by hand is a deal of its own."""
    return record.night or 0, record.deck if record.deal is None else record.deal


def _deals(games: Iterable["Game"]) -> Counter[int]:
    """In how many deals each bot sat at the table."""
    return Counter(bot for _, bot in {(game.deal, bot) for game in games for bot in game.players})


def _rows(
    fit: "Fit", bots: Sequence[str], games: Iterable["Game"], deals: Mapping[int, int], pairs: _Pairs
) -> tuple[Rating, ...]:
    played = Counter(bot for game in games for bot in game.players)
    better, worse = pairs.outdone()
    rows = []
    for number, (bot, theta, errors) in enumerate(zip(bots, fit.theta.tolist(), fit.errors().tolist(), strict=True)):
        elo, low, high = _elo(theta, _reach(errors, deals[number], connected=fit.connected))
        rows.append(
            Rating(
                bot=bot,
                elo=elo,
                low=low,
                high=high,
                games=played[number],
                deals=deals[number],
                first_rank=1 + better[number],
                last_rank=len(bots) - worse[number],
                bound=not fit.connected,
                provisional=deals[number] < SETTLED_DEALS,
            )
        )
    return tuple(sorted(rows, key=lambda row: (-row.elo, row.bot)))


def _seats(fit: "Fit", games: Iterable["Game"]) -> Iterator[SeatEffect]:
    for size, worths in fit.seats.items():
        of_size = [game for game in games if len(game.players) == size]
        deals = len({game.deal for game in of_size})
        comparisons = size if size > 2 else 1  # of two seats, one says all
        wins = [Fraction() for _ in range(size)]
        for ranks, times in Counter(game.ranks for game in of_size).items():
            best = min(ranks)  # 1, but for a stranger's record that breaks the rules
            for seat, rank in enumerate(ranks):
                wins[seat] += Fraction(times * (rank == best), ranks.count(best))
        for seat, (worth, errors) in enumerate(zip(worths.tolist(), fit.seat_errors(size).tolist(), strict=True)):
            elo, low, high = _elo(worth, _reach(errors, deals, connected=fit.connected, comparisons=comparisons))
            yield SeatEffect(
                players=size,
                seat=seat,
                elo=elo,
                low=low,
                high=high,
                significant=not low <= 0 <= high,
                more_wins=_rounded(float(100 * (wins[seat] * size / len(of_size) - 1))),
            )


def _reach(errors: Sequence[float], deals: int, *, connected: bool, comparisons: int = 1) -> float:
    """How far an interval reaches either way; `errors` are standard errors, with deals as samples and with choices."""
    confidence = 1 - (1 - CONFIDENCE) / comparisons
    by_deals, by_choices = errors
    of_choices = student(inf, confidence) * by_choices
    if not connected or deals < 2 or by_deals < _ALIKE:
        return of_choices
    of_deals = student(deals - 1, confidence) * by_deals
    return of_deals if deals >= SETTLED_DEALS else max(of_deals, of_choices)


def _elo(theta: float, reach: float) -> tuple[float, float, float]:
    """The value and the ends of its interval."""
    return _rounded(ELO * theta), _rounded(ELO * (theta - reach)), _rounded(ELO * (theta + reach))


def _rounded(number: float) -> float:
    return round(number, _DECIMALS) + 0.0  # which makes 0 of -0
