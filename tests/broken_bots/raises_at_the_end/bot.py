import treelings


class MyBot(treelings.Bot):
    def choose(self, view):
        return view.legal_moves[0]

    def end(self, result):
        print("won" if result.ranks[self.seat] == 1 else "lost")


if __name__ == "__main__":
    treelings.serve(MyBot)
