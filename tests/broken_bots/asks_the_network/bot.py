import urllib.request

import treelings


class MyBot(treelings.Bot):
    def choose(self, view):
        with urllib.request.urlopen("http://example.org/best-move") as answer:
            return treelings.Move.parse(answer.read().decode())


if __name__ == "__main__":
    treelings.serve(MyBot)
