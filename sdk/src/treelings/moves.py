"""Moves and their notation (rules.md, A turn; Notation of moves).

There are 6722 moves in all, so each exists once: moves compare by identity, and positions that offer the
same choice share them.
"""

import re
from functools import cache
from itertools import permutations
from typing import Final, final

from treelings.cards import GUILDS
from treelings.errors import NotationError

PASS_TAKE: Final = "-"
SINGLES_TAKE: Final = "*"
TAKES: Final = GUILDS + SINGLES_TAKE + PASS_TAKE
"""Every take; a take's number (`Move.take_index`) is its index here."""

_FORM: Final = re.compile(r"(-|[ROYGBP*])(?:<([ROYGBP]+))?(?:>([ROYGBP]+))?")
_LONGEST: Final = len("*<ROY>GB")  # no more than five new guilds can come at once
_SHOWN: Final = 40


@final
class Move:
    """What to take and where new guilds go. Get one from `legal_moves` or `Move.parse`; there is no other way.

    take      a guild's letter, "*" for all guilds that lie in the market exactly once, "-" for a pass
    left      guilds placed at the left end, first placed first (it stands nearest to the old row)
    right     guilds placed at the right end, likewise
    notation  the move as text, e.g. "*<BP>G"; `str(move)` is the same

    For lookups by number: `take_index` is the take's index in TAKES, `new_mask` has bit g set where guild g
    becomes a new column, and `left_end` is `left` as it reads in the row, outermost first.
    """

    __slots__ = ("left", "left_end", "new_mask", "notation", "right", "take", "take_index")

    take: str
    left: str
    right: str
    notation: str
    take_index: int
    new_mask: int
    left_end: str

    def __init__(self, take: str, left: str = "", right: str = "", _maker: object = None) -> None:
        """Raises TypeError for everybody but Move.parse: a second move like the first would equal nothing."""
        if _maker is not _MOVES:
            raise TypeError("each Move exists once: get it from legal_moves or by Move.parse, e.g. Move.parse('R<R')")
        new = left + right
        self.take = take
        self.left = left
        self.right = right
        self.notation = take + (f"<{left}" if left else "") + (f">{right}" if right else "")
        self.take_index = TAKES.index(take)
        self.new_mask = sum(1 << GUILDS.index(guild) for guild in new)
        self.left_end = left[::-1]

    def __str__(self) -> str:
        return self.notation

    def __repr__(self) -> str:
        return f"<Move {self.notation}>"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Move.parse, (self.notation,)  # so pickle, copy and deepcopy give this very move

    @staticmethod
    def parse(text: str) -> "Move":
        """The move that the text writes down, legal somewhere or nowhere.

        Raises NotationError if the text is not in the notation; its message is bounded, whatever the text.
        """
        if len(text) > _LONGEST:  # first, so that a megabyte of garbage is never even hashed
            raise NotationError(f"not a move: {len(text)} characters, {quoted(text)}; expected {_LONGEST} at most")
        move = _MOVES.get(text)
        if move is None:
            move = _MOVES[text] = _read(text)
        return move


_MOVES: Final[dict[str, Move]] = {}


def _read(text: str) -> Move:
    form = _FORM.fullmatch(text)
    if form is None:
        raise NotationError(f"not a move: {quoted(text)}; expected a form like R, R<R, *<BP>G or -")
    take, left, right = form.groups(default="")
    new = left + right
    if take == PASS_TAKE and new:
        raise NotationError(f"not a move: {quoted(text)}; a pass places nothing")
    if len(set(new)) != len(new):
        raise NotationError(f"not a move: {quoted(text)}; expected each new guild once behind < or >")
    if take in GUILDS and new not in ("", take):
        raise NotationError(f"not a move: {quoted(text)}; taking {take} brings no other guild than {take}")
    return Move(take, left, right, _MOVES)


PASS: Final = Move.parse(PASS_TAKE)


@cache
def moves_for_take(take: str, new: str) -> tuple[Move, ...]:
    """All moves with this take in canonical order, for the new guilds given in guild order.

    Canonical order: fewer guilds to the left come first; among equals, the order of the guilds behind "<"
    and then behind ">". So the first puts every new guild to the right in guild order (records.md, Faults).
    """
    return tuple(
        Move.parse(take + (f"<{''.join(order[:cut])}" if cut else "") + (f">{right}" if right else ""))
        for cut in range(len(new) + 1)
        for order in permutations(new)
        for right in ["".join(order[cut:])]
    )


def quoted(text: str) -> str:
    """Foreign text, fit to stand in a message: ASCII, control characters escaped, cut at 40 characters."""
    shown = ascii(text[:_SHOWN])
    return shown if len(text) <= _SHOWN and len(shown) <= _SHOWN + 2 else f"{shown[: _SHOWN + 1]}…{shown[0]}"
