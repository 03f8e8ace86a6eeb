"""Trains the weights of learned_bot by playing against itself, in about a minute: python examples/train.py [GAMES].

A linear policy, learned by policy gradient (REINFORCE): each legal action is worth its weights times what the seat
sees, what is worth more is played more often, and a game's margin makes all its actions more likely, or less so.
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from treelings.env import ACTIONS, Observation, TreelingsEnv, env

SEEN = 78  # of an observation: both rows and the market
RATE = 0.0016


def play(table: TreelingsEnv, choose: Callable[[str, Any], int]) -> dict[str, float]:
    """One game; the reward of each agent."""
    rewards = {}
    for agent in table.agent_iter():
        observation, reward, over, _, _ = table.last()
        rewards[agent] = reward
        table.step(None if over else choose(agent, observation))
    return rewards


def policy(weights: np.ndarray, observation: Observation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The legal actions, the chance of each, and what they were weighed by."""
    legal = np.flatnonzero(observation["action_mask"])
    seen = observation["observation"][:SEEN] / 3
    worth = weights[legal] @ seen
    odds = np.exp(worth - worth.max())
    return legal, odds / odds.sum(), seen


def train(games: int, seed: int = 1) -> np.ndarray:
    """Weights by action and value seen, after so many games against itself; Ctrl-C ends it after fewer."""
    weights, table, rng = np.zeros((ACTIONS, SEEN)), env(reward="margin"), np.random.default_rng(seed)
    turns = []

    def choose(agent: str, observation: Observation) -> int:
        legal, chances, seen = policy(weights, observation)
        chosen = rng.choice(len(legal), p=chances)
        turns.append((agent, legal, np.outer((np.arange(len(legal)) == chosen) - chances, seen)))
        return int(legal[chosen])

    try:
        for game in range(games):
            table.reset(seed if game == 0 else None)
            margins = play(table, choose)
            for agent, legal, gradient in turns:
                weights[legal] += RATE * margins[agent] * gradient
            turns.clear()
    except KeyboardInterrupt:
        print(f"stopped in game {game + 1:,} of {games:,}", file=sys.stderr)
    return weights


def scores(weights: np.ndarray, deals: range) -> Iterator[float]:
    """Points against random moves on each of these deals, the mean of both seats; 0.5 is no better than random."""
    table, rng = env(), np.random.default_rng(0)
    for deal in deals:
        rewards = []
        for seat in table.possible_agents:

            def choose(agent: str, observation: Observation, seat: str = seat) -> int:
                legal, chances, _ = policy(weights, observation)
                return int(legal[chances.argmax()] if agent == seat else rng.choice(legal))

            table.reset(seed=deal)
            rewards.append(play(table, choose)[seat])
        yield (1 + float(np.mean(rewards))) / 2


def main(games: int = 30_000) -> None:
    """Train, keep the weights, and tell what they are worth."""
    place = Path(__file__).with_name("learned_bot").joinpath("weights.json")
    place.touch()  # where it may not be written this fails now, and not after all the training
    weights = train(games)
    if not weights.any():
        sys.exit("nothing learned so far: weights.json stays as it was")
    rows = {action: row for action, row in enumerate(weights.round(1).tolist()) if any(row)}
    place.write_text(json.dumps(rows) + "\n")
    try:
        held_out = list(scores(weights, range(10**6, 10**6 + 500)))
    except KeyboardInterrupt:
        sys.exit("stopped; weights.json has what was learned")
    error = 1.96 * np.std(held_out) / len(held_out) ** 0.5
    print(f"against random, on 500 deals that it has not seen: {np.mean(held_out):.1%} ± {error:.1%} of the points")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
