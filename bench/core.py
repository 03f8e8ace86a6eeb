"""How fast the core plays, against python-chess playing random games: python -m bench.core.

Rounds alternate between all contestants in one run, so what else the machine does meets them alike; figures
are medians over the rounds. Two seats, games from the deal to the end, both games' set-up included.
"""

import random
import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter

import chess

from treelings import State, View, derive_deck

ROUNDS = 9
DECKS = tuple(derive_deck(bytes(32), f"bench/{n}") for n in range(200))
CHESS_GAMES = 3


def measure() -> dict[str, float]:
    """Moves a second of each contestant and ratios to python-chess; microseconds of single calls.

    The first round also fills the tables of moves (see rules.py), so one more is played and not counted.
    """
    contestants: dict[str, Callable[[random.Random], float]] = {
        "chess_moves_per_s": _chess,
        "public_moves_per_s": _public,
        "playout_moves_per_s": _playouts,
        "sample_us": _calls(lambda view, rng: view.sample(rng)),
        "sample_and_playout_us": _calls(lambda view, rng: view.sample(rng).playout(rng)),
    }
    rng = random.Random(2026)
    rounds = [{name: run(rng) for name, run in contestants.items()} for _ in range(ROUNDS + 1)][1:]
    figures = {name: median(one[name] for one in rounds) for name in contestants}
    for name in ("public", "playout"):
        ratio = median(one[f"{name}_moves_per_s"] / one["chess_moves_per_s"] for one in rounds)
        figures[f"{name}_vs_chess"] = ratio
    return figures


def _chess(rng: random.Random) -> float:
    moves = 0
    began = perf_counter()
    for _ in range(CHESS_GAMES):
        board = chess.Board()
        while not board.is_game_over():
            board.push(rng.choice(list(board.legal_moves)))
            moves += 1
    return moves / (perf_counter() - began)


def _public(rng: random.Random) -> float:
    moves = 0
    began = perf_counter()
    for deck in DECKS:
        state = State.deal(deck, 2)
        while not state.over:
            state.play(rng.choice(state.legal_moves()))
            moves += 1
    return moves / (perf_counter() - began)


def _playouts(rng: random.Random) -> float:
    moves = 0
    began = perf_counter()
    for deck in DECKS:
        state = State.deal(deck, 2)
        state.playout(rng)
        moves += state.turn
    return moves / (perf_counter() - began)


def _calls(call: Callable[[View, random.Random], object], times: int = 500) -> Callable[[random.Random], float]:
    """Microseconds of one call on a view after ten turns, as a Monte Carlo bot makes it."""
    state = State.deal(DECKS[0], 2)
    for _ in range(10):
        state.play(state.legal_moves()[0])
    view = View.of(state)

    def run(rng: random.Random) -> float:
        began = perf_counter()
        for _ in range(times):
            call(view, rng)
        return (perf_counter() - began) / times * 1e6

    return run


def main() -> None:
    """Print the figures."""
    figures = measure()
    sys.stdout.write(
        f"""\
python-chess, random games     {figures["chess_moves_per_s"]:10,.0f} moves a second
legal_moves, rng.choice, play  {figures["public_moves_per_s"]:10,.0f} moves a second, \
{figures["public_vs_chess"]:.1f} times python-chess (goal 8)
State.playout                  {figures["playout_moves_per_s"]:10,.0f} moves a second, \
{figures["playout_vs_chess"]:.1f} times python-chess (goal 25)
View.sample                    {figures["sample_us"]:10.1f} us
View.sample and playout        {figures["sample_and_playout_us"]:10.1f} us
"""
    )


if __name__ == "__main__":
    main()
