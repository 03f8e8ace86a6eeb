"""One try to reach a bot: a connection whose other end is the bot's own, or in words why there is none.

A bot can put anything where it is to listen, and change it at any moment: a link to its neighbour's socket would get
the neighbour's answers credited to it (sandbox.md, Socket). So what lies there is pinned by a descriptor first,
looked at and connected to through that descriptor, and the kernel is asked whose process listens. The folder needs no
pin: it is closed to all but the bot, whose container has it mounted.
"""

import asyncio
import errno
import os
import socket
import stat
import struct
from pathlib import Path
from typing import Final

from referee.errors import SandboxError
from referee.players import handover
from referee.ports import RunningBot

PEERS_ARE_KNOWN: Final = hasattr(socket, "SO_PEERCRED")
"""Whether this system tells whose process is at the other end of a Unix socket; Linux does."""

_PINS: Final = Path("/proc/self/fd")
_CREDENTIALS: Final = struct.Struct("3i")  # pid, uid, gid
_OURS: Final = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS)
"""What fails for want of something of this machine; any other failure can be a bot's doing."""
_WHY: Final = {
    errno.ENOENT: "it is not there",
    errno.ECONNREFUSED: "it is there, but nobody listens",
    errno.EAGAIN: "it is there, but no caller is taken",
    errno.EACCES: "it is there, but others may not write to it (expected mode 0666)",
    errno.EPROTOTYPE: "it is there, but it is no stream socket",
}
_CALL_S: Final = 0.5
_HELLO_S: Final = 2.0  # a server speaks first, and does so at once unless its machine is busy
_LOOK_EVERY_S: Final = 0.005


async def dial(bot: RunningBot) -> socket.socket | str:
    """A connection to the bot, non-blocking; or why there is none, as the end of a sentence on its socket.

    Takes some microseconds for a Unix socket, and up to half a second for a port. Raises SandboxError.
    """
    try:
        if isinstance(bot.address, Path):
            return _dial_socket(bot.address, bot)
        return await _dial_port(bot.address)
    except OSError as error:
        if error.errno in _OURS:
            raise SandboxError(f"cannot call {bot.submission.name}: {error.strerror}") from error
        return _WHY.get(error.errno or 0) or f"{error.strerror}"


def peer_pid(connection: socket.socket) -> int:
    """The process at the other end of a Unix socket, for a caller the one that listened; 0 if it is out of sight."""
    pid: int = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))[0]
    return pid


def _dial_socket(path: Path, bot: RunningBot) -> socket.socket | str:
    if not (PEERS_ARE_KNOWN and _PINS.is_dir()):
        # Not on Linux, where bots are plain processes and nothing isolates them from each other anyway.
        return _not_a_socket(path.lstat().st_mode) or _call(str(path))
    pin = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        obstacle = _not_a_socket(os.fstat(pin).st_mode)
        if obstacle is not None:
            return obstacle
        connection = _call(f"{_PINS}/{pin}")
    finally:
        os.close(pin)
    pid = peer_pid(connection)
    if pid in (0, os.getpid()) or not bot.owns(pid):
        connection.close()
        return "expected the bot's own process to listen, got one of another"
    return connection


def _not_a_socket(mode: int) -> str | None:
    if stat.S_ISLNK(mode):
        return "what it put there is a link and no socket"
    return None if stat.S_ISSOCK(mode) else "what it put there is no socket"


def _call(path: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(0)
        handover.refuse(connection)
        connection.connect(path)
    except BaseException:
        connection.close()
        raise
    return connection


async def _dial_port(address: tuple[str, int]) -> socket.socket | str:
    connection = socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET, socket.SOCK_STREAM)
    try:
        connection.settimeout(0)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        async with asyncio.timeout(_CALL_S):
            await asyncio.get_running_loop().sock_connect(connection, address)
        if not await _stays(connection):
            connection.close()
            return _WHY[errno.ECONNREFUSED]
    except TimeoutError:
        connection.close()
        return _WHY[errno.EAGAIN]
    except BaseException:
        connection.close()
        raise
    return connection


async def _stays(connection: socket.socket) -> bool:
    """Whether the other end does not hang up at once.

    That is what an engine's own process does, which takes calls for a bot that does not listen yet. Most servers speak
    first, and then it is known at once.
    """
    loop = asyncio.get_running_loop()
    silent_until = loop.time() + _HELLO_S
    while loop.time() < silent_until:
        try:
            return bool(connection.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            await asyncio.sleep(_LOOK_EVERY_S)
    return True
