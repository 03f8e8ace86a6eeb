"""What the records of a match tell of each of its bots: how strong it is, how sure that is, and how long it thinks."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median
from typing import Final

from referee.model import GameRecord, Standing
from referee.standings import standings
from referee.strength import SCORES, Interval, mean_interval

_SLOW: Final = 0.99


@dataclass(frozen=True, slots=True)
class BotSummary:
    """One bot in a match.

    standing   its row, over all games
    score      mean of its score in each deal, with the interval that holds the true one in 95 of 100 matches
    margin     the same of its margin
    median_ms  what it takes for a move; None if it has never moved
    slow_ms    99 of 100 of its moves took no longer; None likewise
    """

    standing: Standing
    score: Interval
    margin: Interval
    median_ms: float | None
    slow_ms: float | None


def summary(records: Sequence[GameRecord]) -> tuple[BotSummary, ...]:
    """The bots of a match, best first.

    A deal with all its rotations is one sample (schedule.md). Where a game of it is void, those that were played are.
    """
    samples: dict[str, list[Standing]] = defaultdict(list)
    for deal in _by_deal(records):
        for row in standings(deal):
            samples[row.bot].append(row)
    times = _times(records)
    return tuple(
        BotSummary(
            standing=row,
            score=mean_interval([sample.score for sample in samples[row.bot]], bounds=SCORES),
            margin=mean_interval([sample.margin for sample in samples[row.bot]]),
            median_ms=median(times[row.bot]) if times[row.bot] else None,
            slow_ms=sorted(times[row.bot])[ceil(_SLOW * len(times[row.bot])) - 1] if times[row.bot] else None,
        )
        for row in standings(records)
    )


def as_json(bots: Iterable[BotSummary]) -> list[dict[str, object]]:
    """The summary in JSON's types; an interval is its low and high end, null where nothing can be told."""
    return [
        {
            "rank": bot.standing.rank,
            "bot": bot.standing.bot,
            "version": bot.standing.version,
            "games": bot.standing.games,
            "wins": bot.standing.wins,
            "ties": bot.standing.ties,
            "losses": bot.standing.losses,
            "score": _rounded(bot.standing.score),
            "score_95": [_rounded(bot.score.low), _rounded(bot.score.high)],
            "margin": _rounded(bot.standing.margin),
            "margin_95": [_rounded(bot.margin.low), _rounded(bot.margin.high)],
            "move_ms_median": _rounded(bot.median_ms),
            "move_ms_99": _rounded(bot.slow_ms),
            "faults": bot.standing.faults,
        }
        for bot in bots
    ]


def _by_deal(records: Iterable[GameRecord]) -> Iterable[list[GameRecord]]:
    deals: dict[str | None, list[GameRecord]] = defaultdict(list)
    for record in records:
        deals[record.deal].append(record)
    return deals.values()


def _times(records: Iterable[GameRecord]) -> dict[str, list[float]]:
    times: dict[str, list[float]] = defaultdict(list)
    for record in records:
        for move in record.moves:
            if not move.by_referee:
                times[record.seats[move.seat].bot].append(move.ms)
    return times


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 6)
