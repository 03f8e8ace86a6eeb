"""rules.md: Set-up; A turn; Scoring; Notation of moves (`*` with one single)."""

import copy
import itertools
import pickle
import random

import pytest

from tests.golden.write_games import passing_deck
from tests.support.positions import everything, market_of, notations, position, row_of
from treelings import DeckError, IllegalMove, Move, NotationError, Refill, State
from treelings.offers import mask, offer_of, pack, pack_row, unpack
from treelings.rules import REFILLS


def the_deck(top: str) -> str:
    """A whole deck that begins with these cards."""
    rest = "".join(guild * (18 - top.count(guild)) for guild in "ROYGBP")
    cards = top + rest
    return cards[:88] + "!" + cards[88:]


DECK = the_deck("RRO" + "OYY" + "GGG" + "BPB" + "PRO" + "ROYGB")


# --- Set-up ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", range(2, 6))
def test_each_seat_in_turn_is_dealt_three_cards_from_the_top(players: int) -> None:
    state = State.deal(DECK, players)
    hands = ["R2 O1", "O1 Y2", "G3", "B2 P1", "P1 R1 O1"]
    assert [row_of(state, seat) for seat in range(players)] == hands[:players]


def test_the_next_five_cards_are_the_market() -> None:
    assert market_of(State.deal(DECK, 5)) == "ROYGB"
    assert market_of(State.deal(DECK, 2)) == market_of(position("R1", "R1", market="GGGBP"))


@pytest.mark.parametrize("players", range(2, 6))
def test_exactly_20_cards_lie_below_the_firefly(players: int) -> None:
    state = State.deal(DECK, players)
    assert state.pile == 108 - 3 * players - 5
    assert state.pile - state.above_firefly == 20
    assert not state.firefly_out
    assert state.festival_turn == -1


def test_columns_stand_by_guild_in_the_order_dealt() -> None:
    assert row_of(State.deal(the_deck("PRPBOY"), 2), 0) == "P2 R1"


def test_the_market_is_never_refilled_before_the_first_turn() -> None:
    for refill in REFILLS:
        state = State.deal(DECK, 5, refill)
        assert (state.turn, state.seat, state.pile, state.over) == (0, 0, 88, False)


@pytest.mark.parametrize("players", [-1, 0, 1, 6, 36])
def test_only_two_to_five_play(players: int) -> None:
    with pytest.raises(DeckError, match=f"expected 2 to 5, got {players}"):
        State.deal(DECK, players)


def test_a_bad_deck_or_refill_is_refused() -> None:
    with pytest.raises(DeckError, match="109 characters"):
        State.deal("R", 2)
    with pytest.raises(DeckError, match="expected 'start' or 'end', got 'middle'"):
        State.deal(DECK, 2, "middle")  # type: ignore[arg-type]  # what a careless caller would hand in


# --- Refill and firefly ---------------------------------------------------------------------------


@pytest.mark.parametrize("refill", REFILLS)
def test_the_market_is_refilled_to_five_cards_from_the_top(refill: Refill) -> None:
    state = position("R1", "O1", market="RRRGB", pile="PYO" + "R" * 40, refill=refill)
    state.play(Move.parse("R"))
    assert market_of(state) == "OYGBP"
    assert state.pile == 40


@pytest.mark.parametrize("refill", REFILLS)
def test_a_firefly_is_set_aside_and_another_card_is_drawn_for_it(refill: Refill) -> None:
    state = position("R1", "O1", market="RRRGB", pile="PY" + "O" * 20, refill=refill)
    state.play(Move.parse("R"))
    assert market_of(state) == "OYGBP"
    assert state.firefly_out
    assert (state.pile, state.above_firefly) == (19, 0)


@pytest.mark.parametrize("refill", REFILLS)
def test_the_firefly_stays_hidden_while_it_is_the_top_card(refill: Refill) -> None:
    state = position("R1", "O1", market="RRRGB", pile="PYO" + "O" * 20, refill=refill)
    state.play(Move.parse("R"))
    assert not state.firefly_out
    assert (state.pile, state.above_firefly) == (20, 0)


@pytest.mark.parametrize("refill", REFILLS)
def test_when_the_pile_is_empty_no_more_is_drawn(refill: Refill) -> None:
    state = position("R1", "O1", "Y1", market="RRRGB", pile="PY", refill=refill)
    state.play(Move.parse("R"))
    assert market_of(state) == "YGBP"
    assert state.pile == 0


# --- Take -----------------------------------------------------------------------------------------


def test_taking_a_guild_takes_every_market_card_of_it() -> None:
    state = position("R1", "O1", market="RRRGB", pile="")
    state.play(Move.parse("R"))
    assert row_of(state, 0) == "R4"
    assert market_of(state) == "GB"


def test_taking_the_singles_takes_every_guild_that_lies_there_exactly_once() -> None:
    state = position("G1 B1 P1", "O1", market="RRGBP", pile="")
    state.play(Move.parse("*"))
    assert row_of(state, 0) == "G2 B2 P2"
    assert market_of(state) == "RR"


def test_every_guild_of_the_market_may_be_taken_singles_too() -> None:
    assert notations(position("R1 G1 B1", "O1", market="RRRGB")) == ["R", "G", "B", "*"]


def test_the_singles_cannot_be_taken_where_there_are_none() -> None:
    state = position("R1 G1", "O1", market="RRRGG")
    assert notations(state) == ["R", "G"]
    with pytest.raises(IllegalMove, match="no guild lies in the market exactly once"):
        state.parse("*")


def test_a_guild_that_is_not_in_the_market_cannot_be_taken() -> None:
    with pytest.raises(IllegalMove, match="no Y in the market"):
        position("Y1", "O1", market="RRRGG").parse("Y")


# --- Place ----------------------------------------------------------------------------------------


def test_a_guild_that_the_seat_has_grows_its_column_where_it_stands() -> None:
    state = position("P1 R1 O1", "O1", market="RRGGB")
    state.play(Move.parse("R"))
    assert row_of(state, 0) == "P1 R3 O1"


def test_a_new_guild_becomes_a_column_at_the_left_or_the_right_end() -> None:
    for text, row in [("R<R", "R2 P1"), ("R>R", "P1 R2")]:
        state = position("P1", "O1", market="RRGGB")
        state.play(Move.parse(text))
        assert row_of(state, 0) == row


def test_several_new_guilds_go_one_after_the_other_first_placed_nearest() -> None:
    state = position("R1 O1", "O1", market="YYGBP")
    state.play(Move.parse("*<BP>G"))
    assert row_of(state, 0) == "P1 B1 R1 O1 G1"


def test_new_and_old_guilds_may_come_in_one_take() -> None:
    state = position("R1 G4", "O1", market="YYRGB")
    state.play(Move.parse("*<B"))
    assert row_of(state, 0) == "B1 R2 G5"


def test_every_order_and_side_of_new_guilds_is_legal_and_no_other() -> None:
    state = position("R1", "O1", market="RRRGB")
    assert notations(state) == [
        "R", "G>G", "G<G", "B>B", "B<B", "*>GB", "*>BG", "*<G>B", "*<B>G", "*<GB", "*<BG",
    ]  # fmt: skip


def test_the_first_legal_move_is_the_first_take_in_guild_order_placed_to_the_right() -> None:
    assert notations(position("P1", "O1", market="YYGBB"))[0] == "Y>Y"
    assert notations(position("P1", "O1", market="OYGBP"))[0] == "O>O"


def test_a_market_of_five_new_singles_gives_730_moves() -> None:
    moves = position("P1", "R1", market="ROYGB").legal_moves()
    assert len(set(moves)) == len(moves) == 5 * 2 + 720


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("*", r"expected the new guilds \(GB\) behind < or >, got none"),
        ("*<G", r"expected the new guilds \(GB\) behind < or >, got G"),
        ("*<GBP", r"expected the new guilds \(GB\)"),
        ("*<GP", r"expected the new guilds \(GB\)"),
        ("G", r"expected the new guilds \(G\) behind < or >, got none"),
        ("R<R", r"expected the new guilds \(none\) behind < or >, got R"),
        ("-", "passing is legal only before an empty market"),
    ],
)
def test_a_placement_must_name_each_new_guild_and_no_other(text: str, reason: str) -> None:
    state = position("R1", "O1", market="RRRGB")
    with pytest.raises(IllegalMove, match=reason):
        state.parse(text)
    with pytest.raises(IllegalMove, match=reason):
        state.play(Move.parse(text))


# --- Passing --------------------------------------------------------------------------------------


def test_before_an_empty_market_the_seat_passes_and_may_do_nothing_else() -> None:
    state = position("R1", "O1", "Y1", market="", pile="", turn=1)
    assert notations(state) == ["-"]
    for text in ("R", "*", "O<O"):
        with pytest.raises(IllegalMove):
            state.parse(text)
    state.play(state.parse("-"))
    assert (state.turn, state.seat, state.over) == (2, 2, False)
    assert row_of(state, 1) == "O1"


def test_a_pass_comes_up_in_a_real_game() -> None:
    state = State.deal(passing_deck(), 5)
    state.play(state.legal_moves()[0])  # three red cards; from now on all five singles every time
    while not state.over:
        legal = notations(state)
        state.play(state.legal_moves()[-1])
    assert legal == ["-"]
    assert (state.turn, state.festival_turn) == (20, 15)


# --- The end of the game --------------------------------------------------------------------------


def test_with_refill_at_the_start_a_firefly_belongs_to_the_turn_that_begins() -> None:
    state = position("R1", "O1", market="RRRGB", pile="R" * 20, turn=4, refill="start")
    state.play(Move.parse("R"))
    assert (state.festival_turn, state.seat, state.over) == (5, 1, False)
    state.play(state.legal_moves()[0])
    assert state.over


def test_with_refill_at_the_end_a_firefly_belongs_to_the_turn_just_taken() -> None:
    state = position("R1", "O1", market="RRRGB", pile="R" * 20, turn=4, refill="end")
    state.play(Move.parse("R"))
    assert (state.festival_turn, state.seat, state.over) == (4, 1, False)
    state.play(state.legal_moves()[0])
    assert state.over


def test_with_refill_at_the_end_a_firefly_after_the_last_seat_ends_the_game_at_once() -> None:
    state = position("R1", "O1", market="OOOGB", pile="R" * 20, turn=5, refill="end")
    state.play(Move.parse("O"))
    assert (state.festival_turn, state.turn, state.over) == (5, 6, True)


def test_with_refill_at_the_start_a_firefly_before_seat_0_gives_everybody_one_more_turn() -> None:
    state = position("R1", "O1", "Y1", market="YYYGB", pile="R" * 20, turn=5, refill="start")
    state.play(Move.parse("Y"))
    assert (state.festival_turn, state.seat, state.over) == (6, 0, False)
    for _ in range(3):
        assert not state.over
        state.play(state.legal_moves()[0])
    assert (state.turn, state.over) == (9, True)


@pytest.mark.parametrize("refill", REFILLS)
@pytest.mark.parametrize("players", range(2, 6))
def test_all_seats_have_had_the_same_number_of_turns(players: int, refill: Refill) -> None:
    state = State.deal(DECK, players, refill)
    state.playout(random.Random(1))
    assert state.over
    assert state.turn % players == 0
    assert state.turn - players <= state.festival_turn < state.turn


def test_with_refill_at_the_start_the_market_is_not_refilled_after_the_last_turn() -> None:
    state = position("R1", "O1", market="OOOGB", pile="R" * 10, turn=5, refill="start")
    state.play(Move.parse("O"))
    assert (state.over, state.pile, market_of(state)) == (True, 10, "GB")


def test_when_the_game_is_over_nothing_is_legal() -> None:
    state = position("R1", "O1", market="OOOGB", pile="R" * 10, turn=5)
    state.play(Move.parse("O"))
    assert state.legal_moves() == ()
    for text in ("G<G", "-", "*<GB"):
        with pytest.raises(IllegalMove, match="the game is over"):
            state.parse(text)
        with pytest.raises(IllegalMove, match="the game is over"):
            state.play(Move.parse(text))


# --- Scoring --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "scores"),
    [
        # two seats: ... seat 1's row, seat 0's row, seat 1's row ...
        (("R2 O1 Y3", "G2 B1 P1"), (2 + 3, 0)),
        (("R1", "O1"), (1, 1)),
        (("R2", "O1"), (2, 0)),
        (("R1", "O1 Y1 G2"), (0, 1 + 2)),
        (("R3", "O2 Y4 G2"), (3, 4)),
        # a tie with a neighbour scores on both sides of the border, between seats too
        (("R3 O1", "Y1 G3"), (3, 3)),
        (("R3 O1", "Y3 G1"), (3, 3)),
        # three seats with a single column: each meets both neighbouring players
        (("R1", "O2", "Y3"), (0, 0, 3)),
        (("R2", "O2", "Y2"), (2, 2, 2)),
        (("R3", "O2", "Y3"), (3, 0, 3)),
        # next seat on the left: seat 0's left column meets seat 1's right, its right one seat 2's left
        (("R2 O2", "Y1 G3", "B1 P1"), (2, 3, 1)),
        (("R2 O2", "Y1 G1", "B3 P1"), (2, 1, 3)),
        (("R2 O2", "Y1 G2", "B2 P2"), (4, 2, 4)),
        (("R1", "O1", "Y1", "G5"), (0, 1, 0, 5)),
        (("R1", "O5", "Y1", "G1", "B4"), (0, 5, 0, 0, 4)),
    ],
)
def test_a_column_scores_its_height_if_no_neighbour_in_the_ring_is_higher(
    rows: tuple[str, ...], scores: tuple[int, ...]
) -> None:
    assert position(*rows).scores() == scores


def test_margin_is_the_own_score_minus_the_mean_of_the_others() -> None:
    state = position("R3", "O2", "Y3")
    assert [state.margin(seat) for seat in range(3)] == [1.5, -3.0, 1.5]
    assert position("R2", "O1").margin(1) == -2.0


# --- Notation in a position -----------------------------------------------------------------------


@pytest.mark.parametrize(("text", "canonical"), [("*<G", "G<G"), ("*>G", "G>G"), ("G<G", "G<G")])
def test_where_one_guild_lies_single_the_star_means_its_letter(text: str, canonical: str) -> None:
    state = position("R1", "O1", market="RROOG")
    assert state.parse(text) is Move.parse(canonical)
    assert "*<G" not in notations(state)


def test_the_star_means_the_letter_for_a_guild_that_the_seat_has_too() -> None:
    assert position("R1 G1", "O1", market="RROOG").parse("*") is Move.parse("G")


@pytest.mark.parametrize("text", ["*", "*<R", "*>GR"])
def test_a_lone_single_is_still_placed_as_it_must_be(text: str) -> None:
    with pytest.raises(IllegalMove) as caught:
        position("R1", "O1", market="RROOG").parse(text)
    assert f"illegal move {text!r}" in str(caught.value)


def test_the_star_of_a_lone_single_is_not_itself_playable() -> None:
    state = position("R1", "O1", market="RROOG")
    with pytest.raises(IllegalMove, match="G alone"):
        state.play(Move.parse("*<G"))


def test_parse_gives_every_legal_move_from_its_text() -> None:
    state = position("P1", "R1", market="ROYGB")
    for move in state.legal_moves():
        assert state.parse(move.notation) is move


def test_text_that_is_no_move_and_a_move_that_is_not_legal_are_told_apart() -> None:
    state = position("P1", "R1", market="ROYGB")
    with pytest.raises(NotationError):
        state.parse("red please")
    with pytest.raises(IllegalMove):
        state.parse("P")


def test_a_refusal_names_seat_turn_and_some_of_the_legal_moves_and_stays_short() -> None:
    state = position("P1", "R1", market="ROYGB", turn=3)
    with pytest.raises(IllegalMove) as caught:
        state.parse("P")
    assert str(caught.value) == (
        "illegal move 'P' for seat 1 at turn 3: no P in the market; legal: R O>O O<O Y>Y Y<Y G>G G<G B>B and 121 more"
    )


def test_an_illegal_move_changes_nothing() -> None:
    state = position("R1", "O1", market="RRRGB")
    before = everything(state)
    with pytest.raises(IllegalMove):
        state.play(Move.parse("P"))
    assert everything(state) == before


# --- The state as a value -------------------------------------------------------------------------


def test_a_copy_is_independent_and_equal_in_all_that_it_holds() -> None:
    state = State.deal(DECK, 3, "end")
    state.play(state.legal_moves()[-1])
    before = everything(state)
    twin = state.copy()
    assert everything(twin) == before
    twin.playout(random.Random(2))
    assert everything(state) == before


def test_states_can_be_pickled_and_deep_copied() -> None:
    state = State.deal(DECK, 3)
    state.play(state.legal_moves()[0])
    assert everything(pickle.loads(pickle.dumps(state))) == everything(state)
    assert everything(copy.deepcopy(state)) == everything(state)
    state.playout(random.Random(3))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert everything(pickle.loads(pickle.dumps(state, protocol))) == everything(state)


def test_a_shallow_copy_shares_no_row_either() -> None:
    state = State.deal(DECK, 3)
    before = everything(state)
    copy.copy(state).playout(random.Random(3))
    assert everything(state) == before


@pytest.mark.parametrize("market", [pack((6, 0, 0, 0, 0, 0)), pack((0, 0, 3, 0, 0, 3)), 1 << 30, -1, 2**80])
def test_more_cards_than_a_market_holds_are_refused(market: int) -> None:
    with pytest.raises(DeckError, match="market: expected at most 5 cards in all"):
        State.resume(["R", "O"], [1, 1 << 5], market, [], 0, "start")


def test_what_is_no_move_cannot_be_played() -> None:
    state = State.deal(DECK, 2)
    before = everything(state)
    with pytest.raises((TypeError, AttributeError), match="str"):
        state.play("R")  # type: ignore[arg-type]  # what a careless caller would hand in
    assert everything(state) == before


def test_every_market_has_an_offer_of_its_own() -> None:
    markets = [pack(counts) for counts in itertools.product(range(6), repeat=6) if sum(counts) <= 5]
    assert len(markets) == 462
    for market in markets:
        assert offer_of(market).market == market
        assert pack(offer_of(market).counts) == market


def test_counts_are_packed_five_bits_a_guild() -> None:
    counts = (18, 0, 1, 17, 5, 18)
    assert unpack(pack(counts)) == counts
    assert pack((1, 0, 0, 0, 0, 1)) == 1 | 1 << 25
    assert pack_row("PR", (3, 2)) == 2 | 3 << 25
    assert mask("PR") == 0b100001
