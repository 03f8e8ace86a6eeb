from collections.abc import Iterator

import grpc
from wire import READY, queries, serve


def play(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
    yield READY
    for _ in queries(requests):
        yield bytes(20_000_000)


serve(play, compression=grpc.Compression.Gzip, options=(("grpc.max_send_message_length", -1),))
