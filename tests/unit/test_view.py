"""What a seat sees, and states sampled from it."""

import random

import pytest

from tests.support.positions import position
from treelings import Move, View

PILE = "PPPYYO" * 5


def test_a_view_shows_what_lies_open_and_counts_what_does_not() -> None:
    state = position("P2 R1", "O3", market="ROOYB", pile=PILE, turn=2, refill="end")
    history = (Move.parse("R"), Move.parse("O<O"))
    assert View.of(state, history, limit_ms=500, bank_ms=1500) == View(
        seat=0,
        turn=2,
        players=2,
        refill="end",
        rows=("PR", "O"),
        heights=((2, 1), (3,)),
        market=(1, 2, 1, 0, 1, 0),
        unseen=(0, 5, 10, 0, 0, 15),
        above_firefly=10,
        firefly_out=False,
        legal_moves=state.legal_moves(),
        history=history,
        limit_ms=500,
        bank_ms=1500,
    )


def test_a_view_is_of_the_seat_whose_turn_it_is() -> None:
    assert View.of(position("R1", "O1", "Y1", market="RRRRR", turn=4)).seat == 1


def test_the_pile_counts_all_unseen_cards_and_the_firefly_is_none_of_them() -> None:
    view = View.of(position("R1", "O1", market="RRRRR", pile=PILE))
    assert (view.pile, view.above_firefly) == (30, 10)


def test_once_out_no_cards_lie_above_the_firefly() -> None:
    view = View.of(position("R1", "O1", market="RRRRR", pile="R" * 19, turn=3))
    assert (view.firefly_out, view.above_firefly) == (True, 0)


def test_a_view_cannot_be_changed_and_does_not_follow_the_state() -> None:
    state = position("R1", "O1", market="RROYB")
    view = View.of(state)
    with pytest.raises(AttributeError):
        view.seat = 1  # type: ignore[misc]  # the point of the test
    state.play(Move.parse("R"))
    assert (view.turn, view.rows, view.heights) == (0, ("R", "O"), ((1,), (1,)))


def test_nothing_in_a_view_can_be_changed_in_place() -> None:
    view = View.of(position("R1", "O1", market="RROYB"))
    assert isinstance(hash(view), int)


def test_a_sample_shares_nothing_with_the_view_or_with_another_sample() -> None:
    view = View.of(position("R1", "O1", market="RROYB"))
    rng = random.Random(5)
    one, other = view.sample(rng), view.sample(rng)
    one.playout(rng)
    assert View.of(other) == view


def test_samples_with_the_same_seed_are_the_same_and_others_differ() -> None:
    view = View.of(position("R1", "O1", market="RROYB"))

    def ending(seed: int) -> list[tuple[int, ...]]:
        state = view.sample(random.Random(seed))
        seen = []
        while not state.over:
            state.play(state.legal_moves()[0])
            seen.append(state.market)
        return seen

    assert ending(1) == ending(1)
    assert ending(1) != ending(2)


def test_each_unseen_card_is_equally_likely_to_come_next() -> None:
    # Six cards, one a guild, one drawn: 6000 draws give 1000 of each, standard deviation 29.
    view = View.of(position("R1", "O1", "Y1", market="RRRRO", pile="ROYGBP", turn=1))
    rng = random.Random(8)
    drawn = [0] * 6
    for _ in range(6000):
        state = view.sample(rng)
        state.play(Move.parse("O"))
        for guild, count in enumerate(state.market):
            drawn[guild] += count - (4 if guild == 0 else 0)
    assert sum(drawn) == 6000
    assert all(850 < count < 1150 for count in drawn)
