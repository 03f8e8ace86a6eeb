import time

import treelings


class MyBot(treelings.Bot):
    def choose(self, view):
        time.sleep(30)
        return view.legal_moves[0]


if __name__ == "__main__":
    treelings.serve(MyBot)
