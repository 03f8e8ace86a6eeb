"""The move that leaves the most points right away: no thought for the turns to come, nor for the others' plans."""

import random

import treelings


class GreedyBot(treelings.Bot):
    """Tries every legal move once and keeps the one with the best margin; equals are drawn by lot."""

    def start(self, game: treelings.GameStart) -> None:
        # Seeded with the game's name, the bot plays the same game again when the game is played again.
        self._rng = random.Random(f"{game.game}/{game.seat}")

    def choose(self, view: treelings.View) -> treelings.Move:
        state = view.sample(self._rng)

        def margin_after(move: treelings.Move) -> tuple[float, float]:
            after = state.copy()
            after.play(move)
            return after.margin(view.seat), self._rng.random()

        return max(view.legal_moves, key=margin_after)


if __name__ == "__main__":
    treelings.serve(GreedyBot)
