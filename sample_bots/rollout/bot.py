"""Monte Carlo: deal the unseen cards at random, try each move, play on at random to the end, and again.

The move whose games ended best on average is played. All moves are tried on the same deals, so that luck in the
deal helps none of them, and the bot stops well before its clock does.
"""

import random
import time
from itertools import cycle, islice
from math import inf
from statistics import fmean

import treelings

CARDS_PER_TURN = 1.8
"""How many cards a turn takes from the market, roughly."""


class RolloutBot(treelings.Bot):
    """Plays as many random games as its time allows."""

    most_ms = 50.0
    """Time for one move, however much the clock holds: ten times as much makes it little stronger."""
    most_games = 1_000_000
    """Random games for one move."""
    now = staticmethod(time.monotonic)

    def start(self, game: treelings.GameStart) -> None:
        # Seeded with the game's name: what is left to chance is how many games there is time for.
        self._rng = random.Random(f"{game.game}/{game.seat}")
        self._increment_ms = game.clock.increment_ms

    def choose(self, view: treelings.View) -> treelings.Move:
        stop = self.now() + self.budget_ms(view) / 1000
        moves = view.legal_moves
        if len(moves) == 1:
            return moves[0]
        margins: dict[treelings.Move, list[float]] = {move: [] for move in moves}
        for move in islice(cycle(moves), self.most_games):
            if move is moves[0]:
                deal = view.sample(self._rng)
            state = deal.copy()
            state.play(move)
            state.playout(self._rng)
            margins[move].append(state.margin(view.seat))
            if self.now() >= stop:
                break
        return max(moves, key=lambda move: fmean(margins[move] or [-inf]))

    def budget_ms(self, view: treelings.View) -> float:
        """A fair share of the bank for each turn to come, and never more than half of this move's limit."""
        turns = 1 + view.above_firefly / CARDS_PER_TURN / view.players
        share = view.bank_ms / (turns + 1) + self._increment_ms / 2
        return min(self.most_ms, view.limit_ms / 2, share)


if __name__ == "__main__":
    treelings.serve(RolloutBot)
