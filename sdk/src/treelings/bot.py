"""The class that people subclass to write a bot."""

from abc import ABC, abstractmethod

from treelings.moves import Move
from treelings.view import GameEnd, GameStart, View


class Bot(ABC):
    """One seat in one game; a new instance is made for every game.

    Write `choose`; the other two are there if you want them.
    """

    def start(self, game: GameStart) -> None:
        """Called once before the game, within its start-up allowance."""

    @abstractmethod
    def choose(self, view: View) -> Move:
        """Return one of `view.legal_moves` within `view.limit_ms` milliseconds."""

    def end(self, result: GameEnd) -> None:
        """Called once after the game; not called after this bot has forfeited."""
