"""Plays games in kaggle-environments, in a process of its own: python -m bench.peers.kaggle_games.

For each line "DEAL AGENT AGENT" that comes in, a line goes out: moves played and seconds that the queries took. An
AGENT is an address, or "function" for the bot as a function in this process.
"""

import os
import sys
from typing import Any

from kaggle_environments import make

import bench.peers.kaggle_treelings  # noqa: F401 - registers the environment
from bench.peers.kaggle_agent import agent


def main() -> None:
    """Play until there are no more lines. The same agents keep one environment and its pool of processes."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever an environment prints is no answer
    environments: dict[tuple[str, ...], Any] = {}
    for line in sys.stdin:
        deal, *names = line.split()
        if tuple(names) not in environments:
            environments[tuple(names)] = make("treelings", info={"deal": ""})
        environment = environments[tuple(names)]
        environment.info["deal"] = deal
        steps = environment.run([agent if name == "function" else name for name in names])
        if any(seat.status != "DONE" for seat in steps[-1]):
            raise RuntimeError(f"the game was not played to its end: {steps[-1]}")
        answers.write(f"{len(environment.history)} {environment.queries_s}\n")


if __name__ == "__main__":
    main()
