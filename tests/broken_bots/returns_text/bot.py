import treelings


class MyBot(treelings.Bot):
    def choose(self, view):
        return str(view.legal_moves[0])


if __name__ == "__main__":
    treelings.serve(MyBot)
