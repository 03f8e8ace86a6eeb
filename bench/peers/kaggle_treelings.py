"""Treelings as an environment of kaggle-environments; importing this registers it."""

from time import perf_counter
from typing import Any

from kaggle_environments import register

from bench.peers.talk import name_of, query
from treelings import IllegalMove, NotationError, State, derive_deck

_LIST = {"type": "array", "default": []}
_NUMBER = {"type": "integer", "default": 0}
_TEXT = {"type": "string", "default": ""}
_SPECIFICATION = {
    "name": "treelings",
    "title": "Treelings",
    "description": "Take cards, grow columns, be as tall as your neighbours.",
    "version": "1.0.0",
    "agents": [2],
    "configuration": {"episodeSteps": 200, "actTimeout": 1},
    "reward": {"type": "number", "default": 0},
    "observation": {
        "remainingOverageTime": 20,
        **dict.fromkeys(("game", "refill"), _TEXT),
        **dict.fromkeys(("seat", "players", "turn", "above_firefly", "limit_ms", "bank_ms"), _NUMBER),
        **dict.fromkeys(("rows", "heights", "market", "unseen", "moves", "legal"), _LIST),
        "firefly_out": {"type": "boolean", "default": False},
    },
    "action": {"type": "string", "default": "-"},
}


def interpret(state: Any, environment: Any) -> Any:
    """Deal before the first step; at each later one play the move of the seat on turn, then ask the next.

    Agents are not told `environment.info`, whose "deal" names the deal. What the queries of a game took, all that the
    framework does between two of them included, is in `environment.queries_s` once it is over.
    """
    if environment.done:
        environment.table = State.deal(derive_deck(bytes(32), environment.info["deal"]), len(state))
        environment.history = []
        environment.began = perf_counter()
    else:
        ended = perf_counter()
        table = environment.table
        try:
            move = table.parse(state[table.seat].action or "")
        except (IllegalMove, NotationError):
            for seat in state:
                seat.status = "DONE"
            state[table.seat].status = "INVALID"
            return state
        table.play(move)
        environment.history.append(move)
        if table.over:
            environment.queries_s = ended - environment.began
            for seat, score in zip(state, table.scores(), strict=True):
                seat.status, seat.reward = "DONE", score
            return state
    for seat in state:
        seat.status = "INACTIVE"
    asked = state[environment.table.seat]
    asked.status = "ACTIVE"
    asked.observation.update(query(name_of(environment.info["deal"]), environment.table, environment.history))
    return state


def render(_state: Any, environment: Any) -> str:
    """The rows, as text."""
    return " / ".join(environment.table.rows)


register(
    "treelings",
    {
        "specification": _SPECIFICATION,
        "interpreter": interpret,
        "renderer": render,
        "html_renderer": lambda: "",
        "agents": {},
    },
)
