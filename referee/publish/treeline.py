"""The final tables of a game drawn as one line of columns: the ring of all rows, cut open once.

Seats run from right to left, because the next seat sits on the left (rules.md, Seats): so columns that stand
side by side in the drawing are neighbours, and the two ends of the line are neighbours too.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from referee.text import printable
from treelings import GUILD_NAMES, GUILDS, State

COLUMN_WIDTH: Final = 20
CARD_HEIGHT: Final = 8
_GAP: Final = 3
_SEAT_GAP: Final = 26
_NARROWEST_SEAT: Final = (
    len(GUILDS) * (COLUMN_WIDTH + _GAP) - _GAP
)  # so that drawings of one deal stand seat below seat
_LETTER_WIDTH: Final = 8  # of a bot's name, which is written in letters of one width
_LONGEST_NAME: Final = 40
_MARGIN: Final = 12  # as a name may reach half the gap beyond its seat
_TOP: Final = 22  # above the highest column: its height, and the firefly of a column that scores
_BOTTOM: Final = 58  # below the ground: letters, then bots, then seats


class Column(NamedTuple):
    """A column; x and y in drawing units from the top left, `y` its top, `tall` from there to the ground."""

    x: int
    y: int
    tall: int
    guild: str
    height: int
    scores: bool


class Stand(NamedTuple):
    """A seat's stretch of ground from `x` for `wide` units, and its points in the game, if it has any.

    `label` is the name of its bot, cut to what fits there.
    """

    x: int
    wide: int
    seat: int
    label: str
    points: int | None


class Treeline(NamedTuple):
    """A drawing of `wide` by `tall` units; `words` says the same in a sentence."""

    wide: int
    tall: int
    ground: int
    columns: tuple[Column, ...]
    stands: tuple[Stand, ...]
    words: str


def draw(state: State, bots: Sequence[str], points: tuple[int, ...] | None, highest: int | None = None) -> Treeline:
    """The drawing of a position, with room for columns of `highest` cards, as many as it has if that is None.

    bots    names by seat
    points  those of the record, None after a forfeit
    """
    scoring = state.scoring()
    tallest = max(max(state.heights(seat)) for seat in range(state.players))
    ground = _TOP + max(highest or 0, tallest) * CARD_HEIGHT
    columns: list[Column] = []
    stands: list[Stand] = []
    x = _MARGIN
    for seat in reversed(range(state.players)):
        taken = len(state.rows[seat]) * (COLUMN_WIDTH + _GAP) - _GAP
        wide = max(taken, _NARROWEST_SEAT)
        label = printable(bots[seat], (wide + _SEAT_GAP - _GAP) // _LETTER_WIDTH)
        stands.append(Stand(x, wide, seat, label, None if points is None else points[seat]))
        at = x + (wide - taken) // 2
        for guild, height, scores in zip(state.rows[seat], state.heights(seat), scoring[seat], strict=True):
            tall = height * CARD_HEIGHT
            columns.append(Column(at, ground - tall, tall, guild, height, scores))
            at += COLUMN_WIDTH + _GAP
        x += wide + _SEAT_GAP
    return Treeline(
        wide=x - _SEAT_GAP + _MARGIN,
        tall=ground + _BOTTOM,
        ground=ground,
        columns=tuple(columns),
        stands=tuple(stands),
        words="; ".join(_words(state, seat, bots[seat], scoring[seat]) for seat in range(state.players)),
    )


def _words(state: State, seat: int, bot: str, scoring: tuple[bool, ...]) -> str:
    columns = ", ".join(
        f"{GUILD_NAMES[GUILDS.index(guild)]} {height}{' scores' if scores else ''}"
        for guild, height, scores in zip(state.rows[seat], state.heights(seat), scoring, strict=True)
    )
    return f"{printable(bot, _LONGEST_NAME)} on seat {seat}: {columns}"
