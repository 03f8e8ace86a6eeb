"""Monte Carlo: deal the unseen cards at random, try each move, play on at random to the end, and again.

Chance blurs what a move is worth, so all moves are tried with the same luck, and one that lags by more than luck
explains is tried no longer. However slow the machine, the bot stops well before its clock does.
"""

import random
import time
from collections.abc import Sequence
from math import sqrt

import treelings

CARDS_A_TURN = 1.8
"""How many cards a turn takes from the market, roughly."""
HUNCH = 10
"""Random games that the margin right after a move counts for: a steady first guess while the games are few."""
LUCK = 25.0
"""By how many points luck may part two moves in one game; over n games together, sqrt(n) times as many."""
LONGEST_GAME = 108
"""Turns: each takes a card at least."""


class RolloutBot(treelings.Bot):
    """Plays random games until it has seen enough, or until its share of the time is up."""

    most_games = 800
    """Random games for one move: about 30 ms where nothing else runs; more make the bot little stronger."""
    now = staticmethod(time.monotonic)

    def start(self, game: treelings.GameStart) -> None:
        # Seeded with the game's name, the bot plays the same game again unless it runs out of time.
        self._rng = random.Random(f"{game.game}/{game.seat}")
        self._increment_ms = game.clock.increment_ms

    def choose(self, view: treelings.View) -> treelings.Move:
        stop = self.now() + self.budget_ms(view) / 1000
        moves = view.legal_moves
        best = moves[0]
        totals = dict.fromkeys(moves, 0.0)
        games = tries = 0
        while len(moves) > 1 and games < self.most_games:
            deal = view.sample(self._rng)
            luck = [self._rng.random() for _ in range(LONGEST_GAME)]
            for move in moves:
                if self.now() >= stop:
                    return best
                state = deal.copy()
                state.play(move)
                if tries == 0:
                    totals[move] = HUNCH * state.margin(view.seat)
                state.playout(Replay(luck))
                totals[move] += state.margin(view.seat)
            games += len(moves)
            tries += 1
            best = max(moves, key=totals.__getitem__)
            lag = LUCK * sqrt(HUNCH + tries)
            moves = tuple(move for move in moves if totals[move] > totals[best] - lag)
        return best

    def budget_ms(self, view: treelings.View) -> float:
        """A fair share of the bank for each turn to come, and never more than half of this move's limit."""
        turns = 2 + view.above_firefly / CARDS_A_TURN / view.players
        share = view.bank_ms / turns + self._increment_ms / 2
        return min(view.limit_ms / 2, share)


class Replay:
    """Gives the same random numbers again to each playout."""

    def __init__(self, numbers: Sequence[float]) -> None:
        self.random = iter(numbers).__next__


if __name__ == "__main__":
    treelings.serve(RolloutBot)
