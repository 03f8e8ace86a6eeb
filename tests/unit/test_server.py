"""A bot as the referee meets it: `serve` in a process of its own, a real gRPC client, a Unix socket."""

import os
import signal
import socket as socket_module
import stat
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import grpc
import grpc.aio
import pytest

from tests.support.bot_client import FIRST, PATIENCE_S, Client, Game, choosing
from tests.support.own_port import own_port
from treelings import Clock, GameEnd, GameStart, State, View, codec, derive_deck
from treelings.v1.game_pb2 import BotMessage, RefereeMessage

ENDLESS = """
                print("thinking", flush=True)
                while True:
                    pass
"""


@pytest.fixture
def bot(tmp_path: Path) -> Iterator[Callable[..., Client]]:
    """Starts a bot from its source."""
    clients: list[Client] = []

    def start(source: str, listen: str | None = None) -> Client:
        (tmp_path / "bot.py").write_text(textwrap.dedent(source))
        socket = tmp_path / "bot.sock"
        where = {"TREELINGS_SOCKET": str(socket)} if listen is None else {"TREELINGS_LISTEN": listen}
        process = subprocess.Popen(
            [sys.executable, "bot.py"], cwd=tmp_path, env=os.environ | where,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        clients.append(Client(process, f"unix:{socket}" if listen is None else listen))
        return clients[-1]

    yield start
    for client in clients:
        client.end()


def test_a_bot_plays_a_whole_game_and_a_second_one_in_the_same_process(bot: Callable[..., Client]) -> None:
    client = bot(FIRST)
    first = client.game(name="one").play()
    second = client.game(name="two").play()
    assert first.over
    assert first.scores() == second.scores()
    client.process.terminate()
    _, out, err = client.output()
    score = f"end festival {first.scores()}"
    assert out.splitlines() == ["start one 0", score, "start two 0", score]
    assert err == ""


def test_every_game_has_an_instance_of_its_own(bot: Callable[..., Client]) -> None:
    client = bot(
        choosing("self.moves = getattr(self, 'moves', 0) + 1; assert self.moves < 40; return view.legal_moves[0]")
    )
    for _ in range(3):
        client.game().play()


def test_a_bot_that_is_given_a_port_plays_there(bot: Callable[..., Client]) -> None:
    with own_port() as port:
        client = bot(FIRST, listen=f"127.0.0.1:{port}")
        assert client.game().play().over


def test_it_sends_no_pings_since_it_may_be_held_before_it_has_read_the_answer(
    bot: Callable[..., Client], tmp_path: Path
) -> None:
    process = bot(FIRST).process
    with Tap(tmp_path / "tap.sock", tmp_path / "bot.sock") as tap:
        client = Client(process, f"unix:{tmp_path / 'tap.sock'}")
        client.game().play()
        client.close()
        process.terminate()
    kinds = [kind for kind, flags in frames(bytes(tap.sent)) if not (kind == PING and flags & ACK)]
    assert len(kinds) > 30
    assert PING not in kinds


def test_the_socket_lets_any_user_connect(bot: Callable[..., Client], tmp_path: Path) -> None:
    client = bot(FIRST)
    client.game().play()
    assert stat.S_IMODE((tmp_path / "bot.sock").stat().st_mode) == 0o666


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_bot_even_while_it_thinks(bot: Callable[..., Client], number: signal.Signals) -> None:
    client = bot(choosing("\n" + ENDLESS))
    game = client.game()
    game.ask()
    assert client.process.stdout is not None
    assert client.process.stdout.readline() == "start game 0\n"
    assert client.process.stdout.readline() == "thinking\n"
    client.process.send_signal(number)
    assert client.output() == (128 + number, "", "")


def test_a_bots_code_has_the_main_thread_and_its_own_asyncio(bot: Callable[..., Client]) -> None:
    client = bot(
        choosing(
            "import asyncio, threading; asyncio.run(asyncio.sleep(0)); "
            "assert threading.current_thread() is threading.main_thread(); "
            "assert threading.active_count() == 1; return view.legal_moves[0]"
        )
    )
    client.game().play()


POOLED = """
                import concurrent.futures
                with concurrent.futures.ProcessPoolExecutor(1) as pool:
                    return view.legal_moves[pool.submit(len, "").result()]
"""


def test_a_bot_may_let_other_processes_think_for_it(bot: Callable[..., Client]) -> None:
    # From Python 3.14 on a worker imports the bot's file anew, as it does on a Mac, and must not serve too.
    source = choosing("\n" + POOLED).replace("treelings.serve", 'if __name__ == "__main__": treelings.serve')
    game = bot(source).game()
    game.ask()
    assert codec.read_reply(game.receive(), 0).move


def test_a_referee_on_another_connection_waits_for_its_game(bot: Callable[..., Client]) -> None:
    client = bot(FIRST)
    first = client.game(name="first")
    first.ask()
    first.receive()
    with grpc.insecure_channel(client.address, options=(("grpc.use_local_subchannel_pool", 1),)) as channel:
        second = Game(channel)
        second.send(codec.start_message(GameStart("second", 1, 3, "start", Clock())))
        first.hang_up()
        assert first.rest() == []
        codec.read_ready(second.receive())
        second.hang_up()
        assert second.rest() == []


async def test_grpc_aio_plays_with_it(bot: Callable[..., Client]) -> None:
    client = bot(FIRST)
    async with grpc.aio.insecure_channel(client.address) as channel:
        play = channel.stream_stream(codec.PATH, RefereeMessage.SerializeToString, BotMessage.FromString)
        for name in ("one", "two"):
            call = play(None, wait_for_ready=True, timeout=PATIENCE_S)
            await call.write(codec.start_message(GameStart(name, 0, 2, "start", Clock())))
            answers = aiter(call)
            codec.read_ready(await anext(answers))
            await call.write(codec.end_message(GameEnd("void", (), ())))
            assert [answer async for answer in answers] == []
            assert await call.code() is grpc.StatusCode.OK


@pytest.mark.parametrize("said", [b"GET / HTTP/1.1\r\n\r\n", b"PRI * HTTP/2.0\r\n", b"", b"\0" * 100_000])
def test_who_speaks_no_http2_is_hung_up_on_or_left_and_harms_no_game(
    bot: Callable[..., Client], tmp_path: Path, said: bytes
) -> None:
    client = bot(FIRST)
    game = client.game()
    game.ask()
    game.receive()
    with socket_module.socket(socket_module.AF_UNIX) as other:
        other.connect(str(tmp_path / "bot.sock"))
        with suppress(OSError):
            other.sendall(said)
        if said and not b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".startswith(said):
            other.settimeout(PATIENCE_S)
            with suppress(ConnectionResetError):
                while other.recv(1_024):
                    pass
        game.send(codec.end_message(GameEnd("void", (), ())))
        assert game.rest() == []
    client.game().play()


def test_a_crash_in_choose_ends_the_process_with_the_reason_for_referee_and_author(bot: Callable[..., Client]) -> None:
    client = bot(choosing("raise KeyError('no such\\nplan ' + 'x' * 1000)"))
    game = client.game()
    game.ask()
    code, details = game.failure()
    assert code is grpc.StatusCode.UNKNOWN
    assert details.startswith("KeyError: 'no such\\nplan xxx")
    assert details.endswith("...")
    assert len(details) == 300
    exit_code, _, err = client.output()
    assert exit_code == 1
    assert err.startswith("Traceback (most recent call last):")
    assert ", in choose" in err
    assert "KeyError: 'no such" in err


def test_the_reason_of_a_crash_is_one_line_of_ascii(bot: Callable[..., Client]) -> None:
    game = bot(choosing("raise ValueError('über\\nall\\n  \\x00\\ud800')")).game()
    game.ask()
    _, details = game.failure()
    assert details == "ValueError: \\xfcber all \x00\\ud800"


def test_a_bot_that_cannot_open_one_more_file_still_says_what_went_wrong(bot: Callable[..., Client]) -> None:
    client = bot("""
        import resource, sys, treelings

        class Leaky(treelings.Bot):
            def choose(self, view):
                sys.modules.pop("traceback", None)  # this client's headers had it loaded, as the referee's do not
                resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
                open("one more")

        treelings.serve(Leaky)
    """)
    game = client.game()
    game.ask()
    assert game.failure() == (grpc.StatusCode.UNKNOWN, "OSError")
    exit_code, _, err = client.output()
    assert exit_code == 1
    assert ", in choose" in err
    assert err.endswith("OSError: [Errno 24] Too many open files: 'one more'\n")


@pytest.mark.parametrize("hook", ["__init__", "start"])
def test_a_crash_before_the_first_move_is_told_like_any_other(bot: Callable[..., Client], hook: str) -> None:
    client = bot(FIRST.replace("def choose", f"def {hook}(self, game=None): 1 / 0\n        def choose"))
    assert client.game().failure() == (grpc.StatusCode.UNKNOWN, "ZeroDivisionError: division by zero")
    assert client.output()[0] == 1


@pytest.mark.parametrize(
    ("error", "name"),
    [
        ("SystemExit('enough')", "SystemExit"),
        ("KeyboardInterrupt('enough')", "KeyboardInterrupt"),
        ("GeneratorExit('enough')", "GeneratorExit"),
        ("StopIteration('enough')", "StopIteration"),
        ("__import__('asyncio').CancelledError('enough')", "asyncio.exceptions.CancelledError"),
        ("__import__('grpc').RpcError('enough')", "grpc.RpcError"),
        ("treelings.ProtocolError('enough')", "treelings.errors.ProtocolError"),
    ],
)
def test_whatever_a_bot_raises_is_a_crash(bot: Callable[..., Client], error: str, name: str) -> None:
    client = bot(choosing(f"raise {error}"))
    game = client.game()
    game.ask()
    assert game.failure() == (grpc.StatusCode.UNKNOWN, f"{name}: enough")
    exit_code, _, err = client.output()
    assert exit_code == 1
    assert ", in choose" in err
    assert err.endswith(f"{name}: enough\n")


def test_a_bot_that_has_crashed_takes_no_game_that_was_waiting(bot: Callable[..., Client]) -> None:
    client = bot(choosing("raise ValueError('lost')"))
    crashing = client.game(name="crashing")
    codec.read_ready(crashing.receive())
    waiting = client.game(name="waiting")
    crashing.send(codec.query_message(View.of(State.deal(derive_deck(bytes(32), "demo/0"), 2)), 0))
    assert crashing.failure()[1] == "ValueError: lost"
    waiting.failure()
    assert client.output()[:2] == (1, "start crashing 0\n")


def test_an_exception_in_end_ends_the_process_and_not_in_order(bot: Callable[..., Client]) -> None:
    client = bot(FIRST.replace('print("end", result.outcome, result.scores, flush=True)', "1 / 0"))
    game = client.game()
    codec.read_ready(game.receive())
    game.send(codec.end_message(GameEnd("void", (), ())))
    assert game.failure() == (grpc.StatusCode.UNKNOWN, "ZeroDivisionError: division by zero")
    exit_code, _, err = client.output()
    assert exit_code == 1
    assert ", in end" in err


@pytest.mark.parametrize(("value", "shown"), [("'R'", "'R'"), ("None", "None"), ("'y' * 10**6", "'yyy")])
def test_an_answer_that_is_no_move_is_a_type_error_that_names_it(
    bot: Callable[..., Client], value: str, shown: str
) -> None:
    game = bot(choosing(f"return {value}")).game()
    game.ask()
    _, details = game.failure()
    says = "TypeError: First.choose: expected a Move, one of view.legal_moves, got "
    assert details.startswith(says + shown)
    assert len(details) <= 300


def test_a_referee_that_hangs_up_ends_the_game_and_not_the_bot(bot: Callable[..., Client]) -> None:
    client = bot(FIRST)
    given_up = client.game(name="given up")
    given_up.ask()
    given_up.receive()
    given_up.call.cancel()  # type: ignore[no-untyped-call]  # so the stubs have it
    half_closed = client.game(name="half closed")
    codec.read_ready(half_closed.receive())
    half_closed.hang_up()
    assert half_closed.rest() == []
    client.game(name="played").play()
    client.process.terminate()
    _, out, err = client.output()
    assert [line for line in out.splitlines() if line.startswith("end")] == [out.splitlines()[-1]]
    assert err == ""


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (RefereeMessage(), "expected Start, got an empty message"),
        (codec.end_message(GameEnd("void", (), ())), "expected Start, got End"),
    ],
)
def test_a_referee_that_breaks_the_protocol_is_told_and_the_bot_lives_on(
    bot: Callable[..., Client], message: RefereeMessage, says: str
) -> None:
    client = bot(FIRST)
    broken = client.stream()
    broken.send(message)
    code, details = broken.failure()
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert details == f"treelings.errors.ProtocolError: {says}"
    client.game().play()


PING, ACK = 6, 1


def frames(data: bytes) -> Iterator[tuple[int, int]]:
    """Kind and flags of each frame of HTTP/2 (RFC 9113, Frame Format)."""
    at = 0
    while at < len(data):
        yield data[at + 3], data[at + 4]
        at += 9 + int.from_bytes(data[at : at + 3], "big")


class Tap:
    """Passes one connection on to a bot's socket, and keeps what the bot has sent once both ends have hung up."""

    def __init__(self, at: Path, bot: Path) -> None:
        self.sent = bytearray()
        self._bot = str(bot)
        self._listener = socket_module.socket(socket_module.AF_UNIX)
        self._listener.bind(str(at))
        self._listener.listen()
        self._thread = threading.Thread(target=self._pass_on)

    def __enter__(self) -> "Tap":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        self._listener.close()

    def _pass_on(self) -> None:
        referee, _ = self._listener.accept()
        with referee, socket_module.socket(socket_module.AF_UNIX) as bot:
            while bot.connect_ex(self._bot) != 0:
                time.sleep(0.02)
            there = threading.Thread(target=self._copy, args=(referee, bot, bytearray()))
            there.start()
            self._copy(bot, referee, self.sent)
            there.join()

    @staticmethod
    def _copy(source: socket_module.socket, target: socket_module.socket, kept: bytearray) -> None:
        with suppress(OSError):  # one of them has hung up
            while data := source.recv(65_536):
                kept += data
                target.sendall(data)
            target.shutdown(socket_module.SHUT_WR)


def run(source: str, socket: str | None, listen: str | None = None) -> "subprocess.CompletedProcess[str]":
    env = {name: value for name, value in os.environ.items() if name not in ("TREELINGS_SOCKET", "TREELINGS_LISTEN")}
    if socket is not None:
        env["TREELINGS_SOCKET"] = socket
    if listen is not None:
        env["TREELINGS_LISTEN"] = listen
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)], env=env, capture_output=True, text=True, timeout=PATIENCE_S,
        check=False,
    )  # fmt: skip


def test_a_bot_started_by_hand_says_how_it_is_meant_to_be_run() -> None:
    result = run(FIRST, None)
    assert result.returncode == 1
    assert "this is run by the referee" in result.stderr
    assert "treelings match FOLDER random" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_socket_that_cannot_be_bound_is_named(tmp_path: Path) -> None:
    result = run(FIRST, str(tmp_path / "absent" / "bot.sock"))
    assert result.returncode == 1
    assert result.stderr.startswith(f"TREELINGS_SOCKET={tmp_path}/absent/bot.sock: cannot listen there: ")
    assert "Traceback" not in result.stderr


def test_a_port_that_cannot_be_listened_on_is_named(tmp_path: Path) -> None:
    with socket_module.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        result = run(FIRST, str(tmp_path / "bot.sock"), listen)
    assert result.returncode == 1
    assert result.stderr.startswith(f"TREELINGS_LISTEN={listen}: cannot listen there: ")
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "bot.sock").exists()


def test_an_instance_in_place_of_a_class_is_refused(tmp_path: Path) -> None:
    result = run(FIRST.replace("serve(First)", "serve(First())"), str(tmp_path / "bot.sock"))
    assert "TypeError: serve: expected a subclass of treelings.Bot (the class, no instance), got <" in result.stderr


def test_to_serve_a_bot_loads_no_grpc() -> None:
    assert run("import sys, treelings.server; print('grpc' in sys.modules)", None).stdout == "False\n"
