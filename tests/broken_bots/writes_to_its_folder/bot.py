import treelings


class MyBot(treelings.Bot):
    def start(self, game):
        self.notes = open("notes.txt", "a")

    def choose(self, view):
        self.notes.write(f"{view}\n")
        return view.legal_moves[0]


if __name__ == "__main__":
    treelings.serve(MyBot)
