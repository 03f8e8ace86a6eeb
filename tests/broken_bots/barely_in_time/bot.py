import time

import treelings


class MyBot(treelings.Bot):
    def choose(self, view):
        if view.turn < view.players:
            time.sleep(0.6 * view.limit_ms / 1000)
        return view.legal_moves[0]


if __name__ == "__main__":
    treelings.serve(MyBot)
