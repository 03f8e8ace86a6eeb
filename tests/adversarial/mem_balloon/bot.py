import treelings


class Hostile(treelings.Bot):
    def choose(self, view: treelings.View) -> treelings.Move:
        hoard = []
        while True:
            hoard.append(b"x" * (1 << 20))


treelings.serve(Hostile)
