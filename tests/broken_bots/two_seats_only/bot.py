import treelings


class MyBot(treelings.Bot):
    def choose(self, view):
        mine, theirs = view.rows
        return max(view.legal_moves, key=lambda move: len(set(mine) - set(theirs)))


if __name__ == "__main__":
    treelings.serve(MyBot)
