from collections.abc import Iterator

import grpc
from wire import serve

from treelings.v1.game_pb2 import BotMessage


def play(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
    message = BotMessage()
    message.ready.protocol = 99
    for _ in requests:
        yield message.SerializeToString()


serve(play)
