"""A column is worth its height times the chance that it will stand as high as both columns beside it.

Columns never move, and the columns at both ends of a row stand beside a neighbour's. So the bot places a new
guild beside a column that it can outgrow, and grows where it overtops a column of the seats next to it.
"""

import random

import treelings

CONTESTED = 4.0
"""Cards by which a column may lead or lag and still be contested while 100 cards lie in the pile ..."""
CONTESTED_LAST = 0.5
"""... and while none do."""


class NeighbourBot(treelings.Bot):
    """Tries every legal move once and keeps the one with the best outlook; equals are drawn by lot."""

    def start(self, game: treelings.GameStart) -> None:
        # Seeded with the game's name, the bot plays the same game again when the game is played again.
        self._rng = random.Random(f"{game.game}/{game.seat}")

    def choose(self, view: treelings.View) -> treelings.Move:
        state = view.sample(self._rng)

        def outlook_after(move: treelings.Move) -> tuple[float, float]:
            after = state.copy()
            after.play(move)
            return outlook(after, view.seat), self._rng.random()

        return max(view.legal_moves, key=outlook_after)


def outlook(state: treelings.State, seat: int) -> float:
    """By how much the seat may hope to beat the mean of the others in the end."""
    # The next seat sits on the left, so a walk round the table meets each row from right to left.
    ring = [(height, owner) for owner in range(state.players) for height in reversed(state.heights(owner))]
    contested = CONTESTED_LAST + CONTESTED * state.pile / 100
    hopes = [0.0] * state.players
    for place, (height, owner) in enumerate(ring):
        lead = height - max(ring[place - 1][0], ring[(place + 1) % len(ring)][0])
        chance = 0.5 + (lead + 0.5) / (2 * contested)
        hopes[owner] += height * min(1.0, max(0.0, chance))
    others = sum(hopes) - hopes[seat]
    return hopes[seat] - others / (state.players - 1)


if __name__ == "__main__":
    treelings.serve(NeighbourBot)
