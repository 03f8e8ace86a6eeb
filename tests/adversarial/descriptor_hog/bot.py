import os
from contextlib import suppress

import treelings

HELD: list[int] = []


class Hostile(treelings.Bot):
    def choose(self, view: treelings.View) -> treelings.Move:
        with suppress(OSError):
            while True:
                HELD.append(os.open("/dev/null", os.O_RDONLY))
        print(f"opened {HELD[-1]}", flush=True)
        return view.legal_moves[0]


treelings.serve(Hostile)
