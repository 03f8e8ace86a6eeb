"""Everything that a Treelings bot needs; importing it loads no gRPC."""

from typing import TYPE_CHECKING, NoReturn

from treelings.bot import Bot
from treelings.cards import GUILD_NAMES, GUILDS, Refill, commitment, derive_deck
from treelings.errors import DeckError, IllegalMove, NotationError, ProtocolError, TreelingsError
from treelings.moves import Move
from treelings.view import Clock, GameEnd, GameStart, View

if TYPE_CHECKING:
    from treelings.rules import Rng, State

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
    "Rng",
    "State",
    "TreelingsError",
    "View",
    "commitment",
    "derive_deck",
    "serve",
]


def __getattr__(name: str) -> object:
    """The forward model, once a bot asks for it: its tables take a tenth of a start to make."""
    if name not in ("Rng", "State", "rules"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import treelings.rules as rules  # "from treelings" would ask for this attribute, and so come here again

    value: object = rules if name == "rules" else getattr(rules, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """All that is public, for help() and for completion: the forward model too, which is not loaded yet."""
    return sorted({*globals(), *__all__})


def serve(bot: type[Bot], listen: str | None = None) -> NoReturn:
    """Serve the bot to the referee until ended. Each game gets a new instance of the class. Never returns.

    Where the referee started this process, it has named a Unix socket in TREELINGS_SOCKET, or a host and port
    in TREELINGS_LISTEN, and that counts, whatever `listen` says. An exception of the bot's code is printed to
    stderr then and ends the process with exit code 1.

    listen  "host:port", such as "127.0.0.1:50051", to listen on where this process was started by hand, as in a
            debugger: `treelings match random --attach mybot=127.0.0.1:50051` plays against it. Games come
            one after the other, of one match or many. An exception of the bot's code is printed to stderr
            and costs that game alone. Port 0 is any that is free; Ctrl-C ends the process.

    What cannot be listened on, or none of these, ends the process with exit code 1 and a line that says why.
    """
    from treelings.server import serve

    serve(bot, listen)
