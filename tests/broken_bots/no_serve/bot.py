import treelings


class MyBot(treelings.Bot):
    def choose(self, view):
        return view.legal_moves[0]
