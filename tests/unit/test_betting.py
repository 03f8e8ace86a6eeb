"""Bets on a mean: seldom wrong however often one looks, and quick where the mean is far away."""

from math import sqrt
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.betting import Bets, lasting_interval

VALUES = st.lists(st.sampled_from((-1.0, -0.5, 0.0, 0.25, 1.0)), min_size=1, max_size=60)


def first_verdict(bets: Bets, values: list[float]) -> tuple[int, int]:
    """The first verdict and after how many values it came; 0 and all of them if none did."""
    for count, value in enumerate(values, 1):
        if verdict := bets.add(value):
            return verdict, count
    return 0, len(values)


@pytest.mark.parametrize(("parts", "error"), [(1, 0.1), (8, 0.1)])
def test_of_bets_on_a_mean_of_nothing_no_more_are_won_at_any_time_than_was_said(parts: int, error: float) -> None:
    rng = Random(5)
    spread = 1 / sqrt(parts)

    def value() -> float:
        return sum(rng.choice((-1.0, 1.0)) for _ in range(parts)) / parts  # the most that can vary in this range

    runs = 300
    won = sum(first_verdict(Bets(error / 2, spread), [value() for _ in range(150)])[0] != 0 for _ in range(runs))
    assert 0 < won <= error * runs


@pytest.mark.parametrize(("mean", "most"), [(1.0, 13), (0.4, 130), (-0.4, 130)])
def test_a_mean_far_from_nothing_is_found_soon(mean: float, most: int) -> None:
    rng = Random(1)
    values = [1.0 if rng.random() < (1 + mean) / 2 else -1.0 for _ in range(1_000)]
    verdict, count = first_verdict(Bets(0.004), values)
    assert verdict == (1 if mean > 0 else -1)
    assert count <= most


def test_a_small_spread_finds_it_sooner() -> None:
    values = [0.3, 0.2, 0.25] * 40
    assert first_verdict(Bets(0.001, 0.15), values)[1] < first_verdict(Bets(0.001), values)[1] / 2


def test_nothing_that_comes_later_changes_a_verdict() -> None:
    bets = Bets(0.01)
    assert first_verdict(bets, [1.0] * 50)[0] == 1
    assert first_verdict(bets, [-1.0] * 500) == (1, 1)


@given(VALUES, st.sampled_from((0.3, 1.0)))
def test_an_interval_holds_the_mean_and_turns_with_the_values(values: list[float], spread: float) -> None:
    interval = lasting_interval(values, 0.025, spread)
    turned = lasting_interval([-value for value in values], 0.025, spread)
    assert interval.low is not None
    assert interval.high is not None
    assert -1 <= interval.low <= interval.mean <= interval.high <= 1
    assert (turned.low, turned.mean, turned.high) == (-interval.high, -interval.mean, -interval.low)


@given(VALUES)
def test_zero_is_outside_the_interval_as_soon_as_there_is_a_verdict(values: list[float]) -> None:
    bets = Bets(0.2)
    verdict, count = first_verdict(bets, values)
    interval = lasting_interval(values[:count], 0.2)
    assert interval.low is not None
    assert interval.high is not None
    assert verdict == (interval.low >= 0) - (interval.high <= 0)


def test_of_no_value_there_is_no_interval() -> None:
    with pytest.raises(ValueError, match="expected a value at least"):
        lasting_interval([], 0.05)
