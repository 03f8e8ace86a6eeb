import ctypes

import treelings


class Hostile(treelings.Bot):
    def start(self, game: treelings.GameStart) -> None:
        libc = ctypes.CDLL(None)
        taken = [libc.inotify_init() for _ in range(200)]
        print(f"took {sum(each >= 0 for each in taken)} instances", flush=True)

    def choose(self, view: treelings.View) -> treelings.Move:
        return view.legal_moves[0]


treelings.serve(Hostile)
