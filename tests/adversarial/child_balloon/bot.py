import os

import treelings


class Hostile(treelings.Bot):
    def choose(self, view: treelings.View) -> treelings.Move:
        child = os.fork()
        hoard = []
        while child == 0:
            hoard.append(b"x" * (1 << 20))
        os.waitpid(child, 0)
        os._exit(3)


treelings.serve(Hostile)
