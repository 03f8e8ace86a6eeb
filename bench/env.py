"""How fast the PettingZoo environment is, against PettingZoo's own connect four: python -m bench.env.

Rounds alternate between both in one run. Each plays random legal actions through the same loop of agent_iter, last and
step, with the masks sampled by the action spaces; games are reset as often as they end. A second figure leaves the
sampling out: actions drawn from the mask by hand are a part that any learner replaces.
"""

import random
import sys
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from pettingzoo.classic import connect_four_v3

from treelings.env import env

ROUNDS = 9
STEPS = 3_000

TITLE = "the PettingZoo environment, random legal actions, two seats"
FIGURES = {
    "env_steps_per_s": ("steps a second", ""),
    "connect_four_steps_per_s": ("the same of connect_four_v3", ""),
    "env_vs_connect_four": ("steps a second against connect_four_v3", ">= 3"),
    "env_unsampled_vs_connect_four": ("the same, each drawing from the mask by flatnonzero", ">= 3"),
    "env_5_vs_connect_four": ("the first ratio at five seats", ""),
}


def measure() -> dict[str, float]:
    """Steps a second and ratios, medians over the rounds; the first round fills tables and is not counted."""
    connect_four, two, five = connect_four_v3.env(), env(2), env(5)  # type: ignore[no-untyped-call]
    rng = random.Random(2026)
    rounds = []
    for number in range(ROUNDS + 1):
        peer, own, own_five = (_sampled(each, number) for each in (connect_four, two, five))
        peer_drawn, own_drawn = (_drawn(each, number, rng) for each in (connect_four, two))
        rounds.append((own, peer, own / peer, own_drawn / peer_drawn, own_five / peer))
    return dict(zip(FIGURES, (median(column) for column in zip(*rounds[1:], strict=True)), strict=True))


def _sampled(of: Any, seed: int) -> float:
    steps = 0
    for agent in of.possible_agents:
        of.action_space(agent).seed(seed)
    began = perf_counter()
    while steps < STEPS:
        of.reset(seed=seed + steps)
        for agent in of.agent_iter():
            observation, _, terminated, truncated, _ = of.last()
            over = terminated or truncated
            of.step(None if over else of.action_space(agent).sample(observation["action_mask"]))
            steps += not over
    return steps / (perf_counter() - began)


def _drawn(of: Any, seed: int, rng: random.Random) -> float:
    steps = 0
    began = perf_counter()
    while steps < STEPS:
        of.reset(seed=seed + steps)
        for _ in of.agent_iter():
            observation, _, terminated, truncated, _ = of.last()
            over = terminated or truncated
            of.step(None if over else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
            steps += not over
    return steps / (perf_counter() - began)


def main() -> None:
    """Print the figures."""
    for name, value in measure().items():
        sys.stdout.write(f"{name:32}{value:10.2f}\n")


if __name__ == "__main__":
    main()
