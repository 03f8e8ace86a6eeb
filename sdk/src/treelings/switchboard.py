"""Where a bot listens, and all who call there: one thread, which waits for whatever comes of any of them.

While the bot thinks nobody is listened to: what comes waits in the kernel.
"""

import errno
import os
import select
import socket
import stat
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final

from treelings.calls import Call, Session

_BUFFER_BYTES: Final = 16 * 1024
_MOST_UNSENT: Final = 1024 * 1024  # bytes that wait for a peer that asks, with pings, and never reads
_BACKLOG: Final = 16
_WITHOUT_FILES_S: Final = 0.05
_LACKING: Final = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)  # of an address that is none of this machine's


class Hangup(Exception):
    """The peer has given up the call, or is gone."""


def listen_at(path: str) -> list[socket.socket]:
    """Listen on a Unix socket that anybody may connect to. Raises OSError."""
    if os.path.exists(path) and stat.S_ISSOCK(os.lstat(path).st_mode):  # noqa: PTH110 - pathlib takes 5 ms to import
        os.unlink(path)  # noqa: PTH108 - of a process before this one
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    # The referee may be another user; who can reach the folder is for the referee to say.
    os.chmod(path, 0o666)  # noqa: PTH101, S103
    listener.listen(_BACKLOG)
    return [listener]


def listen_on(
    host: str, port: int, resolve: Callable[..., Iterable[tuple[Any, ...]]] = socket.getaddrinfo
) -> list[socket.socket]:
    """Listen on every address that the host's name stands for; port 0: any that is free.

    On all of them or on none: whoever calls by that name is free to try any. Only one that this machine does not have,
    such as ::1 where there is no IPv6, is passed over. Raises OSError, whose `strerror` names the address if the host
    does not.
    """
    listeners: list[socket.socket] = []
    lacking: OSError | None = None
    found = resolve(host, port, type=socket.SOCK_STREAM)
    for family, address in dict.fromkeys((family, address) for family, *_, address in found):
        try:
            listener = _listener(family, address, listeners[0].getsockname()[1] if listeners else port)
        except OSError as error:
            named = error if address[0] == host else OSError(error.errno, f"{error.strerror} ({address[0]})")
            if error.errno not in _LACKING:
                for each in listeners:
                    each.close()
                raise named from None
            lacking = lacking or named
        else:
            listeners.append(listener)
    if not listeners:
        assert lacking is not None, "a name stands for one address or more"
        raise lacking
    return listeners


def _listener(family: int, address: tuple[str | int, ...], port: int) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listener.bind((address[0], port, *address[2:]))
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


class Switchboard:
    """All connections, and the calls that wait to be taken."""

    def __init__(self, listeners: list[socket.socket], path: str) -> None:
        self._path = path
        self._poll = select.poll()
        self._lines: dict[int, _Line] = {}
        self._listeners = {listener.fileno(): listener for listener in listeners}
        self._calls: deque[Call] = deque()
        self._buffer = memoryview(bytearray(_BUFFER_BYTES))
        for listener in listeners:
            listener.settimeout(0)
            self._poll.register(listener, select.POLLIN)

    def next_call(self) -> Call:
        """The call that has waited longest; waits for one."""
        while True:
            while self._calls:
                call = self._calls.popleft()
                if not call.gone:
                    return call
            self._wait(None)

    def read(self, call: Call) -> bytes | None:
        """The next message of a call; None where the peer says no more. Raises Hangup."""
        while True:
            if call.gone:
                raise Hangup
            if call.messages:
                return call.read()
            if call.left or call.over:
                return None
            self._wait(None)

    def farewell(self, call: Call, others: str, patience_s: float) -> None:
        """Wait until the peer has been sent all of a call that is over; all others end, as unavailable."""
        for other in self._calls:
            other.end("UNAVAILABLE", others)
        latest = time.monotonic() + patience_s
        while not (call.told and all(line.sent for line in self._lines.values())):
            left_s = latest - time.monotonic()
            if left_s <= 0:
                return
            self._wait(left_s)

    def _wait(self, seconds: float | None) -> None:
        """Wait for anything to come, and take it."""
        for number, event in self._poll.poll(None if seconds is None else seconds * 1000):
            if number in self._listeners:
                self._accept(self._listeners[number])
            elif number in self._lines:
                line = self._lines[number]
                if event & select.POLLOUT:
                    line.go_on()
                if event & ~select.POLLOUT:
                    line.receive(self._buffer)
                if line.closed:
                    del self._lines[number]

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection, _ = listener.accept()
        except (BlockingIOError, ConnectionError):
            return  # who called is gone
        except OSError:
            time.sleep(_WITHOUT_FILES_S)  # the bot has opened all files that it may
            return
        connection.settimeout(0)
        if connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._lines[connection.fileno()] = _Line(connection, self._poll, self._path, self._called)

    def _called(self, call: Call) -> None:
        """Another call waits. Those that were given up do not: they would be kept for as long as a game takes."""
        self._calls = deque(each for each in self._calls if not each.gone)
        self._calls.append(call)


class _Line:
    """One connection."""

    def __init__(self, connection: socket.socket, poll: select.poll, path: str, called: Callable[[Call], None]) -> None:
        self._connection = connection
        self._poll = poll
        self._unsent = bytearray()  # what the peer has not taken yet
        self.closed = False
        poll.register(connection, select.POLLIN)
        self._session = Session(path, self._send, called)

    @property
    def sent(self) -> bool:
        """Whether nothing waits to be sent."""
        return not self._unsent

    def receive(self, buffer: memoryview) -> None:
        """Take what has come."""
        try:
            count = self._connection.recv_into(buffer)
        except BlockingIOError:
            return
        except OSError:  # it has been reset
            count = 0
        if not count or not self._session.receive(buffer[:count]) or len(self._unsent) > _MOST_UNSENT:
            self._close()

    def go_on(self) -> None:
        """Send what waited."""
        del self._unsent[: self._try(self._unsent)]
        if not self._unsent:
            self._poll.modify(self._connection, select.POLLIN)

    def _send(self, data: bytes) -> None:
        if self._unsent:
            self._unsent += data
            return
        sent = self._try(data)
        if sent < len(data):
            self._unsent += data[sent:]
            self._poll.modify(self._connection, select.POLLIN | select.POLLOUT)

    def _try(self, data: bytes | bytearray) -> int:
        """Send as much as the peer takes now; all is lost on one that is gone, of which reading tells."""
        try:
            return self._connection.send(data)
        except BlockingIOError:
            return 0
        except OSError:
            return len(data)

    def _close(self) -> None:
        self.closed = True
        self._session.lose()
        self._poll.unregister(self._connection)
        self._connection.close()
