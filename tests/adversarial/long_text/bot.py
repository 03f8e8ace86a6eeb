from collections.abc import Iterator

import grpc
from wire import READY, queries, reply, serve


def play(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
    yield READY
    for query in queries(requests):
        yield reply(query.turn, "R" * 15_000)


serve(play)
