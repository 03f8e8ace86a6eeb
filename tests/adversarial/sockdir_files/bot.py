import itertools
import os
from pathlib import Path

import treelings


class Hostile(treelings.Bot):
    def choose(self, view: treelings.View) -> treelings.Move:
        folder = Path(os.environ["TREELINGS_SOCKET"]).parent
        for number in itertools.count():
            (folder / f"{number:0200}").touch()
        return view.legal_moves[0]


treelings.serve(Hostile)
