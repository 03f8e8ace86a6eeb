"""Everything that a Treelings bot needs; importing it loads no gRPC."""

from treelings.bot import Bot
from treelings.cards import GUILD_NAMES, GUILDS, commitment, derive_deck
from treelings.errors import DeckError, IllegalMove, NotationError, ProtocolError, TreelingsError
from treelings.moves import Move
from treelings.rules import Refill, State
from treelings.view import Clock, GameEnd, GameStart, View

__all__ = [
    "GUILDS",
    "GUILD_NAMES",
    "Bot",
    "Clock",
    "DeckError",
    "GameEnd",
    "GameStart",
    "IllegalMove",
    "Move",
    "NotationError",
    "ProtocolError",
    "Refill",
    "State",
    "TreelingsError",
    "View",
    "commitment",
    "derive_deck",
    "serve",
]


def serve(bot: type[Bot]) -> None:
    """Serve the bot to the referee on the Unix socket named by TREELINGS_SOCKET, until ended.

    Each game gets a new instance of the class. Never returns: an exception of the bot's code is printed to
    stderr and ends the process with exit code 1; so does, with a line that says why, a socket that is not
    named or cannot be bound.
    """
    from treelings.server import serve

    serve(bot)
