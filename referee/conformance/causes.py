"""Which steps of a run went wrong in the same way, as far as what came tells: one mistake shows in many corners."""

import re
from typing import Final

_TELLING: Final = re.compile(
    r"\bstatus (?!OK\b)[A-Z_]+(?:: (?:[^()]|\([^()]*\)){0,60})?|\bRe(?:ply|ady)\.\w+|illegal move|not a move"
)
"""What says enough whatever was expected: a status and its message, the field that is wrong, a move that is none.

A message may hold brackets of its own, and stand in some: those around it are no part of it.
"""

_LATE: Final = re.compile(r" after [\d,]+ ms$|^timeout: ")
_WHERE: Final = re.compile(r" with | within |, ")  # what is expected in all corners, before what is so in this one
_NUMBER: Final = re.compile(r"\d[\d,]*")


def cause(expected: str, got: str) -> str:
    """A text that two mistakes have in common if they seem to be the same one; not for people."""
    if (telling := _TELLING.search(got)) is not None:
        return _NUMBER.sub("0", telling[0])
    if _LATE.search(got):
        return "late Ready" if expected.startswith("Ready") else "late"
    return _NUMBER.sub("0", f"{_WHERE.split(expected)[0]}: {got}")
