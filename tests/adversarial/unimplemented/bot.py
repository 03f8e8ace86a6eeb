from collections.abc import Iterator

import grpc
from wire import READY, serve


def play(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
    yield READY


serve(play, method="Stop")
