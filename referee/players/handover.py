"""Open files that a peer hands over with its bytes, as Unix sockets let it: nobody here wants any.

Whoever is handed one has to close it, and that takes as long as its maker likes: a file without a name may hold all the
memory that a bot may have, a socket thousands of unread messages, and a single message hands over 253 of them. The
kernel does it in the time of the thread that reads, or that closes the connection: half a second of the event loop,
in which every clock stands still.
"""

import asyncio
import socket
from contextlib import suppress
from typing import Final

_SO_PASSRIGHTS: Final = 83  # Linux 6.16 and newer; Python has no name for it


def refuse(connection: socket.socket) -> None:
    """Have the kernel refuse them to the peer, where it can; before the connection is made."""
    with suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, _SO_PASSRIGHTS, 0)


def may_come(connection: socket.socket) -> bool:
    """Whether the kernel lets them through."""
    if connection.family != socket.AF_UNIX:
        return False
    try:
        return connection.getsockopt(socket.SOL_SOCKET, _SO_PASSRIGHTS) != 0
    except OSError:
        return True


def look(connection: socket.socket, buffer: memoryview) -> int | None:
    """How many bytes can be read of which none comes with a file; None if a file is next.

    Whatever comes later may bring one: read no more than so many. 0 at the end. Raises OSError as reading does.
    """
    count, _, flags, _ = connection.recvmsg_into([buffer], 0, socket.MSG_PEEK)
    return None if flags & socket.MSG_CTRUNC else count


def hang_up(connection: socket.socket) -> None:
    """Close the connection; in a thread, where files may lie in what was not read."""
    if may_come(connection) and _unread(connection):
        asyncio.get_running_loop().run_in_executor(None, connection.close)
    else:
        connection.close()


def _unread(connection: socket.socket) -> bool:
    try:
        return bool(connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
    except OSError:
        return False
