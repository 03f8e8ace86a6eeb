import ctypes

import treelings


class Hostile(treelings.Bot):
    def choose(self, view: treelings.View) -> treelings.Move:
        ctypes.string_at(0)
        return view.legal_moves[0]


treelings.serve(Hostile)
