"""The bot behind lines of JSON on its standard input and output: python -m bench.peers.lines_bot."""

import json
import sys

from bench.peers.talk import Games


def main() -> None:
    """Answer each line with a move until there are no more."""
    games = Games()
    for line in sys.stdin:
        sys.stdout.write(json.dumps({"move": games.move(json.loads(line))}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
