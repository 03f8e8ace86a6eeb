from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from math import inf
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.model import GameRecord
from referee.plackett_luce import Game, fit
from referee.ratings import Rating, Ratings, rate
from tests.support.naive_plackett_luce import log_likelihood
from tests.support.results import result

BOTS = ("ann", "bob", "cat", "dan", "eve")
SEEDS = st.integers(0, 2**32)


def ranks(points: Sequence[float]) -> list[int]:
    return [1 + sum(other > own for other in points) for own in points]


@st.composite
def leagues(draw: st.DrawFn) -> list[GameRecord]:
    """Any tables of two to five, with any ranks, in a few deals."""
    records = []
    for number in range(draw(st.integers(1, 12))):
        bots = draw(st.permutations(BOTS))[: draw(st.integers(2, 5))]
        points = draw(st.lists(st.integers(1, 4), min_size=len(bots), max_size=len(bots)))
        records.append(result(bots, ranks(points), deal=f"{draw(st.integers(0, 6))}", rotation=number))
    return records


def lively(seed: int) -> list[GameRecord]:
    """Deals at tables of two to four in which everybody beats everybody now and then, and some tie."""
    rng = Random(seed)
    records = []
    for number in range(120):
        bots = rng.sample(BOTS, rng.choice((2, 2, 3, 4)))
        points = [rng.gauss(BOTS.index(bot) / 3, 1) // 0.4 for bot in bots]
        records.append(result(bots, ranks(points), deal=f"{number // 2}", rotation=number % 2))
    return records


def renamed(records: Iterable[GameRecord], names: Mapping[str, str]) -> list[GameRecord]:
    return [
        replace(record, seats=tuple(replace(seat, bot=names[seat.bot]) for seat in record.seats)) for record in records
    ]


def rows(ratings: Ratings) -> dict[str, Rating]:
    return {row.bot: row for row in ratings.rows}


def as_games(records: Iterable[GameRecord]) -> list[Game]:
    return [
        Game(int(record.deal or 0), tuple(BOTS.index(seat.bot) for seat in record.seats), record.ranks)
        for record in records
    ]


@settings(max_examples=30)
@given(leagues(), st.randoms(use_true_random=False))
def test_the_order_of_the_records_changes_nothing(records: list[GameRecord], rng: Random) -> None:
    shuffled, straight = rate(rng.sample(records, len(records))), rate(records)
    assert (shuffled.rows, shuffled.seats) == (straight.rows, straight.seats)
    for pair in permutations(rows(straight), 2):
        assert shuffled.contrast(*pair) == straight.contrast(*pair)


@settings(max_examples=15)
@given(SEEDS)
def test_the_order_of_the_games_changes_not_a_bit(seed: int) -> None:
    games = as_games(lively(seed))
    straight, shuffled = fit(games, len(BOTS)), fit(Random(seed).sample(games, len(games)), len(BOTS))
    assert straight.theta.tobytes() == shuffled.theta.tobytes()
    assert straight.errors().tobytes() == shuffled.errors().tobytes()


@settings(max_examples=30)
@given(leagues(), st.permutations(BOTS))
def test_other_names_change_nothing_but_the_names(records: list[GameRecord], names: Sequence[str]) -> None:
    other_names = dict(zip(BOTS, names, strict=True))
    before, after = rate(records), rate(renamed(records, other_names))
    assert {replace(row, bot=other_names[row.bot]) for row in before.rows} == set(after.rows)
    assert before.seats == after.seats


@settings(max_examples=20)
@given(SEEDS)
def test_all_results_a_second_time_change_no_rating(seed: int) -> None:
    records = lively(seed)
    once, twice = rate(records), rate([*records, *(replace(record, night=2) for record in records)])
    assert not once.bound
    assert [(row.bot, row.elo) for row in once.rows] == [(row.bot, row.elo) for row in twice.rows]
    assert all(rows(twice)[row.bot].deals == 2 * row.deals for row in once.rows)


@settings(max_examples=60)
@given(leagues())
def test_whatever_the_results_every_number_is_sensible(records: list[GameRecord]) -> None:
    ratings = rate(records)
    count = len(ratings.rows)
    assert {row.bot for row in ratings.rows} == {seat.bot for record in records for seat in record.seats}
    assert abs(sum(row.elo for row in ratings.rows)) < 0.1 * count
    for place, row in enumerate(ratings.rows, 1):
        assert -5_000 < row.elo < 5_000
        assert -inf < row.low < row.elo < row.high < inf
        assert 1 <= row.first_rank <= place <= row.last_rank <= count
    for seat in ratings.seats:
        assert -5_000 < seat.elo < 5_000
        assert -inf < seat.low < seat.elo < seat.high < inf
        assert -100 <= seat.more_wins <= 100 * (seat.players - 1)


@settings(max_examples=15)
@given(SEEDS, st.sampled_from(BOTS))
def test_a_bot_that_always_wins_is_a_finite_lower_bound_ahead(seed: int, best: str) -> None:
    def won(record: GameRecord) -> GameRecord:
        points = [-rank for rank in record.ranks]
        places = zip(record.seats, points, strict=True)
        return replace(record, ranks=tuple(ranks([1 if seat.bot == best else own for seat, own in places])))

    first, *others = rate(map(won, lively(seed))).rows
    assert first.bot == best
    assert first.bound
    assert all(row.bound for row in others)
    assert others[0].elo < first.elo < first.high < 5_000


@settings(max_examples=15)
@given(SEEDS)
def test_two_islands_are_each_rated_and_not_compared(seed: int) -> None:
    records = lively(seed)
    twins = {bot: f"{bot}-2" for bot in BOTS}
    both = rate([*records, *(replace(record, night=2) for record in renamed(records, twins))])
    assert both.bound
    for bot, twin in twins.items():
        assert rows(both)[bot].elo == rows(both)[twin].elo
        assert not both.contrast(bot, twin).significant


@settings(max_examples=10)
@given(SEEDS)
def test_no_place_nearby_is_more_likely(seed: int) -> None:
    """By the model written down a second time."""
    games, rng = as_games(lively(seed)), np.random.default_rng(seed)
    found = fit(games, len(BOTS))
    best = log_likelihood(games, found.theta.tolist(), found.ties)
    for scale in (0.1, 0.01):
        theta = found.theta + rng.normal(size=len(BOTS)) * scale
        ties = {size: log_delta + rng.normal() * scale for size, log_delta in found.ties.items()}
        assert log_likelihood(games, theta.tolist(), ties) < best
