"""Moves and views as numbers: which action stands for which move never changes, and a view can be read back."""

import hashlib
import random
from itertools import permutations

import pytest

from tests.support.positions import position
from treelings import GUILDS, IllegalMove, Move, Refill, State, View, derive_deck
from treelings.encoding import ACTIONS, ROW, action_of, encode, layout, move_of
from treelings.moves import SINGLES_TAKE

EVERY_MOVE = [
    Move.parse(take + (f"<{left}" if left else "") + (f">{right}" if right else ""))
    for take in GUILDS + SINGLES_TAKE
    for new in range(6 if take == SINGLES_TAKE else 2)
    for order in permutations(GUILDS if take == SINGLES_TAKE else take, new)
    for cut in range(new + 1)
    for left, right in [("".join(order[:cut]), "".join(order[cut:]))]
] + [Move.parse("-")]
DIGEST = "a3e12c4af38e4cca5ad9cef57212743f6b140cbecb0902b56c13557c7f0b0039"
"""Of every move behind its action: a change here makes all that was ever learned worthless."""


def test_each_of_the_6722_moves_has_one_of_892_actions_and_always_the_same() -> None:
    lines = [f"{action_of(move)} {move}\n" for move in EVERY_MOVE]
    assert len(set(EVERY_MOVE)) == 6722
    assert {action_of(move) for move in EVERY_MOVE} == set(range(ACTIONS))
    assert hashlib.sha256("".join(sorted(lines)).encode()).hexdigest() == DIGEST


@pytest.mark.parametrize(
    ("move", "action"),
    [("R", 0), ("R>R", 1), ("R<R", 2), ("O", 3), ("P<P", 17), ("*", 18), ("*>G", 19), ("*<G", 20), ("*>RG", 21),
     ("*>GR", 22), ("*<R>G", 23), ("*<G>R", 24), ("*<RG", 25), ("*<GR", 26), ("*>ROY", 27),
     ("*<BGYOR", 890), ("-", 891)],
)  # fmt: skip
def test_actions_are_those_that_the_page_names(move: str, action: int) -> None:
    assert action_of(Move.parse(move)) == action


@pytest.mark.parametrize("players", [2, 5])
@pytest.mark.parametrize("refill", ["start", "end"])
def test_no_two_legal_moves_share_an_action_and_each_action_leads_back_to_its_move(
    players: int, refill: Refill
) -> None:
    rng = random.Random(f"{players} {refill}")
    for game in range(30):
        state = State.deal(derive_deck(bytes(32), f"encoding/{game}"), players, refill)
        while not state.over:
            legal = state.legal_moves()
            assert [move_of(action_of(move), legal) for move in legal] == list(legal)
            state.play(rng.choice(legal))


def test_an_action_that_is_not_legal_here_is_refused_with_those_that_are() -> None:
    state = position("R1", "O1", market="RRO")
    with pytest.raises(IllegalMove, match=r"illegal action 891: expected one of \[0, 4, 5\]"):
        move_of(891, state.legal_moves())


def test_an_observation_holds_each_seats_row_from_the_observing_seat_on_and_the_counts_behind_them() -> None:
    state = position("R1 O2", "Y3", "P4 B1 G9", market="ROOYB", turn=4, refill="end")
    seen = encode(View.of(state))
    parts = layout(3)
    assert {name: list(seen[part]) for name, part in parts.items() if name != "rows"} == {
        "market": [1, 2, 1, 0, 1, 0],
        "unseen": [10] * 6,
        "above_firefly": [40],
        "firefly_out": [0],
        "seat": [1],
        "turn": [4],
        "refill": [1],
    }
    cells = {(at // ROW, at % ROW // 6, GUILDS[at % 6]): value for at, value in enumerate(seen[parts["rows"]]) if value}
    assert cells == {
        (0, 0, "Y"): 3,  # its own row
        (1, 0, "P"): 4, (1, 1, "B"): 1, (1, 2, "G"): 9,  # the next seat's
        (2, 0, "R"): 1, (2, 1, "O"): 2,
    }  # fmt: skip
    assert len(seen) == parts["refill"].stop == 36 * 3 + 17
