"""Choose some of all tables so that every bot plays, and every pair meets, about equally often (schedule.md).

Bots are numbers from 0, a table is a sorted tuple of them. Deterministic: no randomness, fixed tie-breaks.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, permutations
from math import comb
from typing import Final

from referee.errors import UsageError

Table = tuple[int, ...]

GOAL: Final = 2
"""How far apart the most and the least meetings of pairs, and games of bots, may be."""

MAX_EFFORT: Final = 1_000_000
"""The most `effort` that a choice may take; that is two or three seconds."""

_STEPS: Final = 200  # 24 bots in 144 tables of five need 41, the most seen
_TENURE: Final = 10


def effort(bots: int, seats: int, count: int) -> int:
    """How much there is to do for a choice of `count` tables: about as many microseconds, rarely some times more."""
    every = comb(bots, seats)
    return max(0, min(count, every - count)) * seats * bots


@lru_cache(maxsize=32)
def balanced_tables(bots: int, seats: int, count: int) -> tuple[Table, ...]:
    """`count` different tables of this many seats in lexicographic order, or all there are if they are fewer.

    Meets GOAL in every case tried: 5 to 24 bots in all counts up to 160, and hundreds of cases up to 60 bots.
    Raises UsageError for a choice of more than MAX_EFFORT.
    """
    if effort(bots, seats, count) > MAX_EFFORT:
        most = MAX_EFFORT // (seats * bots)
        raise UsageError(
            f"max_tables: expected at most {most:,} tables of {seats} seats for {bots:,} bots, or all that there "
            f"are, got {count:,}; to balance more takes too long"
        )
    every = comb(bots, seats)
    if count >= every:
        return tuple(combinations(range(bots), seats))
    if 2 * count > every:  # all tables are in perfect balance, so what is left out balances what stays
        left_out = set(_choose(bots, seats, every - count))
        return tuple(table for table in combinations(range(bots), seats) if table not in left_out)
    return tuple(sorted(_choose(bots, seats, count)))


class _Tally:
    """How often each bot plays and each pair meets."""

    def __init__(self, bots: int) -> None:
        self.games = [0] * bots
        self.met = [[0] * bots for _ in range(bots)]

    def add(self, table: Table, times: int = 1) -> None:
        for bot in table:
            self.games[bot] += times
        for bot, other in permutations(table, 2):
            self.met[bot][other] += times

    def balanced(self) -> bool:
        pairs = [count for bot, row in enumerate(self.met) for count in row[:bot]]
        return max(pairs) - min(pairs) <= GOAL and max(self.games) - min(self.games) <= GOAL


def _choose(bots: int, seats: int, count: int) -> list[Table]:
    """The greedy choice, then repaired: at most half of all tables, so there is always another one."""
    tally = _Tally(bots)
    chosen: dict[Table, None] = {}
    for number in range(count):
        table = next(table for table in _by_need(tally, (), seats, number) if table not in chosen)
        chosen[table] = None
        tally.add(table)
    _repair(chosen, tally)
    return list(chosen)


def _by_need(tally: _Tally, seated: Table, seats: int, number: int) -> Iterator[Table]:
    """All tables that can be made around those seated, most needed first: who met them least, then who played
    least; equals take turns from table to table."""
    if len(seated) == seats:
        yield tuple(sorted(seated))
        return
    bots = len(tally.games)

    def need(bot: int) -> tuple[int, int, int]:
        row = tally.met[bot]
        return sum([row[other] ** 2 for other in seated]), tally.games[bot], (bot - number) % bots

    for bot in sorted([bot for bot in range(bots) if bot not in seated], key=need):
        yield from _by_need(tally, (*seated, bot), seats, number)


def _repair(chosen: dict[Table, None], tally: _Tally) -> None:
    """Change one bot of one table at a time, always the change that helps most or hurts least, until balanced.

    A table that was given up may not come back for a few steps, so that the search leaves dead ends.
    """
    free_again: dict[Table, int] = {}
    for step in range(_STEPS):
        if tally.balanced():
            return
        banned = {table for table, when in free_again.items() if when > step}
        change = min(_changes(chosen, tally, banned), default=None)
        if change is None:
            return
        _, old, new = change
        del chosen[old]
        chosen[new] = None
        free_again[old] = step + _TENURE
        tally.add(old, -1)
        tally.add(new)


def _changes(chosen: dict[Table, None], tally: _Tally, banned: set[Table]) -> Iterator[tuple[int, Table, Table]]:
    """What each change of one bot of one table would add to the imbalance (a sum of squares, halved, up to a
    constant); only those as good as any before."""
    best = None
    for table in chosen:
        for leaving in table:
            stay = [bot for bot in table if bot != leaving]
            row = tally.met[leaving]
            gain = sum([row[bot] for bot in stay]) + tally.games[leaving]
            for joining, row in enumerate(tally.met):
                cost = sum([row[bot] for bot in stay]) + tally.games[joining] - gain
                if (best is None or cost <= best) and joining not in table:
                    new = tuple(sorted((*stay, joining)))
                    if new not in chosen and new not in banned:
                        best = cost
                        yield cost, table, new
