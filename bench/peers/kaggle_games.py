"""Plays games in kaggle-environments, in a process of its own: python -m bench.peers.kaggle_games AGENT AGENT.

An AGENT is an address, or "function" for the bot as a function in this process. For each deal that comes in as a line,
a line goes out: moves played and seconds that the queries took.
"""

import os
import sys

from kaggle_environments import make

import bench.peers.kaggle_treelings  # noqa: F401 - registers the environment
from bench.peers.kaggle_agent import agent


def main() -> None:
    """Play until there are no more deals. One environment plays all of them, so that its pool of processes is kept."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever an environment prints is no answer
    agents = [agent if each == "function" else each for each in sys.argv[1:]]
    environment = make("treelings", info={"deal": ""})
    for line in sys.stdin:
        environment.info["deal"] = line.strip()
        steps = environment.run(agents)
        if any(seat.status != "DONE" for seat in steps[-1]):
            raise RuntimeError(f"the game was not played to its end: {steps[-1]}")
        answers.write(f"{len(environment.history)} {environment.queries_s}\n")


if __name__ == "__main__":
    main()
