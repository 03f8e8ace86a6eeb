import os
import sys
from collections.abc import Iterator

import grpc
from wire import READY, queries, serve


def play(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
    yield READY
    for _ in queries(requests):
        print("referee.errors.EngineGone: the Docker engine does not answer", file=sys.stderr, flush=True)
        os._exit(1)


serve(play)
