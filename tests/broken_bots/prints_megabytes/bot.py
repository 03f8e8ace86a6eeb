import treelings


class MyBot(treelings.Bot):
    def choose(self, view):
        print(str(view) * 20)
        return view.legal_moves[0]


if __name__ == "__main__":
    treelings.serve(MyBot)
