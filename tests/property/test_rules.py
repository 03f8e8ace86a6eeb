"""What holds in every game."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.positions import everything
from treelings import GUILDS, IllegalMove, Move, Refill, State, View, derive_deck
from treelings.cards import CARDS_PER_GUILD
from treelings.moves import moves_for_take
from treelings.rules import REFILLS

tables = st.tuples(
    st.integers(0, 2**32 - 1).map(lambda seed: shuffled(random.Random(seed))),
    st.integers(2, 5),
    st.sampled_from(REFILLS),
)


def shuffled(rng: random.Random) -> str:
    cards = list(GUILDS * CARDS_PER_GUILD)
    rng.shuffle(cards)
    return "".join(cards[:88]) + "!" + "".join(cards[88:])


def a_position(table: tuple[str, int, Refill], seed: int, turns: int) -> State:
    """After so many random turns, or before the last one of a shorter game."""
    state = State.deal(*table)
    rng = random.Random(seed)
    for _ in range(turns):
        following = state.copy()
        following.play(rng.choice(state.legal_moves()))
        if following.over:
            break
        state = following
    return state


positions = st.builds(a_position, tables, st.integers(0, 2**32 - 1), st.integers(0, 50))


@given(positions)
def test_the_108_cards_are_all_somewhere(state: State) -> None:
    counts = [market + unseen for market, unseen in zip(state.market, state.unseen(), strict=True)]
    for seat, row in enumerate(state.rows):
        assert len(set(row)) == len(row)
        for guild, height in zip(row, state.heights(seat), strict=True):
            assert height > 0
            counts[GUILDS.index(guild)] += height
    assert counts == [CARDS_PER_GUILD] * 6
    assert state.pile == sum(state.unseen())


@given(positions)
def test_every_legal_move_reads_back_from_its_notation_and_can_be_played(state: State) -> None:
    for move in state.legal_moves()[:40]:
        assert state.parse(str(move)) is move
        following = state.copy()
        following.play(move)
        assert following.turn == state.turn + 1


@settings(max_examples=30)
@given(positions)
def test_every_other_move_is_illegal(state: State) -> None:
    legal = set(state.legal_moves())
    some = [Move.parse("-"), *moves_for_take("*", "OB"), *moves_for_take("*", "RYP"), Move.parse("*")]
    some += [move for guild in GUILDS for new in ("", guild) for move in moves_for_take(guild, new)]
    for move in set(some) - legal:
        with pytest.raises(IllegalMove):
            state.play(move)


@given(positions, st.integers(0, 2**32 - 1))
def test_a_playout_is_the_same_as_playing_the_moves_that_the_numbers_pick(state: State, seed: int) -> None:
    slow = state.copy()
    rng = random.Random(seed)
    while not slow.over:
        moves = slow.legal_moves()
        slow.play(moves[int(rng.random() * len(moves))])
    state.playout(random.Random(seed))
    assert everything(state) == everything(slow)


@given(tables)
def test_scores_are_at_most_the_cards_and_somebody_scores(table: tuple[str, int, Refill]) -> None:
    state = State.deal(*table)
    state.playout(random.Random(1))
    scores = state.scores()
    assert max(scores) > 0
    for seat, score in enumerate(scores):
        assert 0 <= score <= sum(state.heights(seat))
    assert sum(state.margin(seat) for seat in range(state.players)) == pytest.approx(0)


@given(tables, st.integers(0, 2**32 - 1), st.integers(0, 50), st.randoms(use_true_random=False))
def test_permuting_the_unseen_cards_changes_no_view(
    table: tuple[str, int, Refill], seed: int, turns: int, rng: random.Random
) -> None:
    """Every view of the game so far, the present one included."""
    deck, players, refill = table
    state = a_position(table, seed, turns)
    seen = 108 - state.pile
    cards = deck.replace("!", "")
    unseen = list(cards[seen:])
    rng.shuffle(unseen)
    cards = cards[:seen] + "".join(unseen)
    one = State.deal(deck, players, refill)
    other = State.deal(cards[:88] + "!" + cards[88:], players, refill)
    moves = random.Random(seed)
    history: list[Move] = []
    while True:
        assert View.of(one, tuple(history)) == View.of(other, tuple(history))
        if one.turn == state.turn:
            break
        history.append(moves.choice(one.legal_moves()))
        one.play(history[-1])
        other.play(history[-1])


@given(positions, st.integers(0, 2**32 - 1))
def test_a_sample_equals_the_view_in_all_that_is_visible_and_plays_to_the_end(state: State, seed: int) -> None:
    view = View.of(state)
    rng = random.Random(seed)
    sample = view.sample(rng)
    assert View.of(sample) == view
    assert sample.pile == view.pile
    while not sample.over:
        sample.play(rng.choice(sample.legal_moves()))
    assert sample.turn % sample.players == 0


@given(positions)
def test_the_unseen_counts_are_what_remains_of_18_a_guild(state: State) -> None:
    view = View.of(state)
    for index, guild in enumerate(GUILDS):
        shown = view.market[index] + sum(
            tall[row.index(guild)] for row, tall in zip(view.rows, view.heights, strict=True) if guild in row
        )
        assert view.unseen[index] == CARDS_PER_GUILD - shown


@given(st.binary(min_size=32, max_size=32), st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_every_derived_deck_can_be_dealt(secret: bytes, deal_id: str) -> None:
    for players in range(2, 6):
        assert State.deal(derive_deck(secret, deal_id), players).pile == 103 - 3 * players


@given(secret=st.binary(min_size=32, max_size=32), players=st.integers(2, 5), refill=st.sampled_from(REFILLS))
def test_a_seat_scores_the_heights_of_its_scoring_columns(secret: bytes, players: int, refill: Refill) -> None:
    state = State.deal(derive_deck(secret, "scoring"), players, refill)
    rng = random.Random(secret)
    while not state.over:
        expected = tuple(
            sum(height for height, scores in zip(state.heights(seat), row, strict=True) if scores)
            for seat, row in enumerate(state.scoring())
        )
        assert state.scores() == expected
        state.play(rng.choice(state.legal_moves()))
