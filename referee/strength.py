"""How strong a bot is: estimates with their intervals, and a test that plays until it knows.

A deal with all its rotations is one sample. Its games share their cards, so games are no samples of their own. Where
two bots are compared, a deal counts by the half points that one got against the other in it: n games give 0, 1, … 2n
of them, and `counts` are the deals that gave each. With two seats these are the five numbers of the pentanomial.

The test is that of chess engine testers (Fishtest, fastchess): a sequential one of generalised likelihoods (GSPRT) on
normalised Elo,

    nElo = (mean score - 1/2) / (deviation of a deal's score * sqrt(n)) * 800 / ln 10

so that how long it takes depends on its hypotheses alone, and not on how much of the game is luck.

Sources: M. Van den Bergh, "Comments on normalized Elo" (normalized_elo_practical.pdf, 4.1: likelihoods for n = 2);
A. Wald, "Sequential tests of statistical hypotheses", 1945 (bounds).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from math import inf, log, log10, sqrt
from typing import Final

from referee.errors import UsageError

SCORES: Final = (0.0, 1.0)
"""The bounds of a score."""

CONFIDENCE: Final = 0.95
"""How often an interval holds the true value."""

NELO: Final = 800 / log(10)
"""Normalised Elo of a mean score that lies one deviation of a game above 1/2."""

MOST_NELO: Final = 100.0
"""The largest hypothesis either way; a difference beyond it shows in a few dozen deals."""

_UNSEEN: Final = 1e-3
"""Deals that stand for a value which has not come up yet: likelihoods need all of them (as in Fishtest)."""

_ROUNDS: Final = 200
_DAMPED_FROM: Final = 30
_SAME: Final = 1e-9
_EXACT: Final = 1e-13


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, and where the true one is 95 times in a hundred; `low` and `high` are None where nothing can be told."""

    mean: float
    low: float | None
    high: float | None


class Verdict(StrEnum):
    """What a test says so far."""

    H0 = "H0"
    H1 = "H1"
    OPEN = "open"


def mean_interval(values: Sequence[float], *, bounds: tuple[float, float] | None = None) -> Interval:
    """The mean of a value per deal, by Student's t; `bounds` are those that no value can leave, such as SCORES.

    Values that are all equal, or a single one, say nothing of how much they vary. With bounds, the rule of three is
    taken then: after n deals alike, others turn up in at most 1 - 0.05 ** (1 / n) of all, and each of these
    may lie at a bound. Without bounds there is no interval. Raises ValueError without any value.
    """
    if not values:
        raise ValueError("expected a value per deal, got none")
    mean = sum(values) / len(values)
    varied = min(values) != max(values)
    deviation = sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1)) if varied else 0.0
    return _interval(len(values), mean if varied else values[0], deviation, bounds)


def score_interval(counts: Sequence[int]) -> Interval:
    """The mean score, 0 to 1, as `mean_interval` has it. Raises ValueError without any deal."""
    deals, mean, moments = _moments(counts)
    deviation = sqrt(moments[2] * deals / (deals - 1)) if deals > 1 else 0.0
    return _interval(deals, mean, deviation, SCORES)


def elo(score: float) -> float:
    """The logistic Elo of a score from 0 to 1; infinite at either end."""
    if score <= 0:
        return -inf
    return inf if score >= 1 else 400 * log10(score / (1 - score))


def elo_interval(counts: Sequence[int]) -> Interval:
    """The score's interval in logistic Elo; its ends may be infinite. Raises ValueError without any deal."""
    score = score_interval(counts)
    assert score.low is not None  # scores have bounds
    assert score.high is not None
    return Interval(elo(score.mean), elo(score.low), elo(score.high))


def nelo_interval(counts: Sequence[int]) -> Interval | None:
    """Normalised Elo, by the delta method; None where all deals are equal. Raises ValueError without any deal."""
    deals, mean, moments = _moments(counts)
    if not moments[2]:
        return None
    deviation = sqrt(moments[2])
    t = (mean - 0.5) / deviation
    skewness, kurtosis = moments[3] / deviation**3, moments[4] / deviation**4
    error = sqrt(max(0.0, 1 - t * skewness + t * t * (kurtosis - 1) / 4) / deals)
    scale = NELO / sqrt(_games(counts))
    half = student(deals - 1) * error
    return Interval(t * scale, (t - half) * scale, (t + half) * scale)


@dataclass(frozen=True, slots=True)
class Sprt:
    """A sequential test of H0: nElo = elo0 against H1: nElo = elo1.

    alpha  how often H1 is accepted where nElo is elo0 (less often below)
    beta   how often H0 is accepted where nElo is elo1 (less often above)
    """

    elo0: float = 0.0
    elo1: float = 10.0
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        """Raises UsageError for what makes no test."""
        if not -MOST_NELO <= self.elo0 < self.elo1 <= MOST_NELO:
            raise UsageError(
                f"elo0 and elo1: expected elo0 below elo1, both from {-MOST_NELO:g} to {MOST_NELO:g}, "
                f"got {self.elo0:g} and {self.elo1:g}"
            )
        for name, rate in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < rate < 0.5:
                raise UsageError(f"{name}: expected an error rate above 0 and below 0.5, got {rate:g}")

    @property
    def lower(self) -> float:
        """At this LLR or below H0 is accepted."""
        return log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """At this LLR or above H1 is accepted."""
        return log((1 - self.beta) / self.alpha)

    def verdict(self, llr: float) -> Verdict:
        """What an LLR means."""
        return Verdict.H1 if llr >= self.upper else Verdict.H0 if llr <= self.lower else Verdict.OPEN

    def llr(self, counts: Sequence[int]) -> float:
        """The logarithm of the likelihood under H1 by that under H0, each with its most likely distribution."""
        if not any(counts):
            return 0.0
        seen = [count or _UNSEEN for count in counts]
        deals = sum(seen)
        shares = [count / deals for count in seen]
        of_a_deal = sqrt(_games(counts)) / NELO
        h0, h1 = _most_likely(shares, self.elo0 * of_a_deal), _most_likely(shares, self.elo1 * of_a_deal)
        return deals * sum(share * log(p1 / p0) for share, p0, p1 in zip(shares, h0, h1, strict=True))


def _games(counts: Sequence[int]) -> float:
    """Games of a deal."""
    return (len(counts) - 1) / 2


def _moments(counts: Sequence[int]) -> tuple[int, float, dict[int, float]]:
    """Deals, mean score, and central moments 2 to 4 of a deal's score."""
    deals = sum(counts)
    if not deals:
        raise ValueError("expected a deal at least, got none")
    most = len(counts) - 1
    mean = sum(count * halves for halves, count in enumerate(counts)) / (deals * most)
    moments = {
        power: sum(count * (halves / most - mean) ** power for halves, count in enumerate(counts)) / deals
        for power in (2, 3, 4)
    }
    return deals, mean, moments if max(counts) < deals else dict.fromkeys(moments, 0.0)


def _interval(deals: int, mean: float, deviation: float, bounds: tuple[float, float] | None) -> Interval:
    if not deviation:
        if bounds is None:
            return Interval(mean, None, None)
        others = 1 - (1 - CONFIDENCE) ** (1 / deals)
        return Interval(mean, mean - others * (mean - bounds[0]), mean + others * (bounds[1] - mean))
    half = student(deals - 1) * deviation / sqrt(deals)
    low, high = mean - half, mean + half
    return Interval(mean, low, high) if bounds is None else Interval(mean, max(low, bounds[0]), min(high, bounds[1]))


@cache
def student(freedom: float, confidence: float = CONFIDENCE) -> float:
    """How many standard errors an interval reaches either way, by Student's t; with inf, by the normal distribution."""
    from scipy.special import stdtrit  # here, so that only those commands wait for it that show an interval

    return float(stdtrit(freedom, (1 + confidence) / 2))


def _most_likely(shares: Sequence[float], t: float) -> list[float]:
    """The most likely distribution, with these shares seen, of those with (mean - 1/2) / deviation = t.

    There each share is divided by 1 + x times the slope of the constraint at its value (Lagrange). The slopes follow
    from the distribution that is sought, so the two are found in turns, in whole steps and later in half ones.
    """
    values = [halves / (len(shares) - 1) for halves in range(len(shares))]
    found = [1 / len(shares)] * len(shares)
    for turn in range(_ROUNDS):
        mean = sum(share * value for share, value in zip(found, values, strict=True))
        deviation = sqrt(sum(share * (value - mean) ** 2 for share, value in zip(found, values, strict=True)))
        slopes = [value - 0.5 - t * (deviation + (value - mean) ** 2 / deviation) / 2 for value in values]
        x = _secular(list(zip(shares, slopes, strict=True)))
        better = [share / (1 + x * slope) for share, slope in zip(shares, slopes, strict=True)]
        if max(abs(old - new) for old, new in zip(found, better, strict=True)) < _SAME:
            return better
        found = better if turn < _DAMPED_FROM else [(old + new) / 2 for old, new in zip(found, better, strict=True)]
    return better


def _secular(cells: Sequence[tuple[float, float]]) -> float:
    """The x that makes the sum of share * slope / (1 + x * slope) zero, with no share / (1 + x * slope) above 1.

    The sum falls with x: Newton's steps, or a half of what is known to hold the root where they lead out of that.
    """
    low = max((share - 1) / slope for share, slope in cells if slope > 0)
    high = min((share - 1) / slope for share, slope in cells if slope < 0)
    x = 0.0
    for _ in range(_ROUNDS):
        value = steepness = 0.0
        for share, slope in cells:
            quotient = slope / (1 + x * slope)
            value += share * quotient
            steepness += share * quotient * quotient
        low, high = (x, high) if value > 0 else (low, x)
        following = x + value / steepness
        if not low <= following <= high:
            following = (low + high) / 2
        if abs(following - x) <= _EXACT * (1 + abs(x)):
            return following
        x = following
    return x
