"""Which places of a night are decided, and which extra deals are still wanted for it (schedule.md, Extra deals).

Pure: everything follows from the night's plan, its wish and the records so far, whatever the order these come in. So an
interrupted night goes on as if it had not been, and anybody can tell whether the extra deals are those that were due.

What is to be decided is the order that the bots' scores would have after endless deals. A sample is one number of
a deal: a bot's mean points in the deals of that number of all its matches, less the other bot's. So both have met all
that the plan has them meet, at tables of whatever sizes, and a sample is a sum of independent parts. Intervals are
those of betting.py: valid at every time one looks, and here for all pairs of bots at once.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import sqrt
from typing import Final

from referee.betting import Bets, lasting_interval
from referee.errors import UsageError
from referee.model import GameRecord, MatchSpec, Night, NightSettings, UntilDecided, deal_place
from referee.schedule import MAX_GAMES, count_games, plan_deal, plan_night
from referee.standings import points
from referee.strength import CONFIDENCE, Interval

AT_MOST: Final = 400
"""Deals a match where nothing else is said; four times those of the plan where that is more."""

MAX_BOTS: Final = 200
"""The most bots whose order can be decided: all their pairs are looked at, again and again."""

_FEWEST: Final = 10
_PART: Final = 5
"""Once more a fifth of the deals so far, and ten at least: then one looks again."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Two bots whose order is not decided.

    ahead   the one with the better score so far
    score   by how much, and where the true difference is; -1 to 1
    """

    ahead: str
    behind: str
    score: Interval


@dataclass(frozen=True, slots=True)
class Decision:
    """How far the order of a night's bots is decided.

    places    by place, from the first: the bot that surely has it; None where that cannot be told
    wanted    how many places are to be decided, from the first
    open      pairs whose order still matters for these, the least separated first
    deals     that all matches of the bots in these pairs have had when this was looked at
    matches   by id: the deals that each is to have, as far as can be told so far
    complete  the round robin is: before that nothing is decided
    """

    places: tuple[str | None, ...]
    wanted: int
    open: tuple[Gap, ...]
    deals: int
    matches: Mapping[str, int]
    complete: bool

    @property
    def after(self) -> str:
        """How many deals that is, in words."""
        return f"{self.deals} {'deal' if self.deals == 1 else 'deals'}"

    @property
    def decided(self) -> bool:
        """All places that are wanted are."""
        return self.complete and not self.open

    @property
    def summary(self) -> str:
        """Which places are decided, in words."""
        if not self.complete:
            return "No place is decided before every match has had all deals of the plan."
        sure = [place for place, bot in enumerate(self.places, 1) if bot is not None]
        unsure = [place for place in range(1, self.wanted + 1) if place not in sure]
        after = f"after {self.after} a match"
        if not sure:
            return f"{_places(unsure)} not decided at 95 %, {after}."
        holders = ", ".join(str(self.places[place - 1]) for place in sure)
        rest = f" {_places(unsure)} not." if unsure else ""
        return f"{_places(sure)} decided at 95 %, {after}: {holders}.{rest}"


def until_decided(top: int, at_most: int | None, *, bots: int, settings: NightSettings) -> UntilDecided:
    """The wish of a night with so many bots. Raises UsageError if it cannot be."""
    if not 1 <= top <= bots:
        raise UsageError(f"until-decided: expected 1 to {bots} places, as many as there are bots, got {top}")
    if bots > MAX_BOTS:
        raise UsageError(
            f"until-decided: expected a night of at most {MAX_BOTS} bots, got {bots}; run it without --until-decided"
        )
    most = max(AT_MOST, 4 * settings.deals) if at_most is None else at_most
    if most < settings.deals:
        raise UsageError(f"at-most-deals: expected at least the {settings.deals} deals of the plan, got {most}")
    if (games := count_games(bots, replace(settings, deals=most))) > MAX_GAMES:
        raise UsageError(
            f"at-most-deals: expected no more than {MAX_GAMES:,} games a night, got {games:,} with {most} deals; "
            "set fewer with --at-most-deals"
        )
    return UntilDecided(top, most)


def plan_so_far(
    league: str, night: Night, records: Iterable[GameRecord]
) -> tuple[tuple[MatchSpec, ...], Decision | None]:
    """All games that are due as far as the night's records tell, and what is decided; None without such a wish."""
    plan = plan_night(league=league, night=night.number, bots=[bot.name for bot in night.bots], settings=night.settings)
    if night.until_decided is None:
        return plan, None
    decision = decide(plan, night.settings.deals, night.until_decided, records)
    return tuple(_with_extras(league, night, match, decision.matches[match.id]) for match in plan), decision


def decide(plan: Sequence[MatchSpec], deals: int, wish: UntilDecided, records: Iterable[GameRecord]) -> Decision:
    """What the records of a night decide; `plan` is its round robin of so many deals."""
    night = _Night(plan, records)
    due = {match.id: deals for match in plan}
    level = deals
    bots = sorted(night.shares)
    if not night.has(bots, 0, deals):
        return Decision((None,) * len(bots), wish.top, (), level, due, complete=False)
    order = _Order(night)
    while True:
        order.look(level, wish.top)
        following = min(wish.at_most, level + max(_FEWEST, level // _PART))
        contenders = order.contenders
        if not contenders or following == level:
            break
        due |= {match.id: following for match in plan if not contenders.isdisjoint(match.bots)}
        if not night.has(contenders, level, following):
            break
        level = following
    return Decision(order.places(), wish.top, tuple(order.gaps()), level, due, complete=True)


class _Night:
    """Points by bot and number of the deal, and what share of a bot's games each match has."""

    def __init__(self, plan: Sequence[MatchSpec], records: Iterable[GameRecord]) -> None:
        self.shares: defaultdict[str, dict[str, float]] = defaultdict(dict)
        self._games: defaultdict[str, int] = defaultdict(int)
        for match in plan:
            for bot in match.bots:
                self._games[bot] += len(match.bots)
        for match in plan:
            for bot in match.bots:
                self.shares[bot][match.id] = len(match.bots) / self._games[bot]
        self._played: Counter[tuple[str, int]] = Counter()
        self._points: defaultdict[tuple[str, int], Fraction] = defaultdict(Fraction)
        of_ranks = cache(points)  # few orders of ranks, and many games
        for record in records:
            number, _ = deal_place(record.deal)
            for holder, gained in zip(record.seats, of_ranks(record.ranks), strict=True):
                self._played[holder.bot, number] += 1
                self._points[holder.bot, number] += gained

    def has(self, bots: Iterable[str], first: int, end: int) -> bool:
        """Whether all games of these bots with these numbers of deals have been played."""
        return all(self._played[bot, number] == self._games[bot] for bot in bots for number in range(first, end))

    def score(self, bot: str, number: int) -> Fraction:
        """Mean points in all games with that number of a deal."""
        return self._points[bot, number] / self._games[bot]

    def spread(self, bot: str, other: str) -> float:
        """Of the difference of their scores in one deal of all matches, as betting.py has it."""
        matches = self.shares[bot].keys() | self.shares[other].keys()
        ranges = (self.shares[bot].get(match, 0.0) + self.shares[other].get(match, 0.0) for match in sorted(matches))
        return min(1.0, sqrt(sum((share / 2) ** 2 for share in ranges)))


class _Order:
    """The order of the bots as far as it is decided; more deals decide more, and never less."""

    def __init__(self, night: _Night) -> None:
        self.bots = sorted(night.shares)
        self.contenders: set[str] = set()
        self._night = night
        pairs = max(1, len(self.bots) * (len(self.bots) - 1) // 2)
        self._error = (1 - CONFIDENCE) / pairs / 2
        self._open = list(combinations(self.bots, 2))
        self._bets = {pair: Bets(self._error, night.spread(*pair)) for pair in self._open}
        self._values: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        self._worse: dict[str, set[str]] = {bot: set() for bot in self.bots}
        self._better: dict[str, set[str]] = {bot: set() for bot in self.bots}

    def look(self, deals: int, top: int) -> None:
        """Take the deals below this number into account, for the pairs whose order still matters."""
        for pair in self._open:
            values, bets = self._values[pair], self._bets[pair]
            for number in range(len(values), deals):
                values.append(float(self._night.score(pair[0], number) - self._night.score(pair[1], number)))
                bets.add(values[-1])
            if bets.verdict:
                self._put(*(pair if bets.verdict > 0 else pair[::-1]))
        # Whoever has so many bots above itself is in none of the places; which of the others are better follows.
        inside = {bot for bot in self.bots if len(self._better[bot]) < top}
        self._open = [pair for pair in self._open if inside.issuperset(pair) and pair[1] not in self._known(pair[0])]
        self.contenders = {bot for pair in self._open for bot in pair}

    def _known(self, bot: str) -> set[str]:
        return self._better[bot] | self._worse[bot]

    def _put(self, better: str, worse: str) -> None:
        """Note that one bot is better than another, and all that follows from it."""
        above, below = {better, *self._better[better]}, {worse, *self._worse[worse]}
        for bot in above:
            self._worse[bot] |= below
        for bot in below:
            self._better[bot] |= above

    def places(self) -> tuple[str | None, ...]:
        """By place, the bot that surely has it."""
        found: dict[int, str] = {}
        for bot in self.bots:
            better, worse = self._better[bot], self._worse[bot]
            if better.isdisjoint(worse) and len(better) + len(worse) == len(self.bots) - 1:
                found[len(better)] = bot
        return tuple(found.get(place) for place in range(len(self.bots)))

    def gaps(self) -> Iterator[Gap]:
        """Pairs that are open, the least separated first."""
        found = []
        for pair in self._open:
            if values := self._values[pair]:
                interval = lasting_interval(values, self._error, self._night.spread(*pair))
                found.append(Gap(*pair, interval) if interval.mean >= 0 else Gap(*pair[::-1], _turned(interval)))
        yield from sorted(found, key=lambda gap: (gap.score.mean, gap.ahead, gap.behind))


def _places(numbers: Sequence[int]) -> str:
    *some, last = (str(number) for number in numbers)
    return f"Places {', '.join(some)} and {last} are" if some else f"Place {last} is"


def _turned(interval: Interval) -> Interval:
    low, high = interval.low, interval.high
    return Interval(-interval.mean, None if high is None else -high, None if low is None else -low)


def _with_extras(league: str, night: Night, match: MatchSpec, deals: int) -> MatchSpec:
    extras = tuple(
        game
        for number in range(night.settings.deals, deals)
        for game in plan_deal(
            league=league, night=night.number, bots=match.bots, deal=number, refill=night.settings.refill, extra=True
        )
    )  # fmt: skip
    return replace(match, games=match.games + extras)
