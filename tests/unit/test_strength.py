"""Values marked Fishtest are of a public test page (montytest.muzhen.org/tests/stats/69d3c8dc7c5b3724e29d2712), those
marked fastchess of fastchess's own tests of its SPRT and of the output of one of its matches.
"""

import math
from collections.abc import Sequence
from itertools import repeat
from random import Random

import pytest

from referee.errors import UsageError
from referee.strength import (
    NELO,
    SCORES,
    Interval,
    Sprt,
    Verdict,
    elo,
    elo_interval,
    mean_interval,
    nelo_interval,
    score_interval,
)

FISHTEST = (13, 37, 50, 25, 3)
FASTCHESS = (0, 0, 2, 0, 37)


@pytest.mark.parametrize(
    ("counts", "elo0", "elo1", "published"),
    [
        (FISHTEST, 0, 4, "-0.54912"),
        (FASTCHESS, 0, 20, "2.96"),
        ((365, 16_618, 36_229, 16_974, 390), 0, 2, "2.25"),
        ((127, 4_883, 10_712, 5_150, 104), -1.75, 0.25, "3.01"),
        ((0, 0, 0, 0, 5_550), 0, 5, "111.8"),  # fastchess has 111.82 to one in a hundred
    ],
)
def test_the_llr_is_that_of_other_testers(counts: Sequence[int], elo0: float, elo1: float, published: str) -> None:
    decimals = len(published.partition(".")[2])
    assert f"{Sprt(elo0, elo1).llr(counts):.{decimals}f}" == published


def test_the_estimates_are_those_of_other_testers() -> None:
    fishtest, fastchess = nelo_interval(FISHTEST), nelo_interval(FASTCHESS)
    assert fishtest is not None
    assert fastchess is not None
    assert (f"{fishtest.mean:.2f}", f"{fastchess.mean:.2f}") == ("-63.97", "1056.68")
    assert f"{elo_interval(FISHTEST).mean:.4f}" == "-43.6578"
    assert f"{elo_interval(FASTCHESS).mean:.2f}" == "631.91"


def test_the_bounds_are_walds() -> None:
    assert (f"{Sprt().lower:.4f}", f"{Sprt().upper:.4f}") == ("-2.9444", "2.9444")
    skew = Sprt(alpha=0.01, beta=0.2)
    assert (skew.lower, skew.upper) == (math.log(0.2 / 0.99), math.log(0.8 / 0.01))
    assert [skew.verdict(llr) for llr in (skew.lower, skew.lower + 1e-9, skew.upper - 1e-9, skew.upper)] == [
        Verdict.H0, Verdict.OPEN, Verdict.OPEN, Verdict.H1,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "counts",
    [
        (110, 250, 400, 270, 120),
        (60, 100, 190, 240, 200, 130, 80),
        (5, 20, 40, 70, 110, 120, 150, 130, 80, 30, 20),
    ],
)
def test_the_llr_is_near_its_closed_form(counts: Sequence[int]) -> None:
    """Van den Bergh, "Comments on normalized Elo", 4.2, for a deal of any number of games."""
    deals, most = sum(counts), len(counts) - 1
    mean = sum(count * halves / most for halves, count in enumerate(counts)) / deals
    variance = sum(count * (halves / most - mean) ** 2 for halves, count in enumerate(counts)) / deals
    t = (mean - 0.5) / math.sqrt(variance)
    t0, t1 = 0.0, 5 / NELO * math.sqrt(most / 2)
    expected = deals / 2 * math.log((1 + (t - t0) ** 2) / (1 + (t - t1) ** 2))
    assert Sprt(0, 5).llr(counts) == pytest.approx(expected, rel=0.02)


def test_nothing_is_known_before_the_first_deal() -> None:
    assert Sprt().llr([0] * 5) == 0
    assert Sprt().verdict(0) is Verdict.OPEN
    with pytest.raises(ValueError, match="expected a deal at least, got none"):
        score_interval([0] * 5)


@pytest.mark.parametrize("halves", range(5))
def test_deals_that_are_all_alike_decide_for_or_against(halves: int) -> None:
    counts = [4_000 if at == halves else 0 for at in range(5)]
    test = Sprt()
    assert test.verdict(test.llr(counts)) is (Verdict.H1 if halves > 2 else Verdict.H0)


@pytest.mark.parametrize("shares", [(0.12, 0.2, 0.36, 0.2, 0.12), tuple(math.comb(6, at) / 64 for at in range(7))])
def test_wrong_verdicts_are_no_more_frequent_than_asked(shares: Sequence[float]) -> None:
    test, rng, runs = Sprt(0, 100), Random(7), 100
    allowed = runs * 0.05 + 3 * math.sqrt(runs * 0.05 * 0.95)
    equal = [simulated(test, shares, rng) for _ in range(runs)]
    assert equal.count(Verdict.H1) <= allowed
    stronger = [simulated(test, tilted(shares, 100), rng) for _ in range(runs)]
    assert stronger.count(Verdict.H0) <= allowed


def simulated(test: Sprt, shares: Sequence[float], rng: Random) -> Verdict:
    """The verdict of a test on deals whose values come up with these shares, looked at after every second one."""
    counts = [0] * len(shares)
    while (verdict := test.verdict(test.llr(counts))) is Verdict.OPEN:
        for halves in rng.choices(range(len(shares)), shares, k=2):
            counts[halves] += 1
    return verdict


def tilted(shares: Sequence[float], nelo: float) -> list[float]:
    """The shares with more weight on high values, so that their normalised Elo is this."""
    low, high = 0.0, 10.0
    for _ in range(50):
        tilt = (low + high) / 2
        weights = [share * math.exp(tilt * at / len(shares)) for at, share in enumerate(shares)]
        interval = nelo_interval([round(1e9 * weight / sum(weights)) for weight in weights])
        assert interval is not None
        low, high = (tilt, high) if interval.mean < nelo else (low, tilt)
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ({"elo0": 10}, "elo0 below elo1, both from -100 to 100, got 10 and 10"),
        ({"elo1": 101}, "got 0 and 101"),
        ({"elo1": math.nan}, "got 0 and nan"),
        ({"alpha": 0}, "alpha: expected an error rate above 0 and below 0.5, got 0"),
        ({"beta": 0.5}, "beta: expected an error rate above 0 and below 0.5, got 0.5"),
    ],
)
def test_what_makes_no_test_is_refused(test: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Sprt(**test)


def test_a_mean_has_students_interval() -> None:
    # Four values with deviation 1 and mean 5; Student's t for 3 degrees is 3.1824 (any table of it).
    values = [5 + math.sqrt(3) / 2 * sign for sign in (-1, 1, -1, 1)]
    interval = mean_interval(values)
    assert (interval.mean, interval.low, interval.high) == pytest.approx((5, 5 - 3.1824 / 2, 5 + 3.1824 / 2), abs=1e-4)


def test_values_that_never_vary_give_no_certainty() -> None:
    assert mean_interval([3.0]) == Interval(3.0, None, None)
    assert mean_interval([3.0] * 9) == Interval(3.0, None, None)
    # Rule of three: ten deals alike leave room for 1 - 0.05 ** 0.1 = 25.9 % others.
    won = mean_interval([1.0] * 10, bounds=SCORES)
    assert (won.mean, won.low, won.high) == pytest.approx((1.0, 1 - 0.2589, 1.0), abs=1e-4)
    tied = mean_interval([0.5] * 10, bounds=SCORES)
    assert (tied.mean, tied.low, tied.high) == pytest.approx((0.5, 0.5 - 0.1294, 0.5 + 0.1294), abs=1e-4)
    assert mean_interval([0.1] * 3, bounds=SCORES).mean == 0.1


def test_an_interval_stays_within_the_bounds() -> None:
    assert mean_interval([0.0, 1.0], bounds=SCORES) == Interval(0.5, 0.0, 1.0)


def test_a_mean_needs_a_value() -> None:
    with pytest.raises(ValueError, match="expected a value per deal, got none"):
        mean_interval([])


def test_ten_to_one_is_four_hundred_elo() -> None:
    assert elo(10 / 11) == pytest.approx(400)
    assert elo(0.5) == 0
    assert (elo(0.0), elo(1.0)) == (-math.inf, math.inf)


def test_elo_has_no_end_where_every_game_was_won() -> None:
    interval = elo_interval([0, 0, 0, 0, 20])
    assert interval.mean == interval.high == math.inf
    assert interval.low == elo(0.05 ** (1 / 20))
    assert nelo_interval([0, 0, 0, 0, 20]) is None


def test_nine_in_ten_intervals_of_a_score_hold_the_true_one_at_least() -> None:
    rng, shares, held = Random(3), (0.05, 0.1, 0.2, 0.3, 0.35), 0
    true = sum(share * at / 4 for at, share in enumerate(shares))
    for _ in repeat(None, 500):
        drawn = rng.choices(range(5), shares, k=12)
        interval = score_interval([drawn.count(at) for at in range(5)])
        assert interval.low is not None
        assert interval.high is not None
        held += interval.low <= true <= interval.high
    assert held >= 450
