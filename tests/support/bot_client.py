"""A referee of few words for one bot process: a real gRPC client that plays games by hand."""

import queue
import subprocess
import threading

import grpc
import pytest

from treelings import Clock, GameEnd, GameStart, Move, State, View, codec, derive_deck
from treelings.v1.game_pb2 import BotMessage, RefereeMessage

PATIENCE_S = 60.0  # never waited for by a test that passes
_CALLS_OFTEN = (
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 500),
)  # of a bot that starts

FIRST = """
    import treelings

    class First(treelings.Bot):
        def start(self, game): print("start", game.game, game.seat, flush=True)
        def choose(self, view): return view.legal_moves[0]
        def end(self, result): print("end", result.outcome, result.scores, flush=True)

    treelings.serve(First)
"""


def choosing(body: str) -> str:
    """A bot whose `choose` has this body."""
    return FIRST.replace("return view.legal_moves[0]", body)


class Client:
    """The referee's end of one bot process."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process = process
        self.address = address
        self.channel = grpc.insecure_channel(address, options=_CALLS_OFTEN)
        self.watchdog = threading.Timer(PATIENCE_S, process.kill)
        self.watchdog.start()
        self._games: list[Game] = []

    def stream(self) -> "Game":
        """A stream on which nothing was said yet."""
        self._games.append(Game(self.channel))
        return self._games[-1]

    def game(self, seat: int = 0, name: str = "game") -> "Game":
        game = self.stream()
        game.send(codec.start_message(GameStart(name, seat, 2, "start", Clock())))
        return game

    def output(self) -> tuple[int, str, str]:
        """Exit code, stdout and stderr once the process has ended."""
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out, err

    def close(self) -> None:
        """Hang up, in the middle of a game or not; the process stays."""
        self.channel.close()
        for game in self._games:
            game.hang_up()  # else a thread of gRPC would wait for ever for what it says next
        self.watchdog.cancel()

    def end(self) -> None:
        """Hang up, end the process and wait for that."""
        self.close()
        self.process.kill()
        self.process.communicate()


class Game:
    """One stream."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._sent: queue.SimpleQueue[RefereeMessage | None] = queue.SimpleQueue()
        play = channel.stream_stream(codec.PATH, RefereeMessage.SerializeToString, BotMessage.FromString)
        self.call = play(iter(self._sent.get, None), wait_for_ready=True, timeout=PATIENCE_S)
        self._answers = iter(self.call)

    def send(self, message: RefereeMessage) -> None:
        self._sent.put(message)

    def hang_up(self) -> None:
        self._sent.put(None)

    def receive(self) -> BotMessage:
        message: BotMessage = next(self._answers)
        return message

    def rest(self) -> list[BotMessage]:
        return list(self._answers)

    def play(self) -> State:
        """Ready, a whole game against the first legal move, End."""
        codec.read_ready(self.receive())
        state = State.deal(derive_deck(bytes(32), "demo/0"), 2)
        history: list[Move] = []
        told = 0
        while not state.over:
            move = state.legal_moves()[0]
            if state.seat == 0:
                self.send(codec.query_message(View.of(state, tuple(history)), told))
                told = len(history)
                move = state.parse(codec.read_reply(self.receive(), state.turn).move)
            history.append(move)
            state.play(move)
        self.send(codec.end_message(GameEnd("festival", (1, 2), state.scores())))
        assert self.rest() == []
        assert self.call.code() is grpc.StatusCode.OK
        return state

    def ask(self) -> None:
        """Ready, then the first query."""
        codec.read_ready(self.receive())
        self.send(codec.query_message(View.of(State.deal(derive_deck(bytes(32), "demo/0"), 2)), 0))

    def failure(self) -> tuple[grpc.StatusCode, str]:
        with pytest.raises(grpc.RpcError):
            self.receive()
        return self.call.code(), self.call.details()
