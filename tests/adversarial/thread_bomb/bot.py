import threading
import time
from contextlib import suppress

import treelings


class Hostile(treelings.Bot):
    def start(self, game: treelings.GameStart) -> None:
        with suppress(RuntimeError):
            while True:
                threading.Thread(target=time.sleep, args=(600,), daemon=True).start()

    def choose(self, view: treelings.View) -> treelings.Move:
        return view.legal_moves[0]


treelings.serve(Hostile)
