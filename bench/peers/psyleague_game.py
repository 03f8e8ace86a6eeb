"""The game script of psyleague: python -m bench.peers.psyleague_game GAMES BOT.py BOT.py.

Starts the bots as bare processes, plays so many games between them with seats in turn, and writes what psyleague reads:
one game, or a list of them. When each began and ended is told in its "test_data", as text, which alone keeps fractions.
"""

import json
import secrets
import subprocess
import sys
import time
from contextlib import ExitStack
from typing import Any

from bench.peers.processes import ask_for_move
from bench.peers.talk import query
from treelings import Move, State, derive_deck


def main() -> None:
    """Play and tell."""
    began = time.time()
    games = int(sys.argv[1])
    with ExitStack() as stack:
        bots = [
            stack.enter_context(
                subprocess.Popen([sys.executable, bot], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            for bot in sys.argv[2:]
        ]
        told = []
        for number in range(games):
            scores = _play(bots, number % len(bots))
            told.append(_result(scores, began, time.time()))
    print(json.dumps(told[0] if games == 1 else told))


def _play(bots: list["subprocess.Popen[str]"], rotation: int) -> list[int]:
    """Play a game in which bot 0 has seat `rotation`; the bots' scores."""
    game = secrets.token_hex(8)
    state = State.deal(derive_deck(secrets.token_bytes(32), game), len(bots))
    history: list[Move] = []
    while not state.over:
        bot = bots[(state.seat - rotation) % len(bots)]
        move = state.parse(ask_for_move(bot, query(game, state, history)))
        state.play(move)
        history.append(move)
    scores = state.scores()
    return [scores[(bot + rotation) % len(bots)] for bot in range(len(bots))]


def _result(scores: list[int], began: float, ended: float) -> dict[str, Any]:
    return {
        "ranks": [sum(other > score for other in scores) for score in scores],
        "errors": [0] * len(scores),
        "test_data": {"began": str(began), "ended": str(ended)},
        "player_data": [{"points": score} for score in scores],
    }


if __name__ == "__main__":
    main()
