"""What `--attach NAME=HOST:PORT` says, and `--protocol HOST:PORT`: where a bot listens that its author runs."""

import ipaddress
import re
from collections.abc import Iterable

import typer

from referee.players.attached import HostPort
from referee.submissions import check_name
from referee.text import printable

_SHOWN = 100
_PORTS = 2**16
_PLACE = re.compile(r"(?:\[(?P<six>[^]]+)\]|(?P<host>[\w-]{1,63}(?:\.[\w-]{1,63})*\.?)):(?P<port>\d{1,5})", re.ASCII)


def attached_bots(texts: Iterable[str]) -> dict[str, HostPort]:
    """Where the bots listen that are to be attached, by name. Raises BadParameter."""
    found: dict[str, HostPort] = {}
    for text in texts:
        given, _, where = text.partition("=")
        place = host_and_port(where)
        if place is None:
            raise typer.BadParameter(
                f"--attach: expected NAME=HOST:PORT, such as mybot=127.0.0.1:50051, got {printable(text, _SHOWN)!r}"
            )
        try:
            name = check_name(given)
        except ValueError as error:
            raise typer.BadParameter(f"--attach: name: {error}; got {printable(given, _SHOWN)!r}") from None
        if name in found:
            raise typer.BadParameter(f"--attach: expected different names, got {name} twice")
        found[name] = place
    return found


def host_and_port(text: str) -> HostPort | None:
    """Where somebody listens: "127.0.0.1:50051", "[::1]:50051"; None if the text does not say it so."""
    place = _PLACE.fullmatch(text)
    if place is None or not (_is_six(place["six"]) and 0 < int(place["port"]) < _PORTS):
        return None
    return place["six"] or place["host"], int(place["port"])


def _is_six(text: str | None) -> bool:
    """Whether this is an address of IPv6, if it is given."""
    try:
        return text is None or ipaddress.IPv6Address(text) is not None
    except ValueError:
        return False
