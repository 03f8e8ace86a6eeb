import treelings


class MyBot(treelings.Bot):
    def choose(self, view):
        return treelings.Move.parse("-")


if __name__ == "__main__":
    treelings.serve(MyBot)
