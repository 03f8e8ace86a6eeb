from collections.abc import Iterator

import grpc
from wire import READY, queries, reply, serve


def play(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
    yield READY
    for query in queries(requests):
        yield reply(query.turn, "\x1b[2J\x00\u202e<script>alert(1)</script>\r\n")


serve(play)
