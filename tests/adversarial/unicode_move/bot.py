from collections.abc import Iterator

import grpc
from wire import READY, queries, reply, serve


def play(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
    yield READY
    for query in queries(requests):
        yield reply(
            query.turn, query.legal[0].translate(str.maketrans("ROYGBP", "\u0280\u041e\u03a5\uff27\u0412\u0420"))
        )


serve(play)
