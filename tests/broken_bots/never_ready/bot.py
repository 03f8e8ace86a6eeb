import time

import treelings


class MyBot(treelings.Bot):
    def start(self, game):
        while True:
            time.sleep(1)

    def choose(self, view):
        return view.legal_moves[0]


if __name__ == "__main__":
    treelings.serve(MyBot)
