"""The fit against published ones, and against the model written down a second time."""

from collections.abc import Sequence
from itertools import chain, combinations, count, islice, product
from math import log

import numpy as np
import pytest

from referee.plackett_luce import Fit, Floats, Game, fit, fit_seats
from tests.support.naive_plackett_luce import log_likelihood

TEAMS = ("Baltimore", "Boston", "Cleveland", "Detroit", "Milwaukee", "New York", "Toronto")
BASEBALL = {
    "Milwaukee": {"Detroit": (4, 3), "Toronto": (4, 2), "New York": (4, 3), "Boston": (6, 1), "Cleveland": (4, 2),
                  "Baltimore": (6, 0)},
    "Detroit": {"Milwaukee": (3, 3), "Toronto": (4, 2), "New York": (4, 3), "Boston": (6, 0), "Cleveland": (6, 1),
                "Baltimore": (4, 3)},
    "Toronto": {"Milwaukee": (2, 5), "Detroit": (4, 3), "New York": (2, 4), "Boston": (4, 3), "Cleveland": (4, 2),
                "Baltimore": (6, 0)},
    "New York": {"Milwaukee": (3, 3), "Detroit": (5, 1), "Toronto": (2, 5), "Boston": (4, 3), "Cleveland": (4, 2),
                 "Baltimore": (6, 1)},
    "Boston": {"Milwaukee": (5, 1), "Detroit": (2, 5), "Toronto": (3, 3), "New York": (4, 2), "Cleveland": (5, 2),
               "Baltimore": (6, 0)},
    "Cleveland": {"Milwaukee": (2, 5), "Detroit": (3, 3), "Toronto": (3, 4), "New York": (4, 3), "Boston": (4, 2),
                  "Baltimore": (2, 4)},
    "Baltimore": {"Milwaukee": (2, 5), "Detroit": (1, 5), "Toronto": (1, 6), "New York": (2, 4), "Boston": (1, 6),
                  "Cleveland": (3, 4)},
}  # fmt: skip
"""Wins at home and of the guests, 1987: A. Agresti, "Categorical Data Analysis" (2nd ed., 2002), p. 438; as in the R
package BradleyTerry2, data/baseball.csv."""

PUDDINGS = {
    (0, 1): (19, 22, 16), (0, 2): (16, 19, 12), (1, 2): (19, 19, 10), (0, 3): (18, 23, 13), (1, 3): (23, 19, 9),
    (2, 3): (19, 20, 15), (0, 4): (13, 19, 18), (1, 4): (16, 20, 12), (2, 4): (16, 15, 17), (3, 4): (17, 14, 16),
    (0, 5): (18, 21, 12), (1, 5): (22, 20, 12), (2, 5): (13, 18, 10), (3, 5): (14, 19, 18), (4, 5): (11, 21, 12),
}  # fmt: skip
"""Which of two brands of pudding people preferred, the first, the second or neither: R. R. Davidson, JASA 65 (1970),
example 2; as in the R package PlackettLuce, data set `pudding`."""

FRUITS = ((1, 2, 0, 0), (4, 1, 2, 3), (2, 1, 1, 1), (1, 2, 3, 0), (2, 1, 1, 0), (1, 0, 3, 2))
"""Ranks of apple, banana, orange and pear, 0 where there was none: example of ?PlackettLuce in the R package."""

THREE_FRUITS = ((1, 2, 0), (3, 1, 2), (2, 1, 1), (1, 2, 3), (2, 1, 1), (1, 0, 2))
"""The same of apple, banana and orange: the package's tests/testthat/test-S3-methods.R."""

ALWAYS_LOSES = ((1, 2, 0, 0), (2, 0, 1, 0), (1, 0, 0, 2), (2, 1, 0, 0), (0, 1, 2, 0))
"""Of A, B, C and D, who has lost its only game: the package's vignette "Overview", Disconnected networks."""


def times(*results: tuple[tuple[int, ...], tuple[int, ...], int]) -> list[Game]:
    """Games of (players, ranks, how many), each a deal of its own."""
    numbers = count()
    return [Game(next(numbers), players, ranks) for players, ranks, many in results for _ in range(many)]


def ranked(rows: Sequence[Sequence[int]]) -> list[Game]:
    """A game a row, of those who have a rank there."""
    return times(*((tuple(np.flatnonzero(row).tolist()), tuple(rank for rank in row if rank), 1) for row in rows))


def baseball() -> list[Game]:
    return times(
        *(
            ((TEAMS.index(home), TEAMS.index(guest)), ranks, many)
            for home, guests in BASEBALL.items()
            for guest, wins in guests.items()
            for ranks, many in zip(((1, 2), (2, 1)), wins, strict=True)
        )
    )


def with_phantom(rows: Sequence[Sequence[int]]) -> list[Game]:
    """The games twice, and a win and a loss of each against a phantom; by default the package counts half of that."""
    phantom = len(rows[0])
    against = [((player, phantom), ranks, 1) for player in range(phantom) for ranks in ((1, 2), (2, 1))]
    return [*ranked(rows), *ranked(rows), *times(*against)]


def to_first(found: Fit) -> list[float]:
    """theta less that of the first player, for all others."""
    values: list[float] = (found.theta[1:] - found.theta[0]).tolist()
    return values


def test_pairs_without_ties_are_as_published() -> None:
    """The R package BradleyTerry2, tests/baseball.Rout.save; Agresti's table 10.11 has two decimals of the same."""
    found = fit(baseball(), len(TEAMS))
    assert [f"{value:.4f}" for value in to_first(found)] == ["1.1077", "0.6839", "1.4364", "1.5814", "1.2476", "1.2945"]
    errors = found.difference_errors()[0, 1:, 1]
    assert [f"{error:.4f}" for error in errors] == ["0.3339", "0.3319", "0.3396", "0.3433", "0.3359", "0.3367"]
    assert found.connected
    assert found.ties == {}


def test_playing_at_home_is_worth_what_was_published() -> None:
    """As above: 0.3023, and its error 0.1309; that seats are taken to be equal before takes a little off it."""
    found = fit_seats(baseball(), fit(baseball(), len(TEAMS)))
    home, guest = found.seats[2]
    assert home == pytest.approx(-guest)
    assert home - guest == pytest.approx(0.3023, abs=0.003)
    assert 2 * found.seat_errors(2)[0, 1] == pytest.approx(0.1309, abs=0.001)
    published = (1.1438, 0.7047, 1.4754, 1.6196, 1.2813, 1.3271)
    assert to_first(found) == pytest.approx(published, abs=0.001)


def test_pairs_with_ties_are_as_published() -> None:
    """Davidson's worths, and the errors in PlackettLuce's vignette "Overview", Inference."""
    found = fit(
        times(
            *(
                (brands, ranks, many)
                for brands, answers in PUDDINGS.items()
                for ranks, many in zip(((1, 2), (2, 1), (1, 1)), answers, strict=True)
            )
        ),
        6,
    )
    worths = np.exp(found.theta) / np.exp(found.theta).sum()
    assert [f"{worth:.3f}" for worth in worths] == ["0.139", "0.173", "0.162", "0.165", "0.159", "0.202"]
    assert f"{np.exp(found.ties[2]):.3f}" == "0.747"
    errors = found.difference_errors()[0, 1:, 1]
    assert [f"{error:.4f}" for error in errors] == ["0.1872", "0.1935", "0.1882", "0.1927", "0.1924"]


@pytest.mark.parametrize(
    ("rows", "thetas", "ties"),
    [
        (FRUITS, (0.25287380, -0.61350684, -0.08688469), (-2.15068112, -0.79245362)),  # ?PlackettLuce
        (THREE_FRUITS, (0.2867987, -0.4636687), (-1.0701129,)),  # its tests of S3 methods
    ],
)
def test_more_than_two_with_ties_are_as_published(
    rows: Sequence[Sequence[int]], thetas: Sequence[float], ties: Sequence[float]
) -> None:
    found = fit(with_phantom(rows), len(rows[0]) + 1)
    assert to_first(found)[:-1] == pytest.approx(thetas, abs=1e-7)
    assert tuple(found.ties.values()) == pytest.approx(ties, abs=1e-7)


def test_without_a_chain_of_wins_a_phantom_plays_as_published() -> None:
    found = fit(ranked(ALWAYS_LOSES), 4)
    assert not found.connected
    assert to_first(found) == pytest.approx((0.5184180, 0.1354701, -1.1537567), abs=1e-6)
    rest = fit(ranked([row[:3] for row in ALWAYS_LOSES if not row[3]]), 3)
    assert rest.connected
    assert to_first(rest) == pytest.approx((0.8392, 0.4196), abs=5e-5)
    assert rest.difference_errors()[0, 1:, 1] == pytest.approx((1.3596, 1.5973), abs=5e-5)


def test_two_players_are_as_far_apart_as_their_wins_say() -> None:
    """And with a deal as one sample, the error is that of a mean of deals, by the slope of the logit."""
    wins = [(1, 1), (1, 0), (1, 1), (0, 0), (1, 0), (1, 1), (0, 1)]
    games = [Game(deal, (0, 1), (1, 2) if won else (2, 1)) for deal, pair in enumerate(wins) for won in pair]
    found = fit(games, 2)
    share = sum(map(sum, wins)) / 14
    assert to_first(found) == pytest.approx([-log(share / (1 - share))])
    slope = 14 * share * (1 - share)
    spread = sum((sum(pair) - 2 * share) ** 2 for pair in wins)
    by_deals, by_choices = found.difference_errors()[0, 1]
    assert by_deals == pytest.approx((spread * 7 / 6) ** 0.5 / slope)
    assert by_choices == pytest.approx(slope**-0.5)


MIXED = [
    Game(deal, players, ranks)
    for deal, players, ranks in (
        (0, (0, 1, 2), (1, 1, 3)), (0, (1, 2, 0), (2, 1, 3)), (0, (2, 0, 1), (1, 2, 3)), (1, (0, 1), (1, 2)),
        (1, (1, 0), (1, 1)), (2, (3, 1, 0, 2), (1, 2, 2, 2)), (2, (2, 3, 1, 0), (4, 3, 2, 1)), (3, (3, 2), (2, 1)),
        (3, (2, 3), (2, 1)), (4, (1, 3, 2), (1, 2, 2)), (5, (0, 3), (2, 1)), (5, (3, 0), (2, 1)),
    )
]  # fmt: skip
"""Tables of two to four, ties of two and three, several games a deal."""


@pytest.mark.parametrize("seats", [False, True])
def test_errors_are_those_of_the_model_written_down_a_second_time(seats: bool) -> None:
    found = fit(MIXED, 4)
    if seats:
        found = fit_seats(MIXED, found)
    at = np.array([*found.theta, *chain.from_iterable(found.seats.values()), *found.ties.values()])

    def value(games: Sequence[Game], *steps: Floats) -> float:
        values = iter(np.sum([at, *steps], axis=0).tolist())
        theta = list(islice(values, 4))
        worths = {size: list(islice(values, size)) for size in found.seats}
        return -log_likelihood(games, theta, dict(zip(found.ties, values, strict=True)), worths)

    def slope(games: Sequence[Game]) -> Floats:
        return np.array([value(games, step) - value(games, -step) for step in 1e-5 * np.eye(at.size)]) / 2e-5

    def bend(one: Floats, other: Floats) -> float:
        return sum(a * b * value(MIXED, a * one, b * other) for a, b in product((1, -1), repeat=2)) / 4e-6

    pull = np.diag([0.0] * 4 + [0.25] * sum(found.seats) + [0.0] * len(found.ties))
    assert slope(MIXED) + pull @ at == pytest.approx(0, abs=1e-8)
    hessian = np.array([[bend(one, other) for one in 1e-3 * np.eye(at.size)] for other in 1e-3 * np.eye(at.size)])
    inverse = np.linalg.pinv(hessian + pull, rcond=1e-5)
    slopes = [slope([game for game in MIXED if game.deal == deal]) for deal in range(6)]
    sandwich = inverse @ sum(np.outer(each, each) for each in slopes) @ inverse * 6 / 5
    for one, other in combinations(range(4), 2):
        weights = np.eye(at.size)[one] - np.eye(at.size)[other]
        expected = [(weights @ covariance @ weights) ** 0.5 for covariance in (sandwich, inverse)]
        assert found.difference_errors()[one, other] == pytest.approx(expected, rel=1e-4)


def test_a_size_of_tie_that_always_came_about_where_it_could_is_left_out() -> None:
    pairs = times(
        ((0, 1), (1, 2), 3), ((0, 1), (2, 1), 2), ((1, 2), (1, 2), 3), ((1, 2), (2, 1), 2), ((0, 2), (1, 1), 1)
    )
    found = fit([*pairs, Game(99, (0, 1, 2), (1, 1, 1))], 3)
    assert found.ties.keys() == {2}
    assert found.theta.tolist() == fit(pairs, 3).theta.tolist()


def test_who_only_ever_tied_is_equal() -> None:
    found = fit(times(((0, 1, 2), (1, 1, 1), 5), ((0, 1), (1, 1), 5)), 3)
    assert not found.connected
    assert found.theta == pytest.approx(0)


def test_a_single_deal_says_as_much_as_its_choices() -> None:
    found = fit([Game(0, (0, 1), (1, 2)), Game(0, (1, 0), (1, 2))], 2)
    assert found.errors()[0, 0] == found.errors()[0, 1] > 0
