import os
import signal

import treelings


class Hostile(treelings.Bot):
    def start(self, game: treelings.GameStart) -> None:
        self._burner = 0
        if game.game.startswith("d1"):
            self._burner = os.fork()
            while self._burner == 0:
                pass

    def choose(self, view: treelings.View) -> treelings.Move:
        return view.legal_moves[0]

    def end(self, result: treelings.GameEnd) -> None:
        if self._burner:
            os.kill(self._burner, signal.SIGKILL)
            os.waitpid(self._burner, 0)


treelings.serve(Hostile)
