"""Moves and their notation (rules.md, A turn; Notation of moves).

There are 6722 moves in all, so each exists once: moves compare by identity and a position's legal moves
are shared between all positions that offer the same choice.
"""

import re
from functools import cache
from itertools import permutations
from typing import Final

from treelings.cards import GUILDS
from treelings.errors import NotationError

PASS_TAKE: Final = "-"
SINGLES_TAKE: Final = "*"

_FORM: Final = re.compile(r"(-)|([ROYGBP*])(?:<([ROYGBP]+))?(?:>([ROYGBP]+))?")
_LONGEST: Final = len("*<ROYGB>P")  # no more than five new guilds can come at once


class Move:
    """What to take and where new guilds go. Get one from `legal_moves` or `Move.parse`.

    take   a guild's letter, "*" for all guilds that lie in the market exactly once, "-" for a pass
    left   guilds placed at the left end, first placed first (it stands nearest to the old row)
    right  guilds placed at the right end, likewise
    """

    __slots__ = ("left", "new_mask", "notation", "right", "take", "take_index")

    take: Final[str]
    left: Final[str]
    right: Final[str]
    notation: Final[str]
    new_mask: Final[int]  # bit g set: guild g becomes a new column
    take_index: Final[int]  # 0 to 5: that guild; 6: all singles; 7: pass

    def __init__(self, take: str, left: str, right: str) -> None:
        self.take = take
        self.left = left
        self.right = right
        self.notation = take + ("<" + left if left else "") + (">" + right if right else "")
        self.new_mask = sum(1 << GUILDS.index(guild) for guild in left + right)
        self.take_index = (GUILDS + SINGLES_TAKE + PASS_TAKE).index(take)

    def __str__(self) -> str:
        return self.notation

    def __repr__(self) -> str:
        return f"Move({self.notation!r})"

    def __reduce__(self) -> tuple[object, tuple[str, str, str]]:
        return _move, (self.take, self.left, self.right)

    @staticmethod
    def parse(text: str) -> "Move":
        """The move that the text writes down, legal somewhere or nowhere.

        Raises NotationError if the text is not in the notation.
        """
        form = _FORM.fullmatch(text) if len(text) <= _LONGEST else None
        if form is None:
            raise NotationError(f"not a move: {text[:40]!r}; expected a form like R, R<R, *<BP>G or -")
        passing, take, left, right = form.groups(default="")
        if len(set(left + right)) != len(left + right):
            raise NotationError(f"not a move: {text!r}; a guild is placed twice")
        if take in GUILDS and take and (left + right) not in ("", take):
            raise NotationError(f"not a move: {text!r}; taking {take} brings no other guild")
        return _move(passing or take, left, right)


@cache
def _move(take: str, left: str, right: str) -> Move:
    return Move(take, left, right)


PASS: Final = _move(PASS_TAKE, "", "")


@cache
def moves_for_take(take: str, new: str) -> tuple[Move, ...]:
    """All moves with this take in canonical order, for the new guilds given in guild order.

    Canonical order: everything to the right in guild order comes first; then by how many guilds go to
    the left, then by the notation's guilds.
    """
    moves = [
        _move(take, "".join(order[:cut]), "".join(order[cut:]))
        for cut in range(len(new) + 1)
        for order in permutations(new)
    ]
    return tuple(moves)
