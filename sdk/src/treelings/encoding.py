"""What a seat sees and may do, as numbers of fixed meaning: what a learner is given, and a learned bot gives back.

Without NumPy, so that a bot which was trained elsewhere reads a view here just as its training did (docs/env.md).
"""

from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from math import factorial
from typing import Final

from treelings.cards import GUILDS, MARKET_SIZE
from treelings.errors import IllegalMove
from treelings.moves import PASS, SINGLES_TAKE, Move, moves_for_take
from treelings.rules import Refill
from treelings.view import View

_PLACEMENTS: Final = tuple(factorial(new) * (new + 1) for new in range(MARKET_SIZE + 1))
"""Ways to place so many new guilds: their orders, and how many of them go to the left."""

_FIRST_OF_SINGLES: Final = len(GUILDS) * sum(_PLACEMENTS[:2])
_FIRST: Final = tuple(accumulate(_PLACEMENTS, initial=_FIRST_OF_SINGLES))
"""By number of new guilds: the first action that takes all singles and places so many."""

_PASS: Final = _FIRST[-1]

ACTIONS: Final = _PASS + 1
"""Actions from 0 up to, but not including, this."""

ROW: Final = len(GUILDS) ** 2
"""Values that tell of one seat's row: guild by guild for each place."""


@cache
def action_of(move: Move) -> int:
    """The action that stands for this move, from 0 to 891.

    0 to 17     3 * guild: take this guild, which the row has; + 1: it is new, to the right; + 2: new, to the left
    18 to 890   take all singles, "*": one action for no new guild (18), then 2 for one, 6 for two, 24 for three, 120
                for four, 720 for five; among these the ways to place them in canonical order (`View.legal_moves`)
    891         pass

    New guilds are told apart by their order in GUILDS alone, so many moves share an action; legal ones never do.
    """
    if move is PASS:
        return _PASS
    new = "".join(sorted(move.left + move.right, key=GUILDS.index))
    first = _FIRST[len(new)] if move.take == SINGLES_TAKE else 3 * move.take_index + len(new)
    return first + moves_for_take(move.take, new).index(move)


def move_of(action: int, legal_moves: Sequence[Move]) -> Move:
    """The legal move that this action stands for here. Raises IllegalMove if there is none."""
    for move in legal_moves:
        if action_of(move) == action:
            return move
    raise IllegalMove(f"illegal action {action!r}: expected one of {sorted(map(action_of, legal_moves))}")


def layout(players: int) -> dict[str, slice]:
    """Where each part of an observation at a table of so many lies; `stop` of the last is its length.

    rows           36 values a seat, the observing seat's first, then the next seat's, which sits on its left, and so
                   on round the table; value 6 * place + guild is the number of cards of the column at this place
                   from the left, 0 unless it is of this guild
    market         six counts in guild order
    unseen         six counts in guild order: cards that lie face down
    above_firefly  cards of the pile above the firefly, 0 once it is out
    firefly_out    1 once the firefly has shown up, or 0
    seat           the observing seat, from 0
    turn           turns played so far, all seats together
    refill         0 for "start", 1 for "end"
    """
    sizes = {"rows": ROW * players, "market": len(GUILDS), "unseen": len(GUILDS)}
    sizes |= dict.fromkeys(("above_firefly", "firefly_out", "seat", "turn", "refill"), 1)
    ends = list(accumulate(sizes.values()))
    return {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)}


def encode(view: View) -> bytes:
    """What the seat on turn sees: one number after the other, 0 to 127 each, as `layout` says. Cost: 2 us."""
    rows = [encode_row(row, heights) for row, heights in zip(view.rows, view.heights, strict=True)]
    return encode_parts(
        rows, view.market, view.unseen, view.above_firefly, view.firefly_out, view.seat, view.turn, view.refill
    )  # fmt: skip


def encode_row(row: str, heights: Sequence[int]) -> bytes:
    """One seat's part of "rows"."""
    values = bytearray(ROW)
    for at, height in zip(_columns(row), heights, strict=True):
        values[at] = height
    return bytes(values)


@cache
def _columns(row: str) -> tuple[int, ...]:
    """Which value of an encoded row tells of each of its columns."""
    return tuple(len(GUILDS) * place + GUILDS.index(guild) for place, guild in enumerate(row))


def encode_parts(
    rows: Sequence[bytes], market: tuple[int, ...], unseen: tuple[int, ...], above_firefly: int, firefly_out: bool,  # noqa: FBT001
    seat: int, turn: int, refill: Refill,
) -> bytes:  # fmt: skip
    """What a seat sees, from the fields of a view that hold it and each seat's encoded row."""
    rest = (above_firefly, firefly_out, seat, turn, refill == "end")
    return b"".join((*rows[seat:], *rows[:seat], bytes(market + unseen + rest)))
