from collections.abc import Iterator

import grpc
from wire import READY, first, queries, serve


def play(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
    yield READY
    for query in queries(requests):
        yield first(query) + b"\x7a\x80\x10" + bytes(2048)


serve(play)
