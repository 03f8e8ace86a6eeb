import time
from collections.abc import Iterator

import grpc
from wire import READY, first, queries, serve


def play(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
    yield READY
    for query in queries(requests):
        yield first(query)
    time.sleep(600)


serve(play)
