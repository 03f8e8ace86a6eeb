"""Any legal move, each as likely as the others: the least that a bot can do."""

import random

import treelings


class RandomBot(treelings.Bot):
    """Plays without looking at the table."""

    def start(self, game: treelings.GameStart) -> None:
        # Seeded with the game's name, the bot plays the same game again when the game is played again.
        self._rng = random.Random(f"{game.game}/{game.seat}")

    def choose(self, view: treelings.View) -> treelings.Move:
        return self._rng.choice(view.legal_moves)


if __name__ == "__main__":
    treelings.serve(RandomBot)
