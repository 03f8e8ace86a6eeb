"""The fast core and a plain engine, which was written from rules.md alone, play the same game."""

import random

import pytest

from bench.plain import PlainState
from treelings import GUILDS, IllegalMove, Move, Refill, State
from treelings.cards import CARDS_PER_GUILD
from treelings.moves import moves_for_take
from treelings.rules import REFILLS

GAMES = 250  # for each table size and refill: 2000 in all


def shuffled(rng: random.Random) -> str:
    cards = list(GUILDS * CARDS_PER_GUILD)
    rng.shuffle(cards)
    return "".join(cards[:88]) + "!" + "".join(cards[88:])


@pytest.mark.parametrize("refill", REFILLS)
@pytest.mark.parametrize("players", range(2, 6))
def test_the_core_equals_the_plain_engine_on_random_games(players: int, refill: Refill) -> None:
    rng = random.Random(f"{players} {refill}")
    for _ in range(GAMES):
        deck = shuffled(rng)
        state = State.deal(deck, players, refill)
        plain = PlainState.deal(deck, players, refill)
        while not plain.over:
            assert_same(state, plain)
            move = rng.choice(plain.legal_moves())
            state.play(state.parse(move))
            plain.play(move)
        assert_same(state, plain)


def assert_same(state: State, plain: PlainState) -> None:
    assert [move.notation for move in state.legal_moves()] == plain.legal_moves()
    assert state.over == plain.over
    assert (state.turn, state.seat) == (plain.turn, plain.seat)
    assert state.festival_turn == (-1 if plain.firefly_turn is None else plain.firefly_turn)
    assert list(state.market) == [plain.market.count(guild) for guild in GUILDS]
    assert list(state.unseen()) == [plain.pile.count(guild) for guild in GUILDS]
    assert state.above_firefly == (len(plain.pile) - 1 - plain.pile.index("!") if "!" in plain.pile else 0)
    for seat, player in enumerate(plain.players):
        assert state.rows[seat] == "".join(player.row)
        assert list(state.heights(seat)) == player.heights()
    assert list(state.scores()) == plain.scores()


@pytest.mark.parametrize("players", range(2, 6))
def test_both_refuse_the_same_moves(players: int) -> None:
    rng = random.Random(players)
    every = [Move.parse("-"), Move.parse("*"), *moves_for_take("*", "OB"), *moves_for_take("*", "RYP")]
    every += [move for guild in GUILDS for new in ("", guild) for move in moves_for_take(guild, new)]
    deck = shuffled(rng)
    state = State.deal(deck, players)
    plain = PlainState.deal(deck, players)
    while not plain.over:
        for move in set(every) - set(state.legal_moves()):
            with pytest.raises(IllegalMove):
                state.play(move)
            with pytest.raises(ValueError, match="illegal move"):
                plain.play(move.notation)
        chosen = rng.choice(plain.legal_moves())
        state.play(state.parse(chosen))
        plain.play(chosen)
