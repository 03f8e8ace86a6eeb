"""gRPC without the kit's server: a bot says what bytes it likes, when it likes.

Copied into each hostile submission; needs nothing but the kit.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import grpc

from treelings import codec
from treelings.v1.game_pb2 import BotMessage, Query, RefereeMessage

Play = Callable[[Iterator[bytes], grpc.ServicerContext], Iterator[bytes]]
"""One game: the bytes of each message that the bot sends."""

READY: Final = codec.ready_message().SerializeToString()


def reply(turn: int, move: str) -> bytes:
    """The bytes of a reply."""
    message = BotMessage()
    message.reply.turn = turn
    message.reply.move = move
    return message.SerializeToString()


def first(query: Query) -> bytes:
    """An honest reply: the first legal move."""
    return reply(query.turn, query.legal[0])


def queries(requests: Iterator[bytes]) -> Iterator[Query]:
    """The queries among what the referee says."""
    for data in requests:
        message = RefereeMessage.FromString(data)
        if message.HasField("query"):
            yield message.query


def serve(
    play: Play,
    *,
    method: str = codec.METHOD,
    options: Sequence[tuple[str, int]] = (),
    compression: grpc.Compression = grpc.Compression.NoCompression,
) -> None:
    """Serve games for ever."""
    server = grpc.server(ThreadPoolExecutor(4), options=options, compression=compression)
    handlers = {method: grpc.stream_stream_rpc_method_handler(play)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(codec.SERVICE, handlers),))
    server.add_insecure_port("unix:" + os.environ["TREELINGS_SOCKET"])
    Path(os.environ["TREELINGS_SOCKET"]).chmod(0o666)
    server.start()
    server.wait_for_termination()
