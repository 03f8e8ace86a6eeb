"""Drawings of ratings: where each number lies on one scale that all rows of a table, or all nights of a bot, share."""

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Final, NamedTuple

from referee.leaderboard import Table
from referee.publish.bots import BotNight

BAR_WIDTH: Final = 120
"""Of an interval's drawing in a row, in its units."""

_EDGE: Final = 5.0  # so that a dot at an end is whole
_HEIGHT: Final = 200
_LEFT: Final = 52  # room for the numbers of the scale
_TOP: Final = 14
_BELOW: Final = 30  # room for the numbers of the nights
_STEP: Final = 72
_FEWEST_STEPS: Final = 3
_MOST_WIDE: Final = 1_000
_LINES: Final = 4


class Whisker(NamedTuple):
    """A number and its interval, along the scale; `zero` is where the mean of all bots is."""

    at: float
    low: float
    high: float
    zero: float


class Point(NamedTuple):
    """A night of a chart, from the top left; `low` and `high` are the ends of its interval."""

    x: float
    y: float
    low: float
    high: float
    night: BotNight


class Line(NamedTuple):
    """A line of the scale across a chart, at this Elo."""

    y: float
    elo: float


class Chart(NamedTuple):
    """Elo over nights, `wide` by `tall` units, the scale from `left` on; `path` joins the points."""

    wide: int
    tall: int
    left: int
    lines: tuple[Line, ...]
    points: tuple[Point, ...]
    path: str


def whiskers(table: Table) -> dict[str, Whisker]:
    """Of each bot, on one scale from the lowest end of an interval to the highest."""
    ratings = table.ratings.values()
    low = min((rating.low for rating in ratings), default=0.0)
    high = max((rating.high for rating in ratings), default=0.0)
    stretch = (BAR_WIDTH - 2 * _EDGE) / (high - low or 1.0)

    def place(elo: float) -> float:
        return round(_EDGE + (elo - low) * stretch, 1)

    return {
        rating.bot: Whisker(place(rating.elo), place(rating.low), place(rating.high), place(0.0)) for rating in ratings
    }


def elo_chart(nights: Sequence[BotNight]) -> Chart:
    """The Elo of a bot in each night, at least one, with its intervals."""
    low = min(0.0, *(night.rating.low for night in nights))
    high = max(0.0, *(night.rating.high for night in nights))
    step = _round_step((high - low) / _LINES)
    bottom, top = floor(low / step), ceil(high / step)
    if bottom == top:
        bottom, top = bottom - 1, top + 1
    tall = _HEIGHT / (top - bottom)

    def y(elo: float) -> float:
        return round(_TOP + (top - elo / step) * tall, 1)

    apart = min(_STEP, (_MOST_WIDE - _LEFT) / len(nights))
    points = tuple(
        Point(
            round(_LEFT + apart * (at + 0.5), 1), y(night.rating.elo), y(night.rating.low), y(night.rating.high), night
        )
        for at, night in enumerate(nights)
    )
    return Chart(
        wide=ceil(_LEFT + max(apart * len(nights), _STEP * _FEWEST_STEPS)),
        tall=_TOP + _HEIGHT + _BELOW,
        left=_LEFT,
        lines=tuple(Line(y(at * step), at * step) for at in range(bottom, top + 1)),
        points=points,
        path="M" + "L".join(f"{point.x} {point.y}" for point in points),
    )


def _round_step(wide: float) -> float:
    """The smallest of 1, 2 or 5 times a power of ten that is no smaller, 10 at least."""
    unit = 10.0 ** floor(log10(max(wide, 10.0)))
    return next(unit * times for times in (1, 2, 5, 10) if unit * times >= wide)
