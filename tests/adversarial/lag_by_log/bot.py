import os
import time

import treelings

LINES = b"busy, busy, busy\n" * 4_000


class Hostile(treelings.Bot):
    def choose(self, view: treelings.View) -> treelings.Move:
        late = time.monotonic() + view.limit_ms * 1.05 / 1000
        while time.monotonic() < late:
            os.write(1, LINES)
        return view.legal_moves[0]


treelings.serve(Hostile)
