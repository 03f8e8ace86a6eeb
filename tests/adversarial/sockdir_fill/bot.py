import os
from pathlib import Path

import treelings


class Hostile(treelings.Bot):
    def choose(self, view: treelings.View) -> treelings.Move:
        with (Path(os.environ["TREELINGS_SOCKET"]).parent / "filler").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 20))


treelings.serve(Hostile)
