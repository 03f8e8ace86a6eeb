"""A port of this machine for a bot that is told where to listen."""

import os
import socket
from pathlib import Path
from typing import Final

_FIRST: Final = 10_000
_MANY: Final = 20_000
_GIVEN_AWAY: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")


def own_port() -> int:
    """A port that is free now, and that the system gives to nobody who asks for any, if there is such a one.

    Tests run in several processes, so that each begins to look elsewhere.
    """
    given = range(*map(int, _GIVEN_AWAY.read_text().split())) if _GIVEN_AWAY.exists() else range(32_768, 65_536)
    ports = [_FIRST + (os.getpid() + number) % _MANY for number in range(_MANY)]
    for port in sorted(ports, key=lambda port: port in given):
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue  # somebody listens there
        return port
    raise AssertionError(f"no port is free from {_FIRST} to {_FIRST + _MANY}")
