"""The bot @NAME@: `choose` is the method to write, and it plays already."""

import random

import treelings


class MyBot(treelings.Bot):
    """Takes the move that leaves it furthest ahead, with no thought for the turns to come."""

    def choose(self, view: treelings.View) -> treelings.Move:
        """Return one of view.legal_moves, within view.limit_ms milliseconds."""
        state = view.sample(random.Random(view.turn))  # a whole game that agrees with all that this seat can see

        def worth(move: treelings.Move) -> float:
            after = state.copy()
            after.play(move)
            return after.margin(view.seat)  # its points less the mean of the others', if the game ended here

        return max(view.legal_moves, key=worth)


if __name__ == "__main__":
    treelings.serve(MyBot)
