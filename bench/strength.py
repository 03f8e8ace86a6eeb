"""How much stronger `mcts` is than `rollout` in the same time: python -m bench.strength MS SEATS DEALS.

Both get MS milliseconds of processor time for each move, however many tries that makes; so a busy machine does
neither an injustice. A deal with all of its rotations is one sample; at three and more seats, all others are `rollout`.
"""

import sys
import time

from tests.support.local import compete, sample_bot, summary
from treelings import Bot


def thinking(name: str, most: str, budget_ms: float) -> type[Bot]:
    """The sample bot with this much processor time for each move and no other limit (named `most`)."""
    limits = {most: sys.maxsize, "now": staticmethod(time.thread_time), "budget_ms": lambda self, view: budget_ms}
    return type(f"Thinking{name.title()}", (sample_bot(name),), limits)


def main(budget_ms: float, seats: int, deals: int) -> None:
    """Play the deals and print the score of `mcts` with its 95 % interval."""
    mcts = thinking("mcts", "most_iterations", budget_ms)
    rollout = thinking("rollout", "most_games", budget_ms)
    result = summary(compete(range(deals), mcts, [rollout] * (seats - 1)))
    print(f"mcts against rollout, {budget_ms:g} ms a move, {seats} seats, {deals} deals: {result}")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
