"""A linear policy that has taught itself: ../train.py made weights.json. Here it needs no NumPy."""

import json
from pathlib import Path

import treelings
from treelings.encoding import action_of, encode

WEIGHTS: dict[str, list[float]] = json.loads(Path(__file__).with_name("weights.json").read_text())
"""By action (`treelings.encoding.action_of`), one for each value seen; actions that are not here are worth 0."""


class LearnedBot(treelings.Bot):
    """Takes the move whose weights find the most in what it sees; of more than one neighbour, only the next seat."""

    def choose(self, view: treelings.View) -> treelings.Move:
        seen = encode(view)[:72] + bytes(view.market)  # its own row, that of the next seat, the market

        def worth(move: treelings.Move) -> float:
            return sum(
                weight * value for weight, value in zip(WEIGHTS.get(str(action_of(move)), ()), seen, strict=False)
            )

        return max(view.legal_moves, key=worth)


if __name__ == "__main__":
    treelings.serve(LearnedBot)
