import pandas
import treelings


class MyBot(treelings.Bot):
    def choose(self, view):
        return view.legal_moves[pandas.argmax([len(move.left) for move in view.legal_moves])]


if __name__ == "__main__":
    treelings.serve(MyBot)
