"""The bot as an agent of kaggle-environments, which takes the last thing here that can be called."""

from typing import Any

from bench.peers.talk import Games

_games = Games()


def agent(observation: Any, _configuration: Any) -> str:
    """The bot's move."""
    return _games.move(observation)
