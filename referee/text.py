"""Showing hostile text: bounded, and with nothing in it that acts on a terminal or a page."""

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
    stacked = 0
    for char in text[: limit + 1]:
        stacked = stacked + 1 if category(char) in _STACKED else 0
        piece = char if char.isprintable() and stacked <= _MOST_STACKED else _escaped(char)
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
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char == "\n" else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
