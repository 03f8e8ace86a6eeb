import hashlib
import threading
import time

import treelings


def burn() -> None:
    while True:
        hashlib.pbkdf2_hmac("sha256", b"", b"", 100_000)  # lets other threads run meanwhile


class Hostile(treelings.Bot):
    def choose(self, view: treelings.View) -> treelings.Move:
        for _ in range(50):
            threading.Thread(target=burn, daemon=True).start()
        time.sleep(600)
        return view.legal_moves[0]


treelings.serve(Hostile)
