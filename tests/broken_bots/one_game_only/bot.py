import treelings

OPENINGS = ["left"]


class MyBot(treelings.Bot):
    def choose(self, view):
        if not view.history[1:]:
            OPENINGS.pop()
        return view.legal_moves[0]


if __name__ == "__main__":
    treelings.serve(MyBot)
