from collections.abc import Iterator

import grpc
from wire import READY, first, queries, reply, serve


def play(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
    yield READY
    yield reply(7, "R")
    for query in queries(requests):
        yield first(query)


serve(play)
