import treelings


class MyBot(treelings.Bot):
    def choose(self, view):
        self.tree = [bytearray(1_000_000) for _ in range(1_000)]
        return view.legal_moves[0]


if __name__ == "__main__":
    treelings.serve(MyBot)
