from collections.abc import Iterator

import grpc
from wire import READY, serve


def play(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
    context.send_initial_metadata(tuple((f"x-{at}", "y" * 1_000) for at in range(200)))
    for _ in requests:
        yield READY


serve(play)
