"""Serves a bot to the referee: one `Play` stream is one game, played by one new instance of the bot.

Games are served one after the other on one worker thread, so that a bot's code never runs twice at once;
the main thread stays free for signals. Measured on a Unix socket, a synchronous server answers as fast as
`grpc.aio` (190 and 193 us a move), and it lets a bot use asyncio as it likes.
"""

import os
import re
import signal
import socket
import sys
import termios
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NoReturn, ParamSpec, TypeVar

# gRPC prints what a peer says to stderr, and stderr is the author's log; it reads this once, when imported.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc

from treelings import codec
from treelings.bot import Bot, comment_of
from treelings.errors import ProtocolError
from treelings.moves import Move
from treelings.view import View

P = ParamSpec("P")
T = TypeVar("T")

SOCKET_VARIABLE: Final = "TREELINGS_SOCKET"
"""Environment variable that names the Unix socket to listen on."""

LISTEN_VARIABLE: Final = "TREELINGS_LISTEN"
"""Environment variable that names a host and port ("0.0.0.0:50051") to listen on; where it is set, it counts."""

_OPTIONS: Final = (
    ("grpc.max_receive_message_length", 64 * 1024),
    ("grpc.so_reuseport", 0),
    # No pings: a bot that is held before it has read the answer would take the referee for gone after a minute.
    ("grpc.http2.bdp_probe", 0),
    ("grpc.keepalive_time_ms", 2**31 - 1),
)
_FAREWELL_S: Final = 1.0  # for the last status to reach the referee before the process ends
_LONGEST_DETAIL: Final = 300
_EXAMPLE: Final = "127.0.0.1:50051"
_PLACE: Final = re.compile(r"(?P<host>\[[^]]+\]|[\w.-]+):(?P<port>\d{1,5})", re.ASCII)  # what --attach can name
_PORTS: Final = 2**16


def serve(bot: type[Bot], listen: str | None = None) -> NoReturn:
    """Serve games until the process is ended; see `treelings.serve`."""
    if not (isinstance(bot, type) and issubclass(bot, Bot)):
        raise TypeError(f"serve: expected a subclass of treelings.Bot (the class, no instance), got {bot!r}")
    restore = _terminal_as_it_is()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: (restore(), _end(128 + number)))
    if os.environ.get(LISTEN_VARIABLE) or os.environ.get(SOCKET_VARIABLE):
        _serve_referee(bot)
    if listen is not None:
        _serve_by_hand(bot, listen)
    sys.exit(
        f"{Path(sys.argv[0]).name}: this is run by the referee, which names a socket in {SOCKET_VARIABLE}, or a host "
        f"and port in {LISTEN_VARIABLE}; to try it: treelings match FOLDER random; to run it yourself, as in a "
        f'debugger: treelings.serve({bot.__name__}, listen="{_EXAMPLE}")'
    )


def _serve_referee(bot: type[Bot]) -> NoReturn:
    """Serve the referee that has started this process, and end with the first crash: the next one is fresh."""
    listen, path = os.environ.get(LISTEN_VARIABLE), os.environ.get(SOCKET_VARIABLE)
    crashed = threading.Event()
    server = _server(bot, crashed)
    try:
        server.add_insecure_port(listen or f"unix:{path}")
    except RuntimeError as error:
        where = f"{LISTEN_VARIABLE}={listen}" if listen else f"{SOCKET_VARIABLE}={path}"
        sys.exit(f"{where}: cannot listen there: {error}")
    if path and not listen:
        # The referee may be another user; who can reach the folder is for the referee to say.
        Path(path).chmod(0o666)
    server.start()
    crashed.wait()
    server.stop(_FAREWELL_S).wait()
    _end(1)


def _serve_by_hand(bot: type[Bot], listen: str) -> NoReturn:
    """Serve whoever attaches, one game after the other, crash or no crash."""
    place = _PLACE.fullmatch(str(listen))  # it may be a number, or whatever else somebody took for an address
    if place is None or int(place["port"]) >= _PORTS:
        sys.exit(f"listen={listen!a}: expected HOST:PORT, such as {_EXAMPLE}")
    host, port = place["host"], int(place["port"])
    server = _server(bot, None)
    try:
        bound = server.add_insecure_port(listen)
    except RuntimeError:
        sys.exit(f"{listen}: cannot listen there: {_why_not(host.strip('[]'), port)}")
    server.start()
    print(*told_where(bot.__name__, f"{host}:{bound}"), sep="\n", file=sys.stderr, flush=True)
    server.wait_for_termination()
    _end(0)


def told_where(bot: str, address: str) -> tuple[str, str]:
    """What the author of a bot is told that listens: a line that says where, and a command that plays against it."""
    name = bot.lower()
    name = name if re.fullmatch("[a-z0-9][a-z0-9_]{0,31}", name) else "mybot"
    return (
        f"{bot} listens on {address}, until Ctrl-C. In another terminal:",
        f"  treelings match random --attach {name}={address}",
    )


def _why_not(host: str, port: int) -> str:
    """Why nobody can listen there, which gRPC does not tell."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as listener:
            listener.bind((host, port))
    except OSError as error:
        return str(error.strerror)
    return "the port is free, but gRPC could not; try another one"


def _terminal_as_it_is() -> Callable[[], None]:
    """What brings the terminal back to how it is now: a debugger may be at its prompt when the process ends."""
    if sys.stdin is None or not sys.stdin.isatty():
        return lambda: None
    terminal = sys.stdin.fileno()
    mode = termios.tcgetattr(terminal)
    return lambda: termios.tcsetattr(terminal, termios.TCSANOW, mode)


def _server(bot: type[Bot], crashed: threading.Event | None) -> grpc.Server:
    server = grpc.server(ThreadPoolExecutor(max_workers=1), options=_OPTIONS)
    server.add_generic_rpc_handlers((_handler(bot, crashed),))
    return server


def _end(code: int) -> NoReturn:
    # Not sys.exit: that would wait for a bot that is still thinking.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _handler(bot: type[Bot], crashed: threading.Event | None) -> "grpc.GenericRpcHandler[bytes, bytes]":
    """`crashed` is set once the bot has crashed, and no game is played from then on; None: the next game may come."""

    def play(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        if crashed is not None and crashed.is_set():  # a game that was waiting for the one before
            context.abort(grpc.StatusCode.UNAVAILABLE, "the bot has crashed, and its process is about to end")
        try:
            yield from play_game(bot, requests)
        except grpc.RpcError:
            return  # the referee hung up: this game is over, the next may come
        except ProtocolError as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, _one_line(error))
        except Exception as error:
            cause = error.error if isinstance(error, BotFailed) else error
            traceback.print_exception(cause)
            if crashed is None:
                print("That game is lost; waiting for the next one.", file=sys.stderr, flush=True)
            else:
                crashed.set()
            context.abort(grpc.StatusCode.UNKNOWN, _one_line(cause))

    return grpc.method_handlers_generic_handler(
        codec.SERVICE, {codec.METHOD: grpc.stream_stream_rpc_method_handler(play)}
    )


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
        game = codec.read_start(codec.decode_referee(data))
        break
    else:
        return
    player = _run(bot)
    _run(player.start, game)
    yield codec.ready_message().SerializeToString()
    history: tuple[Move, ...] = ()
    for data in requests:
        message = codec.decode_referee(data)
        if message.HasField("end"):
            _run(player.end, codec.read_end(message))
            return
        view = codec.read_query(message, game.seat, game.players, game.refill, history)
        history = view.history
        move = _run(_choose, player, view)
        yield codec.reply_message(view.turn, move, comment_of(player)).SerializeToString()


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
    text = " ".join("".join(traceback.format_exception_only(error)).split())
    return _bounded(text.encode("ascii", "backslashreplace").decode())


def _bounded(text: str) -> str:
    return text if len(text) <= _LONGEST_DETAIL else text[: _LONGEST_DETAIL - 3] + "..."
