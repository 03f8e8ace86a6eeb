"""Serves a bot to the referee: one `Play` stream is one game, played by one new instance of the bot.

Games are served one after the other, on the one thread that there is: a bot's code never runs twice at once, may use
asyncio, threads and processes as it likes, and nothing of ours runs beside it. Each thread costs while a bot is held.
"""

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from socket import socket
from typing import Final, NoReturn, ParamSpec, TypeVar

from treelings import told, wire
from treelings.bot import Bot, comment_of
from treelings.calls import Call
from treelings.errors import ProtocolError
from treelings.moves import Move
from treelings.switchboard import Hangup, Switchboard, listen_at, listen_on
from treelings.view import View

P = ParamSpec("P")
T = TypeVar("T")

SOCKET_VARIABLE: Final = "TREELINGS_SOCKET"
"""Environment variable that names the Unix socket to listen on."""

LISTEN_VARIABLE: Final = "TREELINGS_LISTEN"
"""Environment variable that names a host and port ("0.0.0.0:50051") to listen on; where it is set, it counts."""

_FAREWELL_S: Final = 1.0  # for the last status to reach the referee before the process ends
_LAST_WORDS_S: Final = 1  # for what was printed last, which nobody may read
_LONGEST_DETAIL: Final = 300
_EXAMPLE: Final = "127.0.0.1:50051"
_PLACE: Final = r"(?P<host>\[[^]]+\]|[\w.-]+):(?P<port>\d{1,5})"  # what --attach can name
_PORTS: Final = 2**16


def serve(bot: type[Bot], listen: str | None = None) -> NoReturn:
    """Serve games until the process is ended; see `treelings.serve`."""
    if not (isinstance(bot, type) and issubclass(bot, Bot)):
        raise TypeError(f"serve: expected a subclass of treelings.Bot (the class, no instance), got {bot!r}")
    restore = _terminal_as_it_is()
    _end_on_signals(restore)
    if os.environ.get(LISTEN_VARIABLE) or os.environ.get(SOCKET_VARIABLE):
        _serve_referee(bot)
    if listen is not None:
        _serve_by_hand(bot, listen, restore)
    script = sys.argv[0].rpartition("/")[2]
    sys.exit(
        f"{script}: this is run by the referee, which names a socket in {SOCKET_VARIABLE}, or a host "
        f"and port in {LISTEN_VARIABLE}; to try it: treelings match FOLDER random; to run it yourself, as in a "
        f'debugger: treelings.serve({bot.__name__}, listen="{_EXAMPLE}")'
    )


def _serve_referee(bot: type[Bot]) -> NoReturn:
    """Serve the referee that has started this process, and end with the first crash: the next one is fresh."""
    listen, path = os.environ.get(LISTEN_VARIABLE), os.environ.get(SOCKET_VARIABLE, "")
    try:
        listeners = _listen(listen) if listen else listen_at(path)
    except (OSError, ValueError) as error:
        where = f"{LISTEN_VARIABLE}={listen}" if listen else f"{SOCKET_VARIABLE}={path}"
        sys.exit(f"{where}: cannot listen there: {_why(error)}")
    switchboard = Switchboard(listeners, wire.PATH)
    while _play(bot, switchboard, call := switchboard.next_call()):
        pass
    switchboard.farewell(call, "the bot has crashed, and its process is about to end", _FAREWELL_S)
    _end(1)


def _serve_by_hand(bot: type[Bot], listen: str, restore: Callable[[], None]) -> NoReturn:
    """Serve whoever attaches, one game after the other, crash or no crash."""
    try:
        listeners = _listen(listen)
    except ValueError as error:
        sys.exit(f"listen={listen!a}: {error}")
    except OSError as error:
        sys.exit(f"{listen}: cannot listen there: {_why(error)}")
    bound = listeners[0].getsockname()[1]
    print(*told_where(bot.__name__, f"{listen.rpartition(':')[0]}:{bound}"), sep="\n", file=sys.stderr, flush=True)
    switchboard = Switchboard(listeners, wire.PATH)
    while True:
        _end_on_signals(restore)  # a debugger that goes on from its prompt takes Ctrl-C for its own
        if not _play(bot, switchboard, switchboard.next_call()):
            _log("That game is lost; waiting for the next one.\n")


def _listen(where: object) -> list[socket]:
    """Listen on a host and port. Raises ValueError if it is none, OSError."""
    # It may be a number, or whatever else somebody took for an address.
    place = re.fullmatch(_PLACE, str(where), re.ASCII)
    if place is None or int(place["port"]) >= _PORTS:
        raise ValueError(f"expected HOST:PORT, such as {_EXAMPLE}")
    return listen_on(place["host"].strip("[]"), int(place["port"]))


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def told_where(bot: str, address: str) -> tuple[str, str]:
    """What the author of a bot is told that listens: a line that says where, and a command that plays against it."""
    name = bot.lower()
    name = name if re.fullmatch("[a-z0-9][a-z0-9_]{0,31}", name) else "mybot"
    return (
        f"{bot} listens on {address}, until Ctrl-C. In another terminal:",
        f"  treelings match random --attach {name}={address}",
    )


def _end_on_signals(restore: Callable[[], None]) -> None:
    def end(number: int, _: object) -> NoReturn:
        restore()
        _end(128 + number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)


def _terminal_as_it_is() -> Callable[[], None]:
    """What brings the terminal back to how it is now: a debugger may be at its prompt when the process ends."""
    if sys.stdin is None or not sys.stdin.isatty():
        return lambda: None
    import termios

    terminal = sys.stdin.fileno()
    mode = termios.tcgetattr(terminal)
    return lambda: termios.tcsetattr(terminal, termios.TCSANOW, mode)


def _end(code: int) -> NoReturn:
    # Not sys.exit: that would wait for a bot that is still thinking.
    signal.signal(signal.SIGALRM, lambda *_: os._exit(code))
    signal.alarm(_LAST_WORDS_S)
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # the bot may have closed it, or be in the middle of writing to it
            stream.flush()
    os._exit(code)


def _log(text: str) -> None:
    with suppress(Exception):  # a bot that has closed its stderr has no author who reads; its referee is told
        print(text, end="", file=sys.stderr, flush=True)


def _play(bot: type[Bot], switchboard: Switchboard, call: Call) -> bool:
    """Play the game of this call to its end, whichever it has; false if the bot has crashed."""
    try:
        for message in play_game(bot, _requests(switchboard, call)):
            call.say(message)
    except Hangup:
        return True  # this game is over, the next may come
    except ProtocolError as error:
        call.end("INVALID_ARGUMENT", _one_line(error))
    except Exception as error:
        cause = error.error if isinstance(error, BotFailed) else error
        with suppress(Exception):  # as in `_log`
            # As Python itself tells of a crash: that needs no file, of which the bot may have opened all it may.
            sys.__excepthook__(type(cause), cause, cause.__traceback__)
        call.end("UNKNOWN", _one_line(cause))
        return False
    else:
        call.end("OK", "")
    return True


def _requests(switchboard: Switchboard, call: Call) -> Iterator[bytes]:
    """The referee's messages, as they come. Raises Hangup."""
    while (message := switchboard.read(call)) is not None:
        yield message


class BotFailed(Exception):
    """The bot's own code raised `error`, of whatever kind: nothing of it may pass for the referee's or for ours."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


def play_game(bot: type[Bot], requests: Iterator[bytes]) -> Iterator[bytes]:
    """One game: the bot's message for each of the referee's, until the End or the end of the requests.

    Raises ProtocolError for a message that is none, and BotFailed for whatever the bot's code raises.
    """
    for data in requests:
        game = told.read_start(wire.read_referee(data))
        break
    else:
        return
    player = _run(bot)
    _run(player.start, game)
    yield wire.ready()
    history: tuple[Move, ...] = ()
    for data in requests:
        message = wire.read_referee(data)
        if isinstance(message, wire.End):
            _run(player.end, told.read_end(message))
            return
        view = told.read_query(message, game.seat, game.players, game.refill, history)
        history = view.history
        move = _run(_choose, player, view)
        yield wire.reply(view.turn, move.notation, comment_of(player))


def _choose(player: Bot, view: View) -> Move:
    move: object = player.choose(view)
    if not isinstance(move, Move):
        raise TypeError(
            f"{type(player).__name__}.choose: expected a Move, one of view.legal_moves, got {_bounded(repr(move))}"
        )
    return move


def _run(code: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run the bot's code. Raises BotFailed."""
    try:
        return code(*args, **kwargs)
    except BaseException as error:
        raise BotFailed(error) from error


def _one_line(error: BaseException) -> str:
    """The error's type and message as one bounded ASCII line."""
    try:
        from traceback import format_exception_only  # takes a hundredth of a start
    except Exception:  # there is no file to be opened any more, or no memory
        return type(error).__name__
    text = " ".join("".join(format_exception_only(error)).split())
    return _bounded(text.encode("ascii", "backslashreplace").decode())


def _bounded(text: str) -> str:
    return text if len(text) <= _LONGEST_DETAIL else text[: _LONGEST_DETAIL - 3] + "..."
