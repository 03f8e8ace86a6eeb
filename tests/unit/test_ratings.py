import subprocess
import sys
import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from math import log10

import pytest

from referee.model import GameRecord
from referee.ratings import Rating, Ratings, rate
from tests.support.results import result


def match(one: str, other: str, *, won: int, lost: int, tied: int = 0, night: int = 1) -> Iterator[GameRecord]:
    """Deals of two games, one on each seat, that end alike, as `one` sees it."""
    outcomes = [(1, 2)] * won + [(2, 1)] * lost + [(1, 1)] * tied
    for number, ranks in enumerate(outcomes):
        deal = f"night {night}/{one}-vs-{other}/{number}"
        yield result((one, other), ranks, deal=deal, night=night)
        yield result((other, one), ranks[::-1], deal=deal, rotation=1, night=night)


def rows(ratings: Ratings) -> dict[str, Rating]:
    return {row.bot: row for row in ratings.rows}


def ranks(ratings: Ratings) -> dict[str, tuple[int, int]]:
    return {row.bot: (row.first_rank, row.last_rank) for row in ratings.rows}


def test_three_wins_of_four_are_191_elo() -> None:
    ratings = rate(match("ann", "bob", won=30, lost=10))
    ann, bob = ratings.rows
    assert (ann.bot, ann.elo, ann.games, ann.deals) == ("ann", 95.4, 80, 40)
    assert (bob.bot, bob.elo, bob.games, bob.deals) == ("bob", -95.4, 80, 40)
    contrast = ratings.contrast("ann", "bob")
    assert contrast.elo == round(400 * log10(3), 1)
    # By Student's t with 39 degrees of freedom: 2.0227, and 40 / 39 in the variance of a mean of 40.
    half = 2.0227 * (0.75 * 0.25 / 39) ** 0.5 / (0.75 * 0.25) * 173.7178
    assert (contrast.low, contrast.high) == pytest.approx((contrast.elo - half, contrast.elo + half), abs=0.1)
    assert (ann.low, ann.high) == pytest.approx((ann.elo - half / 2, ann.elo + half / 2), abs=0.1)


def test_no_game_is_no_row() -> None:
    ratings = rate([])
    assert (ratings.rows, ratings.seats, ratings.bound) == ((), (), False)


def test_a_game_played_again_in_the_same_deal_makes_no_interval_smaller_but_another_deal_does() -> None:
    once = list(match("ann", "bob", won=30, lost=10))
    same_deals = rate([*once, *(replace(record, rotation=record.rotation + 2) for record in once)])
    other_deals = rate([*once, *match("ann", "bob", won=30, lost=10, night=2)])
    (ann, _), (same, _), (other, _) = rate(once).rows, same_deals.rows, other_deals.rows
    assert (same.low, same.high) == (ann.low, ann.high)
    assert other.high - other.low == pytest.approx((ann.high - ann.low) / 2**0.5, rel=0.03)


def test_the_deals_of_another_night_are_others() -> None:
    records = [*match("ann", "bob", won=20, lost=10), *match("ann", "bob", won=10, lost=20, night=2)]
    assert {row.deals for row in rate(records).rows} == {60}


def test_a_deck_that_was_given_by_hand_is_a_deal_of_its_own() -> None:
    games = [replace(record, deal=None, deck=record.deal or "") for record in match("ann", "bob", won=3, lost=2)]
    assert {row.deals for row in rate(games).rows} == {5}


def test_all_sizes_of_tables_count_together() -> None:
    duel = list(match("ann", "bob", won=30, lost=20))
    three = [
        result(bots, order, deal=f"three/{number}")
        for number, (bots, order) in enumerate(
            [(("ann", "bob", "cat"), (1, 2, 3))] * 12 + [(("cat", "ann", "bob"), (1, 1, 2))] * 10
        )
    ]
    both = rows(rate([*duel, *three]))
    assert both.keys() == {"ann", "bob", "cat"}
    assert both["ann"].games == 122
    assert rate([*duel, *three]).contrast("ann", "bob").elo > rate(duel).contrast("ann", "bob").elo


def test_a_bot_that_won_every_game_is_ahead_by_a_lower_bound() -> None:
    records = [*match("ann", "bob", won=40, lost=0), *match("ann", "cat", won=40, lost=0)]
    records += match("bob", "cat", won=25, lost=15)
    ratings = rate(records)
    assert ratings.bound
    assert all(row.bound for row in ratings.rows)
    ann = ratings.rows[0]
    assert ann.bot == "ann"
    assert 500 < ann.elo < 1500
    assert ann.low < ann.elo < ann.high
    assert ranks(ratings)["ann"] == (1, 1)


def test_two_islands_say_nothing_of_each_other() -> None:
    ratings = rate([*match("ann", "bob", won=30, lost=10), *match("cat", "dan", won=30, lost=10)])
    assert ratings.bound
    assert {bot: row.elo for bot, row in rows(ratings).items()}["ann"] == rows(ratings)["cat"].elo > 0
    assert not ratings.contrast("ann", "cat").significant
    assert ratings.contrast("ann", "bob").significant


def test_a_loss_is_enough_to_end_a_lower_bound() -> None:
    assert not rate(match("ann", "bob", won=39, lost=1)).bound


@pytest.mark.parametrize(("deals", "provisional"), [(29, True), (30, False)])
def test_a_rating_is_provisional_below_30_deals(deals: int, provisional: bool) -> None:
    ratings = rate(match("ann", "bob", won=20, lost=deals - 20))
    assert [row.provisional for row in ratings.rows] == [provisional] * 2


@pytest.mark.parametrize("deals", [1, 5, 40])
def test_deals_that_all_ended_alike_make_nothing_sure(deals: int) -> None:
    """Who sat first won, in every game: over deals, nothing varies."""
    games = [
        result(bots, (1, 2), deal=f"deal {number}", rotation=rotation)
        for number in range(deals)
        for rotation, bots in enumerate((("ann", "bob"), ("bob", "ann")))
    ]
    ann, _ = rate(games).rows
    assert ann.elo == 0
    # Half of a difference in theta whose error is 2 / root of the games, by the normal distribution.
    assert ann.high == -ann.low == pytest.approx(173.7178 * 1.96 / (2 * deals) ** 0.5, abs=0.1)


def test_ranks_are_those_that_significance_allows() -> None:
    records = [*match("ann", "bob", won=32, lost=28), *match("ann", "cat", won=58, lost=2)]
    records += match("bob", "cat", won=57, lost=3)
    assert ranks(rate(records)) == {"ann": (1, 2), "bob": (1, 2), "cat": (3, 3)}


def test_ranks_compare_a_bot_with_all_others_at_once() -> None:
    """Among eight bots some two are as far apart as that by chance; of two alone it would be significant."""
    names = ("ann", "bob", "cat", "dan", "eve", "fay", "gil", "hal")
    records = [
        record
        for one, other in combinations(names, 2)
        for record in match(one, other, won=8 if (one, other) == ("ann", "hal") else 5, lost=5)
    ]
    records += match("ann", "hal", won=23, lost=5, night=2)
    ratings = rate(records)
    assert ratings.contrast("ann", "hal").significant
    assert ranks(ratings) == dict.fromkeys(names, (1, 8))


def test_a_contrast_is_its_mirror_image_from_the_other_side() -> None:
    records = [*match("ann", "bob", won=30, lost=10, tied=5), *match("bob", "cat", won=20, lost=20, tied=2)]
    ratings = rate(records)
    there, back = ratings.contrast("ann", "cat"), ratings.contrast("cat", "ann")
    assert (there.elo, there.low, there.high) == (-back.elo, -back.high, -back.low)
    assert there.significant == back.significant == (there.low > 0)
    with pytest.raises(KeyError):
        ratings.contrast("ann", "ann")


def seat_games(wins: Sequence[int], deals: int) -> Iterator[GameRecord]:
    """Deals of three in every rotation, each won by the seat that `wins` names for this deal, in turns; others tie."""
    bots = ("ann", "bob", "cat")
    for number in range(deals):
        winner = wins[number % len(wins)]
        for rotation in range(3):
            turned = tuple(bots[(seat - rotation) % 3] for seat in range(3))
            places = tuple(1 if seat == winner else 2 for seat in range(3))
            yield result(turned, places, deal=f"three/{number}", rotation=rotation)


def test_a_seat_that_wins_more_often_is_told_by_how_much() -> None:
    ratings = rate(seat_games([0, 0, 1, 2, 0], deals=100))
    assert [(seat.players, seat.seat, seat.more_wins) for seat in ratings.seats] == [
        (3, 0, 80.0), (3, 1, -40.0), (3, 2, -40.0),
    ]  # fmt: skip
    assert [seat.significant for seat in ratings.seats] == [True, True, True]
    assert sum(seat.elo for seat in ratings.seats) == pytest.approx(0, abs=0.15)
    assert ratings.seats[0].low > 0 > ratings.seats[1].high
    assert [row.elo for row in ratings.rows] == [0, 0, 0]


def test_seats_that_win_equally_often_are_no_advantage() -> None:
    ratings = rate(seat_games([0, 1, 2], deals=30))
    assert [(seat.elo, seat.more_wins, seat.significant) for seat in ratings.seats] == [(0.0, 0.0, False)] * 3


def test_a_seat_that_won_every_game_is_worth_something_finite() -> None:
    first, second = rate(result(bots, (1, 2), deal=f"{deal}") for deal in range(40) for bots in (
        ("ann", "bob"), ("bob", "ann"),
    )).seats  # fmt: skip
    assert first.significant
    assert 300 < first.elo == -second.elo < 2000
    assert (first.more_wins, second.more_wins) == (100.0, -100.0)


def test_who_ties_for_the_first_rank_shares_the_win() -> None:
    first, second = rate([*match("ann", "bob", won=10, lost=10, tied=10)]).seats
    assert (first.more_wins, second.more_wins) == (0.0, 0.0)


def test_a_forfeit_counts_as_the_last_rank() -> None:
    played = list(match("ann", "bob", won=30, lost=10))
    forfeited = [replace(record, ended="forfeit") if record.ranks == (2, 1) else record for record in played]
    assert rate(forfeited) == rate(played)


def test_who_rates_nothing_waits_for_no_numpy() -> None:
    code = "import sys, referee.ratings; print(sorted({'numpy', 'scipy'} & sys.modules.keys()))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_many_bots_are_rated_in_the_memory_that_a_table_of_all_pairs_takes() -> None:
    bots = [f"bot{number:03}" for number in range(100)]
    records = [result((one, other), (1, 2), deal=one) for one, other in pairwise([*bots, bots[0]])]
    rate(records[:2])  # whatever is imported at first
    tracemalloc.start()
    try:
        found = rate(records)
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found.rows) == 100
    assert most_bytes < 100 * 8 * len(bots) ** 2
