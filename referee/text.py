"""Showing hostile text: bounded, and with nothing in it that acts on a terminal or a page."""

from collections.abc import Iterator
from typing import Final
from unicodedata import category

CUT: Final = "…"

_STACKED: Final = ("Mn", "Me")  # marks that take no room of their own
_MOST_STACKED: Final = 4  # on one character, as no script needs more


def printable(text: str, limit: int) -> str:
    """The text with every character that is not printable escaped, in at most `limit` characters.

    Escaped are controls (also line breaks and terminal codes), bidirectional marks, lone surrogates and
    whatever else Unicode does not call printable, and accents piled up so high that they would reach into other
    lines. Text that was cut ends with "…".
    """
    if len(text) <= limit and text.isascii() and text.isprintable():  # as most are
        return text
    shown: list[str] = []
    room = limit
    for piece in _pieces(text[: limit + 1]):
        shown.append(piece)
        room -= len(piece)
        if room < 0:
            break
    else:
        return "".join(shown)
    while shown and room < len(CUT):
        room += len(shown.pop())
    return "".join(shown) + CUT


def visible(text: str) -> str:
    """The whole text with the same characters escaped, but for line ends."""
    return "\n".join(map(_visible_line, text.split("\n")))


def _visible_line(text: str) -> str:
    return text if text.isascii() and text.isprintable() else "".join(_pieces(text))


def _pieces(text: str) -> Iterator[str]:
    """Each character, as it is or escaped."""
    stacked = 0
    for char in text:
        stacked = stacked + 1 if category(char) in _STACKED else 0
        good = char.isprintable() and stacked <= _MOST_STACKED
        yield char if good else char.encode("unicode_escape").decode("ascii")
