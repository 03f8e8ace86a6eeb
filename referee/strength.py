"""How strong a bot is, as an estimate: means over deals and how far to trust them.

A deal with all its rotations is one sample. Its games share their cards, so games are no samples of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

SCORES = (0.0, 1.0)
"""The bounds of a score."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and the interval that holds the true one; `low` and `high` are None where the values cannot tell."""

    mean: float
    low: float | None
    high: float | None


def mean_interval(
    values: Sequence[float], confidence: float = 0.95, *, bounds: tuple[float, float] | None = None
) -> Interval:
    """The mean of a value per deal, by Student's t; `bounds` are those that no value can leave, such as SCORES.

    Values that are all equal, or a single one, say nothing of how much they vary. With bounds, the rule of three is
    taken then: after n deals like this, others turn up in at most 1 - (1 - confidence) ** (1 / n) of all, and each of
    these may lie at a bound. Without bounds there is no interval. Raises ValueError without any value.
    """
    if not values:
        raise ValueError("expected a value per deal, got none")
    mean = fmean(values)
    if min(values) == max(values):
        if bounds is None:
            return Interval(mean, None, None)
        others = 1 - (1 - confidence) ** (1 / len(values))
        return Interval(mean, mean - others * (mean - bounds[0]), mean + others * (bounds[1] - mean))
    # Here, so that a command that shows no interval does not pay for it.
    from scipy.special import stdtrit

    half = float(stdtrit(len(values) - 1, (1 + confidence) / 2)) * stdev(values) / sqrt(len(values))
    low, high = mean - half, mean + half
    if bounds is None:
        return Interval(mean, low, high)
    return Interval(mean, max(low, bounds[0]), min(high, bounds[1]))
