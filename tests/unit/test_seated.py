"""What somebody at the table is shown."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.cli.seated import HELP, MOST_AT_ONCE, board, cards, ring, steps
from tests.support.positions import position
from treelings import Move, State, View, derive_deck
from treelings.moves import moves_for_take

ROWS = ("R1", "O2", "Y3", "G4", "B5")


def names(lines: list[str]) -> list[str]:
    return [next(word for word in line.split() if word in ("ann", "bob", "cid", "dan", "eve")) for line in lines]


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("seat", [0, 1])
def test_each_rows_right_end_stands_beside_the_left_end_of_the_row_below_it(players: int, seat: int) -> None:
    state = position(*ROWS[:players], turn=seat)
    people = ["ann", "bob", "cid", "dan", "eve"][:players]
    lines = [line.plain for line in ring(state, people, seat)]
    shown = [people.index(name) for name in names(lines)]
    assert sorted(shown) == list(range(players))
    # rules.md, Seats: a seat's rightmost column stands beside the leftmost one of the seat before it.
    assert all((above - below) % players == 1 for above, below in zip(shown, shown[1:] + shown[:1], strict=True))
    assert "▶" in lines[shown.index(seat)]
    if players > 2:
        assert "on the left" in lines[shown.index((seat + 1) % players)]
        assert "on the right" in lines[shown.index((seat - 1) % players)]
    else:
        assert "both sides" in lines[shown.index(1 - seat)]


def test_the_board_names_turn_market_pile_firefly_and_what_scores() -> None:
    view = View.of(position("R3 O1", "G2", market="ROOYB", pile="PG" * 15, turn=4))
    text = "\n".join(line.plain for line in board(view, ["ann", "bob"]))
    assert "Turn 4, your 3rd · firefly after 10 more cards" in text
    assert "face down 30: G15 P15" in text
    assert "R3 *" in text
    assert "O1 *" not in text
    assert all(len(line.plain) <= 80 for line in board(view, ["ann", "bob"]))


@pytest.mark.parametrize(
    ("pile", "words"), [(20, "is the next card"), (21, "after 1 more card"), (22, "after 2 more cards")]
)
def test_when_the_firefly_comes_is_said(pile: int, words: str) -> None:
    view = View.of(position("R3", "G2", market="ROOYB", pile="R" * pile))
    assert board(view, ["ann", "bob"])[0].plain.endswith(f"firefly {words}")


def test_the_last_turn_is_said_to_be_one() -> None:
    view = View.of(position("R3 O1", "G2", market="ROOYB", pile="PG" * 5, turn=4))
    assert "your last turn" in board(view, ["ann", "bob"])[0].plain


@pytest.mark.parametrize(("notation", "taken"), [("O", "O  O"), ("*>YB", "R  Y  B"), ("R", "R")])
def test_the_cards_of_a_move_are_those_that_it_takes(notation: str, taken: str) -> None:
    state = position("R3 O1", "G2", market="ROOYB")
    assert cards(state, Move.parse(notation)).plain.strip() == taken


def reached(moves: tuple[Move, ...], placed: str = "") -> set[Move]:
    """All moves that can be chosen step by step."""
    found: set[Move] = set()
    for step, left in steps(moves, placed.count("<"), placed.count(">")):
        assert set(left) <= set(moves)
        assert len(left) == 1 or len(left) < len(moves)  # every step leads on
        found |= {left[0]} if len(left) == 1 else reached(left, placed + step)
    return found


@given(seed=st.integers(0, 10_000), players=st.integers(2, 5), turns=st.integers(0, 30))
def test_every_legal_move_and_no_other_can_be_chosen(seed: int, players: int, turns: int) -> None:
    state = State.deal(derive_deck(bytes(32), str(seed)), players)
    rng = Random(seed)
    for _ in range(turns):
        state.play(rng.choice(state.legal_moves()))
    assert reached(state.legal_moves()) == set(state.legal_moves())


@pytest.mark.parametrize("new", ["ROY", "ROYG", "ROYGB"])
def test_many_new_guilds_are_placed_one_by_one(new: str) -> None:
    moves = moves_for_take("*", new)
    first = steps(moves)
    assert [step for step, _ in first] == [*(f"<{guild}" for guild in new), *(f">{guild}" for guild in new)]
    assert reached(moves) == set(moves)


def test_few_moves_are_listed_one_by_one_and_many_by_what_they_take() -> None:
    few = position("R3 O1", "G2", market="RROOG").legal_moves()
    assert len(few) <= MOST_AT_ONCE
    assert [step for step, _ in steps(few)] == [move.notation for move in few]
    many = position("R3", "G2", market="OYGBP").legal_moves()
    assert [step for step, _ in steps(many)] == ["O", "Y", "G", "B", "P", "*"]


def test_the_help_fits_a_small_terminal() -> None:
    lines = HELP.splitlines()
    assert len(lines) <= 12
    assert max(map(len, lines)) <= 80
