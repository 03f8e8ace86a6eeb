"""A TCP port of this machine that no other test is given meanwhile."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def own_port() -> Iterator[int]:
    """A port of the loopback that nobody listens on: bound here, so that nobody else gets it by chance.

    Whoever sets SO_REUSEADDR, as servers do, can listen there nevertheless.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        port: int = holder.getsockname()[1]
        yield port
