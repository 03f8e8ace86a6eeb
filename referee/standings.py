"""Points, standings and tie-breaks, computed from records and from nothing else (records.md, Points).

Arithmetic is exact; numbers become floats only where they leave this module, so the order of the records
never changes a result.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import groupby
from typing import Final

from referee.model import GameRecord, Standing, deal_place

TIE_BREAKS: Final = "score among the tied bots, then mean margin, then fewer faults; else the rank is shared"
"""What orders equal scores, in one line (records.md, Points)."""

RANKING_RULES: Final = (
    (
        "In a game a bot gets, for each other seat, 1 if it ranks better, 0.5 if equal and 0 if worse; "
        "the sum divided by the number of other seats is its result."
    ),
    (
        "The score is the mean result over all games of the bot, and the table is ordered by it. Extra deals, by which "
        "a night's order is decided, count for a bot once all of its matches have had them."
    ),
    (
        "Equal scores are ordered by the score among the tied bots: the mean of their results against "
        "each other, seat against seat, in all games that they share; 0.5 where they share none."
    ),
    (
        "Then by mean margin: a bot's points in the game minus the mean of the others'; "
        "games that ended by forfeit count as 0."
    ),
    "Then by fewer faults. Bots that are still equal share the rank.",
)
"""How bots are ranked, in plain sentences for whoever reads a table."""

_HALF: Final = Fraction(1, 2)


@dataclass(slots=True)
class _Sums:
    """What one bot has gathered; points, margin and version are those of Standing before they are means."""

    games: int = 0
    wins: int = 0
    ties: int = 0
    faults: int = 0
    points: Fraction = Fraction(0)
    margin: Fraction = Fraction(0)
    latest: tuple[int, str] = (-1, "")

    @property
    def score(self) -> Fraction:
        return self.points / self.games

    @property
    def mean_margin(self) -> Fraction:
        return self.margin / self.games


@dataclass(slots=True)
class _Meeting:
    games: int = 0
    halves: int = 0


@dataclass(slots=True)
class _Totals:
    bots: dict[str, _Sums] = field(default_factory=lambda: defaultdict(_Sums))
    meetings: dict[tuple[str, str], _Meeting] = field(default_factory=lambda: defaultdict(_Meeting))


def points(ranks: Sequence[int]) -> tuple[Fraction, ...]:
    """What each seat gets for a game with these ranks, 0 to 1 (records.md, Points)."""
    others = len(ranks) - 1
    return tuple(
        Fraction(sum(_halves(own, rank) for rank in ranks) - 1, 2 * others)  # less the seat against itself
        for own in ranks
    )


def margins(record: GameRecord) -> tuple[Fraction, ...] | None:
    """What each seat scored less the mean of what the others did; None after a forfeit that ended the game."""
    if record.scores is None:
        return None
    others, total = len(record.scores) - 1, sum(record.scores)
    return tuple(Fraction(own * others - (total - own), others) for own in record.scores)


def standings(records: Iterable[GameRecord]) -> tuple[Standing, ...]:
    """The bots that appear in the records, best first; bots that share a rank come in alphabetical order."""
    return _rows(_totals(records))


def _totals(records: Iterable[GameRecord]) -> _Totals:
    totals = _Totals()
    found = list(records)
    counts = _counting(found)
    for record in found:
        _count_game(totals, record, counts)
    return totals


def _counting(records: Iterable[GameRecord]) -> Callable[[GameRecord, str], bool]:
    """Which games count for which bot: an extra deal does where all of its matches of the night have had it."""
    games = Counter(
        (record.night, holder.bot, deal_place(record.deal)) for record in records for holder in record.seats
    )

    def counts(record: GameRecord, bot: str) -> bool:
        number, extra = deal_place(record.deal)
        return not extra or games[record.night, bot, (number, extra)] == games[record.night, bot, (0, False)]

    return counts


def _count_game(totals: _Totals, record: GameRecord, counts: Callable[[GameRecord, str], bool]) -> None:
    night = 0 if record.night is None else record.night
    best = record.ranks.count(1)
    gained, ahead = _points(record.ranks), margins(record)
    for seat, holder in enumerate(record.seats):
        if not counts(record, holder.bot):
            continue
        sums = totals.bots[holder.bot]
        sums.games += 1
        sums.wins += record.ranks[seat] == 1 and best == 1
        sums.ties += record.ranks[seat] == 1 and best > 1
        sums.faults += sum(fault.seat == seat for fault in record.faults)
        sums.points += gained[seat]
        if ahead is not None:
            sums.margin += ahead[seat]
        sums.latest = max(sums.latest, (night, holder.version))
        for other, opponent in enumerate(record.seats):
            if seat != other:
                meeting = totals.meetings[holder.bot, opponent.bot]
                meeting.games += 1
                meeting.halves += _halves(record.ranks[seat], record.ranks[other])


@cache
def _points(ranks: tuple[int, ...]) -> tuple[Fraction, ...]:
    """The same; there are few orders of ranks, and many games."""
    return points(ranks)


def _halves(own: int, other: int) -> int:
    """Half points for one rank against another."""
    return 2 if own < other else int(own == other)


def _rows(totals: _Totals) -> tuple[Standing, ...]:
    """Best first: by score, then group by group of those tied in it."""
    rows: list[Standing] = []
    by_score = sorted(totals.bots, key=lambda bot: -totals.bots[bot].score)
    for _, tied in groupby(by_score, key=lambda bot: totals.bots[bot].score):
        rows += _tied_rows(totals, list(tied), len(rows))
    return tuple(rows)


def _tied_rows(totals: _Totals, tied: Sequence[str], ahead: int) -> list[Standing]:
    """The rows of bots of equal score, `ahead` bots being better; smaller keys are better."""
    keys = {bot: (-_among(totals, bot, tied), -totals.bots[bot].mean_margin, totals.bots[bot].faults) for bot in tied}
    return [
        _row(totals, bot, ahead + 1 + sum(other < keys[bot] for other in keys.values()))
        for bot in sorted(tied, key=lambda bot: (keys[bot], bot))
    ]


def _among(totals: _Totals, bot: str, tied: Sequence[str]) -> Fraction:
    met = [totals.meetings[bot, other] for other in tied if (bot, other) in totals.meetings]
    games = sum(meeting.games for meeting in met)
    return Fraction(sum(meeting.halves for meeting in met), 2 * games) if games else _HALF


def _row(totals: _Totals, bot: str, rank: int) -> Standing:
    sums = totals.bots[bot]
    return Standing(
        rank=rank,
        bot=bot,
        version=sums.latest[1],
        games=sums.games,
        wins=sums.wins,
        ties=sums.ties,
        losses=sums.games - sums.wins - sums.ties,
        score=float(sums.score),
        margin=float(sums.mean_margin),
        faults=sums.faults,
    )
