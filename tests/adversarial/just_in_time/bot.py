import time

import treelings


class Hostile(treelings.Bot):
    def choose(self, view: treelings.View) -> treelings.Move:
        if view.turn < 6:
            time.sleep((view.limit_ms - 150) / 1000)
        return view.legal_moves[0]


treelings.serve(Hostile)
