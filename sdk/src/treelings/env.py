"""Treelings as a PettingZoo environment, for reinforcement learning; needs `pip install 'treelings[env]'`."""

import random
from collections.abc import Iterator, Mapping
from functools import lru_cache
from operator import index
from typing import Any, Final, Literal, get_args

try:
    import gymnasium
    import numpy as np
    from gymnasium import spaces
    from numpy.typing import NDArray
    from pettingzoo import AECEnv
    from pettingzoo.utils.env import AECIterable
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"treelings.env needs {error.name}, which is not installed: pip install 'treelings[env]'", name=error.name
    ) from error

from treelings.cards import CARDS_PER_GUILD, FIREFLY, FIREFLY_INDEX, GUILDS, MAX_PLAYERS, MIN_PLAYERS
from treelings.encoding import ACTIONS, action_of, encode, encode_parts, encode_row, layout, move_of
from treelings.errors import IllegalMove, TreelingsError
from treelings.moves import Move
from treelings.rules import REFILLS, Refill, State
from treelings.view import View

__all__ = ["ACTIONS", "Observation", "Reward", "TreelingsEnv", "action_of", "encode", "env", "layout", "move_of"]

Reward = Literal["win", "margin"]
"""What a seat is given at the end: see `TreelingsEnv`."""

Observation = dict[str, NDArray[np.int8]]
"""`observation` and `action_mask`, two vectors."""

_NO_ACTION: Final = np.zeros(ACTIONS, np.int8)
_NO_GAME: Final = "no game is on; reset deals one"
_OF_A_GAME: Final = frozenset(
    {"agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations", "infos"}
)
"""What PettingZoo's `last`, and whoever calls it, look up; there is none of it before the first `reset`."""


def env(
    players: int = 2, refill: Refill = "start", reward: Reward = "win", render_mode: Literal["ansi"] | None = None
) -> "TreelingsEnv":
    """A table of 2 to 5, as an AEC environment; see `TreelingsEnv`. Raises ValueError for what there is not."""
    return TreelingsEnv(players, refill, reward, render_mode)


class TreelingsEnv(AECEnv[str, Observation, np.int64]):
    """One game after the other; the agents are player_0, player_1, … in the order of their turns.

    players, refill  as in `State.deal`
    reward           what comes at the end of a game, 0 before; the sum over all seats is 0:
                     "win"     the league's points from -1 to 1: the share of the other seats that this one
                               beats less the share that beats it
                     "margin"  its points less the mean of the others'
    render_mode      "ansi": `render` returns the position as text

    An observation is a dict of "observation", int8 of shape (36 * players + 17,), laid out as `layout` says, and
    "action_mask", int8 of shape (892,), 1 where the action is legal (`action_of`) and 0 everywhere for an agent that
    is not on turn. Arrays are the caller's own. An illegal action raises IllegalMove and changes nothing.

    `reset(seed=s)` shuffles as that seed, 0 or more, has it, whatever came before, and each `reset()` after it goes on
    from there.
    `reset(options={"deck": text})` deals from a given deck of 109 characters instead (rules.md, Deck and deal).
    Before the first one there is no game: what asks for it raises TreelingsError, or AttributeError for an attribute.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012  # as PettingZoo has it
        "name": "treelings_v1",
        "render_modes": ["ansi"],
        "is_parallelizable": False,
    }

    def __init__(
        self,
        players: int = 2,
        refill: Refill = "start",
        reward: Reward = "win",
        render_mode: Literal["ansi"] | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # theirs
        _check("players", players, range(MIN_PLAYERS, MAX_PLAYERS + 1))
        _check("refill", refill, REFILLS)
        _check("reward", reward, get_args(Reward))
        _check("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        self.render_mode = render_mode
        self.possible_agents = [f"player_{seat}" for seat in range(players)]
        self.agents = []
        self.action_spaces = {agent: spaces.Discrete(ACTIONS) for agent in self.possible_agents}
        self.observation_spaces = {agent: _observation_space(players) for agent in self.possible_agents}
        self._refill = refill
        self._reward = reward
        self._rng = random.Random()  # noqa: S311  # no secret hangs on it

    def __getattr__(self, name: str) -> Any:
        """Say what to do of what is missing because nothing has been dealt; costs nothing once it is there."""
        if name in _OF_A_GAME:
            raise AttributeError(f"{name}: {_NO_GAME}", name=name, obj=self)
        if name == "_state":
            raise TreelingsError(_NO_GAME)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The agent's own space, the same one each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The agent's own space, the same one each time."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Deal the next game; with a seed, the first game of that seed. Raises DeckError for a deck that is none."""
        if seed is not None:
            if index(seed) < 0:  # of which Python's generator would take the positive one
                raise ValueError(f"seed: expected 0 or more, got {seed}")
            self._rng.seed(index(seed))
        deck = (options or {}).get("deck")
        if deck is None:
            deck = _shuffled(self._rng)
        self._state = state = State.deal(deck, len(self.possible_agents), self._refill)
        self._rows = [encode_row(row, state.heights(seat)) for seat, row in enumerate(state.rows)]
        self._history: list[Move] = []
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:  # noqa: FBT001, FBT002  # as PettingZoo has it
        """Of the agent on turn: what it sees, its reward, whether its game is over, False, and nothing more."""
        if not self.agents:
            raise TreelingsError(f"last: {_NO_GAME}")
        return super().last(observe)

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable[str, Observation, np.int64]:
        """The agent on turn, again and again, while the game is on; each is to `step` before the next comes."""
        if "_state" not in vars(self):
            raise TreelingsError(f"agent_iter: {_NO_GAME}")
        return super().agent_iter(max_iter)

    @property
    def view(self) -> View:
        """What the agent on turn sees, as a bot is shown it: `action_of(bot.choose(env.view))` is a bot's action."""
        return View.of(self._state, tuple(self._history))

    def observe(self, agent: str) -> Observation:
        """What the agent sees now. Cost: 4 us."""
        state = self._state
        seat = self.possible_agents.index(agent)
        seen = encode_parts(
            self._rows, state.market, state.unseen(), state.above_firefly, state.firefly_out, seat, state.turn,
            state.refill,
        )  # fmt: skip
        mask = _choice(state.legal_moves())[1] if seat == state.seat else _NO_ACTION
        return {"observation": np.frombuffer(bytearray(seen), np.int8), "action_mask": mask.copy()}

    def step(self, action: np.int64 | int | None) -> None:
        """Play the agent's action; for an agent whose game is over, None."""
        if not self.agents:
            raise TreelingsError(f"step: {_NO_GAME}")
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)  # type: ignore[arg-type]  # it wants None, whatever its types say
            return
        if action is None:
            raise IllegalMove(f"illegal action None: {agent} is on turn and its game is not over")
        state = self._state
        legal = state.legal_moves()
        number = index(action)
        move = _choice(legal)[0].get(number) or move_of(number, legal)
        seat = state.seat
        state.play(move)
        self._rows[seat] = encode_row(state.rows[seat], state.heights(seat))
        self._history.append(move)
        self.agent_selection = self.possible_agents[state.seat]
        if state.over:
            self.rewards = dict(zip(self.agents, self._rewards(), strict=True))
            self._accumulate_rewards()
            self.terminations = dict.fromkeys(self.agents, True)

    def render(self) -> str | None:
        """The position as text, a line for the table and one a seat; None if no render_mode was asked for."""
        if self.render_mode is None:
            gymnasium.logger.warn("render: no render_mode was asked for; env(render_mode='ansi') returns text")
            return None
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        state = self._state
        market = "".join(guild * count for guild, count in zip(GUILDS, state.market, strict=True))
        firefly = "firefly out" if state.firefly_out else f"firefly below {state.above_firefly} cards"
        yield f"turn {state.turn}  market {market or '-'}  pile {state.pile}, {firefly}"
        for seat, (agent, score) in enumerate(zip(self.possible_agents, state.scores(), strict=True)):
            row = " ".join(f"{guild}{tall}" for guild, tall in zip(state.rows[seat], state.heights(seat), strict=True))
            mark = "*" if seat == state.seat and not state.over else " "
            yield f"{mark} {agent}  {row}  = {score}"

    def close(self) -> None:
        """There is nothing to release."""

    def _rewards(self) -> list[float]:
        if self._reward == "margin":
            return [self._state.margin(seat) for seat in range(self._state.players)]
        scores = self._state.scores()
        return [sum((own > other) - (own < other) for other in scores) / (len(scores) - 1) for own in scores]


def _shuffled(rng: random.Random) -> str:
    """A deck; made from `random` alone, whose numbers are the same in every version of Python."""
    cards = sorted(GUILDS * CARDS_PER_GUILD, key=lambda _: rng.random())
    return "".join((*cards[:FIREFLY_INDEX], FIREFLY, *cards[FIREFLY_INDEX:]))


@lru_cache(maxsize=8192)
def _choice(legal_moves: tuple[Move, ...]) -> tuple[dict[int, Move], NDArray[np.int8]]:
    """The legal moves by action, and the mask of these actions."""
    moves = {action_of(move): move for move in legal_moves}
    mask = _NO_ACTION.copy()
    mask[list(moves)] = 1
    return moves, mask


def _observation_space(players: int) -> spaces.Dict:
    parts = layout(players)
    high = np.full(parts["refill"].stop, 127, np.int8)
    return spaces.Dict(
        {
            "observation": spaces.Box(np.zeros_like(high), high, dtype=np.int8),
            "action_mask": spaces.Box(0, 1, (ACTIONS,), np.int8),
        }
    )


def _check(name: str, value: object, expected: Any) -> None:
    if value not in expected:
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, expected))}, got {value!r}")
