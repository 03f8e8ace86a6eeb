"""The final tables of a game drawn as one line of columns: the ring of all rows, cut open once.

Seats run from right to left, because the next seat sits on the left (rules.md, Seats): so columns that stand
side by side in the drawing are neighbours, and the two ends of the line are neighbours too.
"""

from typing import Final, NamedTuple

from treelings import GUILD_NAMES, GUILDS, State

COLUMN_WIDTH: Final = 22
CARD_HEIGHT: Final = 8
_GAP: Final = 3
_SEAT_GAP: Final = 26
_MARGIN: Final = 6
_TOP: Final = 22  # above the highest column: its height, and the firefly of a column that scores
_BOTTOM: Final = 42  # below the ground: letters, then seats


class Column(NamedTuple):
    """A column; x and y in drawing units from the top left, `y` its top, `tall` from there to the ground."""

    x: int
    y: int
    tall: int
    guild: str
    height: int
    scores: bool


class Stand(NamedTuple):
    """A seat's stretch of ground from `x` for `wide` units, and its points in the game, if it has any."""

    x: int
    wide: int
    seat: int
    points: int | None


class Treeline(NamedTuple):
    """A drawing of `wide` by `tall` units; `words` says the same in a sentence."""

    wide: int
    tall: int
    ground: int
    columns: tuple[Column, ...]
    stands: tuple[Stand, ...]
    words: str


def draw(state: State, points: tuple[int, ...] | None) -> Treeline:
    """The drawing of a position; `points` per seat are those of the record, None after a forfeit."""
    scoring = state.scoring()
    highest = max(max(state.heights(seat)) for seat in range(state.players))
    ground = _TOP + highest * CARD_HEIGHT
    columns: list[Column] = []
    stands: list[Stand] = []
    x = _MARGIN
    for seat in reversed(range(state.players)):
        start = x
        for guild, height, scores in zip(state.rows[seat], state.heights(seat), scoring[seat], strict=True):
            tall = height * CARD_HEIGHT
            columns.append(Column(x, ground - tall, tall, guild, height, scores))
            x += COLUMN_WIDTH + _GAP
        stands.append(Stand(start, x - _GAP - start, seat, None if points is None else points[seat]))
        x += _SEAT_GAP - _GAP
    return Treeline(
        wide=x - _SEAT_GAP + _MARGIN,
        tall=ground + _BOTTOM,
        ground=ground,
        columns=tuple(columns),
        stands=tuple(stands),
        words="; ".join(_words(state, seat, scoring[seat]) for seat in range(state.players)),
    )


def _words(state: State, seat: int, scoring: tuple[bool, ...]) -> str:
    columns = ", ".join(
        f"{GUILD_NAMES[GUILDS.index(guild)]} {height}{' scores' if scores else ''}"
        for guild, height, scores in zip(state.rows[seat], state.heights(seat), scoring, strict=True)
    )
    return f"seat {seat}: {columns}"
