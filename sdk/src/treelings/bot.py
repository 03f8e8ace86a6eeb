"""The class that people subclass to write a bot."""

from abc import ABC, abstractmethod
from typing import Final

from treelings.moves import Move
from treelings.view import GameEnd, GameStart, View

LONGEST_COMMENT: Final = 200
"""Characters that a comment on a move may have (records.md, Comments)."""


class Bot(ABC):
    """One seat in one game; a new instance is made for every game.

    Write `choose`; the others are there if you want them.
    """

    _treelings_comment = ""  # on the move that is being chosen; no author has a name like it

    def start(self, game: GameStart) -> None:
        """Called once before the game, within its start-up allowance (`game.clock.startup_ms`)."""

    @abstractmethod
    def choose(self, view: View) -> Move:
        """Return one of `view.legal_moves` within `view.limit_ms` milliseconds."""

    def end(self, result: GameEnd) -> None:
        """Called once after the game; not called after this bot has forfeited."""

    def say(self, text: str) -> None:
        """Comment on the move that is being chosen; to be called within `choose`, where the last call counts.

        No other bot is told it, but people are: who plays against this bot or watches reads it with the move, and
        everybody in the game's record. Line breaks become spaces, and what is longer than 200 characters is
        cut. Raises TypeError if it is no text. (records.md, Comments)
        """
        if not isinstance(text, str):
            raise TypeError(f"say: expected text, got {type(text).__name__}")
        line = " ".join(text.split())[:LONGEST_COMMENT]
        self._treelings_comment = line.encode(errors="replace").decode()  # half a surrogate pair could not be sent


def comment_of(bot: Bot) -> str:
    """What the bot has said since this was last asked, "" if nothing."""
    comment = bot._treelings_comment
    if comment:
        bot._treelings_comment = ""
    return comment
