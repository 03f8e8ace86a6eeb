from collections import Counter
from collections.abc import Hashable, Iterable
from itertools import combinations
from math import comb
from random import Random
from typing import TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st

from referee.balanced_tables import GOAL, balanced_tables
from referee.model import NightSettings
from referee.schedule import plan_night
from treelings import Clock

_T = TypeVar("_T", bound=Hashable)
untimed = settings(deadline=None)
PARTS = st.tuples(st.integers(5, 24), st.integers(3, 5), st.integers(1, 150))


def spread(counts: Counter[_T], every: Iterable[_T]) -> int:
    numbers = [counts[one] for one in every]
    return max(numbers) - min(numbers)


def assert_balanced(bots: int, seats: int, count: int) -> None:
    tables = balanced_tables(bots, seats, count)
    assert len(set(tables)) == len(tables) == min(count, comb(bots, seats))
    assert all(len(set(table)) == seats and table == tuple(sorted(table)) for table in tables)
    assert spread(Counter(bot for table in tables for bot in table), range(bots)) <= GOAL
    met = Counter(pair for table in tables for pair in combinations(table, 2))
    assert spread(met, combinations(range(bots), 2)) <= GOAL


@untimed
@given(PARTS)
def test_every_pair_meets_and_every_bot_plays_equally_often_within_two(part: tuple[int, int, int]) -> None:
    assert_balanced(*part)


def test_every_possible_choice_among_five_to_eight_bots_is_balanced() -> None:
    for bots in range(5, 9):
        for seats in (3, 4, 5):
            for count in range(1, comb(bots, seats) + 1):
                assert_balanced(bots, seats, count)


@untimed
@given(st.integers(5, 12), st.integers(0, 2**32), st.sampled_from([(2,), (2, 4), (3, 5)]))
def test_the_plan_does_not_depend_on_the_order_of_the_bots(bots: int, seed: int, seats: tuple[int, ...]) -> None:
    names = [f"bot{number}" for number in range(bots)]
    played = NightSettings(seats=seats, deals=1, refill="start", max_tables=6, clock=Clock())
    shuffled = Random(seed).sample(names, bots)
    assert plan_night(league="x", night=1, bots=names, settings=played) == plan_night(
        league="x", night=1, bots=shuffled, settings=played
    )


@untimed
@given(st.integers(5, 12), st.integers(3, 5), st.integers(1, 20), st.integers(1, 4))
def test_every_bot_has_every_seat_equally_often(bots: int, seats: int, tables: int, deals: int) -> None:
    played = NightSettings(seats=(seats,), deals=deals, refill="end", max_tables=tables, clock=Clock())
    names = [f"bot{number}" for number in range(bots)]
    seated = Counter(
        (bot, seat)
        for match in plan_night(league="x", night=1, bots=names, settings=played)
        for game in match.games
        for seat, bot in enumerate(game.bots)
    )
    for bot in names:
        assert len({seated[bot, seat] for seat in range(seats)}) == 1
