import treelings


class MyBot(treelings.Bot):
    def choose(self, view):
        max(view.legal_moves, key=lambda move: len(move.left))


if __name__ == "__main__":
    treelings.serve(MyBot)
