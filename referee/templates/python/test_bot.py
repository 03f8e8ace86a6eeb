"""The bot plays whole games at every size of table: `python -m unittest` in this folder.

Every move is legal, and takes no more processor time than the clock gives it.
"""

import random
import time
import unittest

import treelings
from bot import MyBot

CLOCK = treelings.Clock()


class WholeGames(unittest.TestCase):
    """Games of the bot against seats that move at random, in this process: no referee, no sandbox."""

    def test_every_move_is_legal_and_in_time(self) -> None:
        for players in (2, 3, 4, 5):
            for seat in range(players):
                with self.subTest(players=players, seat=seat):
                    self.play(players, seat)

    def play(self, players: int, seat: int) -> None:
        """One game, with the bot on this seat."""
        name = f"test/{players}/{seat}"
        rng = random.Random(name)
        state = treelings.State.deal(treelings.derive_deck(bytes(32), name), players)
        history: tuple[treelings.Move, ...] = ()
        bot = MyBot()
        bot.start(treelings.GameStart(name, seat, players, state.refill, CLOCK))
        while not state.over:
            view = treelings.View.of(state, history, limit_ms=CLOCK.move_ms, bank_ms=CLOCK.bank_ms)
            if state.seat == seat:
                # Processor time of this process: on a busy machine real time passes without the bot's doing.
                # `treelings check` measures the real time, which counts in a league.
                began = time.process_time()
                move = bot.choose(view)
                ms = 1000 * (time.process_time() - began)
                self.assertIn(move, view.legal_moves)
                self.assertLess(ms, view.limit_ms)
            else:
                move = rng.choice(view.legal_moves)
            state.play(move)
            history = (*history, move)
        scores = state.scores()
        ranks = tuple(1 + sum(other > score for other in scores) for score in scores)
        bot.end(treelings.GameEnd("festival", ranks, scores))


if __name__ == "__main__":
    unittest.main()
