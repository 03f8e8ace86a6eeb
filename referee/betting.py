"""Means of values from -1 to 1, with intervals that hold whenever one looks at them: by betting.

A gambler who has 1 bets on each value, always the same share of all he has, that the mean lies above m: from a value x
he goes on with

    1 + stake * (x - m) / (1 + m)

times what he had, which is never less than nothing. If the mean is m or below he can expect no gain, so the chance that
he ever has 1 / error is at most `error` (Ville's inequality), however long he plays and whoever says when it is enough.
The same goes for several who begin with equal parts of 1 and have different stakes; a large one wins early where the
mean is far from m, a small one late where it is near. What m they get rich on is too low for the mean; others who bet
on the mean being below m bound it from above. Nothing is assumed but the range, and that the mean stays what it is.

A value that is itself a mean of many independent ones varies far less than its range allows. So some gamblers go
on with exp(stake * (x - m) - stake^2 * spread^2 / 2) times what they had, which by Hoeffding's lemma is no gain either:
`spread` is the root of the sum of the squares of half the ranges of the independent parts.

Sources: J. Ville, "Étude critique de la notion de collectif", 1939; I. Waudby-Smith and A. Ramdas, "Estimating means of
bounded random variables by betting", JRSS B 86, 2024 (capital processes, constant bets that are averaged);
W. Hoeffding, "Probability inequalities for sums of bounded random variables", 1963 (the lemma).
"""

from collections.abc import Sequence
from math import exp
from typing import Final

from referee.strength import Interval

_SHARES: Final = tuple(2.0**-power for power in range(7))
_STEEP: Final = (2.0, 4.0, 8.0, 16.0)
_GAMBLERS: Final = len(_SHARES) + len(_STEEP)

_HALVINGS: Final = 30
_MOST: Final = 700.0
"""What `exp` can still take."""


class Bets:
    """Whether the mean of values that come one by one lies above or below 0.

    error   how often either of the two is said where it is wrong, at any time
    spread  of a value, as above; 1 is always right
    """

    def __init__(self, error: float, spread: float = 1.0) -> None:
        self._enough = _GAMBLERS / error
        self._spread = spread
        self._above = [1.0] * _GAMBLERS
        self._below = [1.0] * _GAMBLERS
        self.verdict = 0

    def add(self, value: float) -> int:
        """Bet on the next value; 1 once the mean is above 0, -1 once it is below, 0 as long as that cannot be told."""
        if not self.verdict:
            self._above = self._after(self._above, value)
            self._below = self._after(self._below, -value)
            self.verdict = (sum(self._above) >= self._enough) - (sum(self._below) >= self._enough)
        return self.verdict

    def _after(self, fortunes: Sequence[float], value: float) -> list[float]:
        gains = [1 + share * value for share in _SHARES]
        gains += (exp(steep * value - (steep * self._spread) ** 2 / 2) for steep in _STEEP)
        return [has * gain for has, gain in zip(fortunes, gains, strict=True)]


def lasting_interval(values: Sequence[float], error: float, spread: float = 1.0) -> Interval:
    """The mean so far, and all means on which nobody is rich now; at any time, each end is wrong so often at most.

    Raises ValueError without any value.
    """
    if not values:
        raise ValueError("expected a value at least, got none")
    mean = sum(values) / len(values)
    return Interval(mean, _least(values, error, spread), -_least([-value for value in values], error, spread))


def _least(values: Sequence[float], error: float, spread: float) -> float:
    """The lower end: who bets that the mean lies above m has the less, the higher m is."""
    low, high = -1.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _rich(values, middle, error, spread) else (low, middle)
    return low


def _rich(values: Sequence[float], m: float, error: float, spread: float) -> bool:
    total = 0.0
    for share in _SHARES:
        stake, has = share / (1 + m), 1.0
        for value in values:
            has *= 1 + stake * (value - m)
        total += has
    gained = sum(values) - len(values) * m
    total += sum(exp(min(_MOST, steep * gained - len(values) * (steep * spread) ** 2 / 2)) for steep in _STEEP)
    return total >= _GAMBLERS / error
