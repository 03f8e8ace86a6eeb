from collections.abc import Iterator

import grpc
from wire import READY, queries, serve


def play(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
    yield READY
    for _ in queries(requests):
        context.abort(grpc.StatusCode.INTERNAL, "A" * 60_000)


serve(play)
