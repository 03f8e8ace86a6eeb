from collections.abc import Iterator

import grpc
from wire import READY, queries, reply, serve


def play(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
    yield READY
    for query in queries(requests):
        missing = "ROYGBP"[list(query.market).index(0)]
        yield reply(query.turn, missing)


serve(play)
