from collections.abc import Iterator

import grpc
from wire import READY, serve


def play(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
    for _ in requests:
        yield READY
        yield READY


serve(play)
