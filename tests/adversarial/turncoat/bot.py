import os
import sys

import treelings


class Hostile(treelings.Bot):
    def start(self, game: treelings.GameStart) -> None:
        self._turns = game.game.startswith("d5/")

    def choose(self, view: treelings.View) -> treelings.Move:
        if self._turns and view.turn >= 6:
            print("meant to all along", file=sys.stderr, flush=True)
            os._exit(7)
        return view.legal_moves[0]


treelings.serve(Hostile)
