import sys

import treelings


class Hostile(treelings.Bot):
    def choose(self, view: treelings.View) -> treelings.Move:
        sys.stdout.write("A line of no interest to anybody, again and again.\n" * 20_000)
        return view.legal_moves[0]


treelings.serve(Hostile)
