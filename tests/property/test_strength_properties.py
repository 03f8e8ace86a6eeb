from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.strength import SCORES, Sprt, mean_interval, nelo_interval, score_interval

COUNTS = st.integers(2, 5).flatmap(
    lambda seats: st.lists(
        st.one_of(st.just(0), st.integers(0, 20), st.integers(0, 5_000)), min_size=2 * seats + 1, max_size=2 * seats + 1
    )
).filter(any)  # fmt: skip
ELOS = st.lists(st.floats(-50, 50), min_size=3, max_size=3).map(sorted)


@settings(max_examples=50)
@given(COUNTS, ELOS)
def test_what_speaks_for_new_speaks_against_it_from_the_other_side(counts: Sequence[int], elos: list[float]) -> None:
    low, _, high = elos[0], elos[1], elos[2] + 1
    other_side = Sprt(-high, -low).llr(counts[::-1])
    assert Sprt(low, high).llr(counts) == pytest.approx(-other_side, rel=1e-4, abs=1e-4)


@settings(max_examples=50)
@given(COUNTS, ELOS)
def test_the_llrs_of_neighbouring_hypotheses_add_up(counts: Sequence[int], elos: list[float]) -> None:
    low, middle, high = elos[0], elos[1] + 1, elos[2] + 2
    parts = Sprt(low, middle).llr(counts) + Sprt(middle, high).llr(counts)
    assert Sprt(low, high).llr(counts) == pytest.approx(parts, rel=1e-6, abs=1e-6)


@settings(max_examples=50)
@given(COUNTS)
def test_the_interval_of_counts_is_that_of_the_values_that_were_counted(counts: Sequence[int]) -> None:
    values = [halves / (len(counts) - 1) for halves, count in enumerate(counts) for _ in range(count)]
    one, other = score_interval(counts), mean_interval(values, bounds=SCORES)
    assert (one.mean, one.low, one.high) == pytest.approx((other.mean, other.low, other.high))


@given(COUNTS)
def test_an_interval_of_a_score_holds_its_mean_and_only_scores(counts: Sequence[int]) -> None:
    interval = score_interval(counts)
    assert interval.low is not None
    assert interval.high is not None
    assert 0 <= interval.low <= interval.mean <= interval.high <= 1


@given(COUNTS)
def test_normalised_elo_has_the_sign_of_the_scores_lead(counts: Sequence[int]) -> None:
    nelo, score = nelo_interval(counts), score_interval(counts)
    if nelo is not None:
        assert nelo.mean * (score.mean - 0.5) >= 0
        assert nelo.low is not None
        assert nelo.low <= nelo.mean
