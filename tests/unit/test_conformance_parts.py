"""What the conformance run stands on: decks that lead where they are meant to, and frames that are counted."""

import struct
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from referee.conformance.decks import MOST_MOVES, TO_A_PASS
from referee.conformance.table import fewest_cards, most_cards
from referee.conformance.tap import ACK, DATA, PING, SETTINGS, Frames
from treelings import State
from treelings.cards import check_deck

SEAT = 4


def ways(state: State) -> Iterator[State]:
    """Every position in which seat 4 may find itself in its last turn, whatever it chose before."""
    while state.seat != SEAT:
        state.play(most_cards(state))
    if state.turn == 19:
        yield state
        return
    for move in state.legal_moves():
        after = state.copy()
        after.play(move)
        yield from ways(after)


def test_whatever_the_bot_chooses_it_has_to_pass_in_its_last_turn() -> None:
    check_deck(TO_A_PASS)
    last = list(ways(State.deal(TO_A_PASS, 5)))
    assert len(last) > 1
    assert {tuple(move.notation for move in state.legal_moves()) for state in last} == {("-",)}


def test_the_deck_of_most_moves_offers_five_new_guilds_at_once() -> None:
    check_deck(MOST_MOVES)
    legal = State.deal(MOST_MOVES, 2).legal_moves()
    assert len(legal) == 5 * 2 + 6 * 120


def test_the_others_take_as_much_or_as_little_as_they_can() -> None:
    state = State.deal(TO_A_PASS, 5)  # whose market is PPPRR
    assert (most_cards(state).take, fewest_cards(state).take) == ("P", "R")


frames = st.lists(st.tuples(st.sampled_from([DATA, SETTINGS, PING, 3, 200]), st.integers(0, 1), st.binary(max_size=40)))


@given(frames, st.lists(st.integers(1, 30)))
def test_frames_are_counted_alike_however_their_bytes_come_in(
    sent: list[tuple[int, int, bytes]], cuts: list[int]
) -> None:
    data = b"".join(
        struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + bytes(4) + payload for kind, flags, payload in sent
    )
    seen = Frames()
    for cut in cuts:
        seen.feed(data[:cut])
        data = data[cut:]
    seen.feed(data)
    assert seen.kinds == [(kind, flags) for kind, flags, _ in sent]
    assert seen.pings == sum(kind == PING and not flags & ACK for kind, flags, _ in sent)
    assert seen.ping_answers == sum(kind == PING and flags & ACK for kind, flags, _ in sent)
    assert seen.first_data == next((len(payload) for kind, _, payload in sent if kind == DATA and payload), 0)
