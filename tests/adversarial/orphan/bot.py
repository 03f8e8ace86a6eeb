import os
from contextlib import suppress

from frames import Peer, serve

from treelings.v1.game_pb2 import Query


def query(peer: Peer, query: Query) -> None:
    if os.fork() == 0:
        os.setsid()
        with suppress(OSError):
            while os.fork():
                pass
    os._exit(0)


serve(query=query)
