"""A position from its parts: every position of a game is taken, and what no game comes to is refused in words."""

import random
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treelings import DeckError, State, derive_deck
from treelings.cards import GUILDS
from treelings.offers import ONE, pack, pack_row
from treelings.rules import Refill


@dataclass(frozen=True)
class Parts:
    """A position as `State.resume` is told of it; `pile` holds numbers of guilds, from the bottom up."""

    rows: tuple[str, ...]
    heights: tuple[tuple[int, ...], ...]
    market: tuple[int, ...]
    pile: tuple[int, ...]
    turn: int
    refill: Refill

    @classmethod
    def of(cls, state: State, deck: str) -> "Parts":
        cards = [GUILDS.index(card) for card in reversed(deck.replace("!", ""))]
        heights = tuple(state.heights(seat) for seat in range(state.players))
        return cls(
            tuple(state.rows), heights, state.market, tuple(cards[: state.pile]), state.turn, state.refill
        )  # fmt: skip

    def resume(self) -> State:
        heights = [pack_row(row, tall) for row, tall in zip(self.rows, self.heights, strict=True)]
        pile = [ONE[guild] for guild in self.pile]
        return State.resume(list(self.rows), heights, pack(self.market), pile, self.turn, self.refill)


def games() -> st.SearchStrategy[tuple[State, Parts]]:
    """Positions after some turns of random games, the last one included."""

    def played(seed: int, players: int, refill: Refill, turns: int) -> tuple[State, Parts]:
        deck = derive_deck(seed.to_bytes(32, "big"), "deal")
        state = State.deal(deck, players, refill)
        rng = random.Random(seed)
        while not state.over and state.turn < turns:
            state.play(rng.choice(state.legal_moves()))
        return state, Parts.of(state, deck)

    refills: st.SearchStrategy[Refill] = st.sampled_from(("start", "end"))
    return st.builds(played, st.integers(0, 2**64), st.integers(2, 5), refills, st.integers(0, 70))


@given(games())
def test_every_position_of_a_game_resumes(game: tuple[State, Parts]) -> None:
    state, parts = game
    again = parts.resume()
    for name in ("players", "refill", "turn", "seat", "rows", "market", "pile", "over", "firefly_out", "above_firefly"):
        assert getattr(again, name) == getattr(state, name), name
    assert again.legal_moves() == state.legal_moves()
    assert (again.scores(), again.unseen()) == (state.scores(), state.unseen())
    again.playout(random.Random(1))
    state.playout(random.Random(1))
    assert again.scores() == state.scores()


def test_every_position_of_some_whole_games_resumes() -> None:
    for seed in range(40):
        deck = derive_deck(seed.to_bytes(32, "big"), "deal")
        state = State.deal(deck, 2 + seed % 4, ("start", "end")[seed // 4 % 2])
        rng = random.Random(seed)
        while not state.over:
            assert not Parts.of(state, deck).resume().over
            state.play(rng.choice(state.legal_moves()))
        assert Parts.of(state, deck).resume().over


@given(games(), st.data())
def test_one_card_too_many_too_few_or_of_another_guild_is_refused(
    game: tuple[State, Parts], data: st.DataObject
) -> None:
    _, parts = game
    guild, other = data.draw(st.permutations(range(6)))[:2]
    seat = data.draw(st.integers(0, len(parts.rows) - 1))
    column = data.draw(st.integers(0, len(parts.rows[seat]) - 1))

    def grown(by: int) -> Parts:
        tall = list(map(list, parts.heights))
        tall[seat][column] += by
        return replace(parts, heights=tuple(map(tuple, tall)))

    def dealt(by: dict[int, int]) -> Parts:
        return replace(parts, market=tuple(max(0, count + by.get(at, 0)) for at, count in enumerate(parts.market)))

    wrong = [
        grown(1), grown(-1), dealt({guild: 1}), dealt({guild: 1, other: -1}),
        replace(parts, pile=(*parts.pile, guild)), replace(parts, pile=parts.pile[1:]),
        replace(parts, pile=((parts.pile[0] + 1) % 6 if parts.pile else guild, *parts.pile[1:])),
    ]  # fmt: skip
    for each in wrong:
        if multiset(each) != multiset(parts):
            with pytest.raises(DeckError, match="expected"):
                each.resume()


def multiset(parts: Parts) -> list[int]:
    counts = list(parts.market)
    for guild in parts.pile:
        counts[guild] += 1
    for row, tall in zip(parts.rows, parts.heights, strict=True):
        for letter, height in zip(row, tall, strict=True):
            counts[GUILDS.index(letter)] += height
    return counts


@given(games(), st.integers(1, 60))
def test_a_turn_that_the_cards_cannot_have_come_from_is_refused(game: tuple[State, Parts], more: int) -> None:
    state, parts = game
    taken = 108 - 3 * state.players - state.pile - sum(state.market)
    for turn in (-more, taken + state.players + more):
        with pytest.raises(DeckError, match="expected"):
            replace(parts, turn=turn).resume()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rows": ("R",) * 6, "heights": ((3,),) * 6}, "players: expected 2 to 5 rows and as many heights, got 6"),
        ({"rows": ("RR", "O"), "heights": ((1, 2), (3,))}, "row 'RR': expected different ones of ROYGBP, got 'R'"),
        ({"rows": ("RO", "O"), "heights": ((3, 0), (3,))}, "row 'RO': expected 1 to 18 cards in column O, got 0"),
        ({"rows": ("R", "O"), "heights": ((4,), (3,))}, "seat 0: expected 3 to 3 cards after 0 turns of its own"),
        ({"turn": -1}, "turn: expected 0 or more, got -1"),
        ({"refill": "never"}, "refill: expected 'start' or 'end', got 'never'"),
        ({"market": (6, 0, 0, 0, 0, 0)}, "market: expected at most 5 cards in all"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(change: dict[str, Any], words: str) -> None:
    deck = derive_deck(bytes(32), "deal")
    with pytest.raises(DeckError, match=words):
        replace(Parts.of(State.deal(deck, 2), deck), **change).resume()


@pytest.mark.parametrize(
    ("rows", "heights", "pile", "words"),
    [
        (["RX", "O"], [3, 3 << 5], [], "row 'RX': expected different ones of ROYGBP, got 'X'"),
        (["R", "O"], [3 + (1 << 5), 3 << 5], [], "row 'R': expected cards of these guilds alone, got 0x23"),
        (["R", "O"], [-1, 3 << 5], [], "row 'R': expected 1 to 18 cards in column R, got 31"),
        (["R", "O"], [3, 3 << 5], [2], "pile: expected each card as one of treelings.offers.ONE"),
        (["R", "O"], [3], [], "got 2 and 1"),
    ],
)
def test_numbers_that_are_no_cards_are_refused(
    rows: list[str], heights: list[int], pile: list[int], words: str
) -> None:
    with pytest.raises(DeckError, match=words):
        State.resume(rows, heights, 0, pile, 0, "start")
