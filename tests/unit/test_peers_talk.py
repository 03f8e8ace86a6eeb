"""The bot that the bench puts behind the peers is told what ours is told, and plays the same game."""

import json

import pytest

from bench.peers.talk import CLOCK, Games, query, view_of
from sample_bots.random.bot import RandomBot
from treelings import GameStart, Move, State, View, derive_deck


@pytest.mark.parametrize("players", range(2, 6))
def test_the_bot_behind_json_plays_the_moves_of_the_bot_itself(players: int) -> None:
    state = State.deal(derive_deck(bytes(32), "talk"), players)
    behind = [Games() for _ in range(players)]
    bots = [RandomBot() for _ in range(players)]
    for seat, bot in enumerate(bots):
        bot.start(GameStart("talk", seat, players, "start", CLOCK))
    history: list[Move] = []
    while not state.over:
        view = View.of(state, tuple(history))
        told = json.loads(json.dumps(query("talk", state, history)))
        move = bots[state.seat].choose(view)
        assert behind[state.seat].move(told) == move.notation
        state.play(move)
        history.append(move)


def test_a_view_comes_through_json_whole() -> None:
    state = State.deal(derive_deck(bytes(32), "talk"), 3, "end")
    history: list[Move] = []
    while not state.over:
        view = View.of(state, tuple(history), limit_ms=CLOCK.move_ms, bank_ms=CLOCK.bank_ms)
        assert view_of(json.loads(json.dumps(query("talk", state, history))), tuple(history)) == view
        history.append(state.legal_moves()[-1])
        state.play(history[-1])
