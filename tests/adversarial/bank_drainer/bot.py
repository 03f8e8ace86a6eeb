import time

import treelings


class Hostile(treelings.Bot):
    def choose(self, view: treelings.View) -> treelings.Move:
        time.sleep(0.25 if view.limit_ms > 250 else 600)
        return view.legal_moves[0]


treelings.serve(Hostile)
