"""The sample bot `random` behind a plain grpcio server: one call answers one message, as the kit's stream would."""

import os
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc

import treelings
from treelings import told, wire


class RandomBot(treelings.Bot):
    """As sample_bots/random has it."""

    def start(self, game: treelings.GameStart) -> None:
        """Seeded with the game's name."""
        self._rng = random.Random(f"{game.game}/{game.seat}")

    def choose(self, view: treelings.View) -> treelings.Move:
        """Any legal move."""
        return self._rng.choice(view.legal_moves)


class Games:
    """One game after the other."""

    def answer(self, request: bytes, _: grpc.ServicerContext) -> bytes:
        """Ready for a Start, a Reply for a Query."""
        message = wire.read_referee(request)
        if isinstance(message, wire.Start):
            self._game = told.read_start(message)
            self._history: tuple[treelings.Move, ...] = ()
            self._bot = RandomBot()
            self._bot.start(self._game)
            return wire.ready()
        game = self._game
        view = told.read_query(message, game.seat, game.players, game.refill, self._history)
        self._history = view.history
        return wire.reply(view.turn, self._bot.choose(view).notation)


if __name__ == "__main__":
    server = grpc.server(ThreadPoolExecutor(max_workers=1))
    handlers = {"Answer": grpc.unary_unary_rpc_method_handler(Games().answer)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(wire.SERVICE, handlers),))
    server.add_insecure_port("unix:" + os.environ["TREELINGS_SOCKET"])
    Path(os.environ["TREELINGS_SOCKET"]).chmod(0o666)
    server.start()
    server.wait_for_termination()
