"""The pictures of docs/rules.md, drawn by what draws the tables of the site: SVG files that stand by themselves.

`python -m tests.support.pictures docs/pictures` draws them anew. Their colours are those of the site's style sheet,
light and dark.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined

from referee.publish.treeline import CARD_HEIGHT, COLUMN_WIDTH, Treeline, draw
from tests.support.positions import position
from treelings import GUILDS, State, derive_deck
from treelings.moves import SINGLES_TAKE

FOLDER: Final = Path(__file__).parents[2] / "docs" / "pictures"
NAMES: Final = ("Ann", "Ben", "Cleo", "Dan", "Eve")

_STYLE: Final = Path(__file__).parents[2] / "referee" / "publish" / "static" / "style.css"
_RULES: Final = re.compile(
    r"^:root \{.*?^\}\n|^@media \(prefers-color-scheme: dark\) \{.*?^\}\n|^\.treeline [^\n]*\n|^\.gR [^\n]*\n",
    re.DOTALL | re.MULTILINE,
)
_MARGIN: Final = 16
_GAP: Final = 16  # between panels
_CAPTION: Final = 26
_LETTER: Final = 8.2  # of a caption, on the mean
_CARD: Final = 28
_CARD_GAP: Final = 7
_MARKET: Final = 58
_PILE: Final = 52
_PILE_WIDE: Final = 380
_TURN: Final = 62
_TURNS: Final = 34
_ENDS: Final = 26  # below a table whose ends are joined


class Card(NamedTuple):
    """A card of the market."""

    guild: str
    taken: bool


class Grown(NamedTuple):
    """The cards of a column that the move before has brought, as a box round them."""

    x: int
    y: int
    tall: int


@dataclass(frozen=True)
class Panel:
    """A part of a picture, from the top down: caption, market, pile, turns, table; each only if there is one.

    caption  a few words above it
    market   letters, and of `taken` those that a move takes
    taken    a take as in the notation of moves
    pile     cards face down, and how many there were at first; None leaves the pile out
    turns    names of those who play them in order, "✦" behind the one in whose turn the firefly shows up
    table    a position; `before` is the one before the last move, whose cards are framed then
    ends     whether the two ends of the table are joined, as the neighbours that they are
    """

    caption: str = ""
    market: str = ""
    taken: str = ""
    pile: tuple[int, int] | None = None
    turns: Sequence[str] = ()
    table: State | None = None
    before: State | None = None
    ends: bool = False

    @property
    def cards(self) -> list[Card]:
        """The market in the order of guilds."""
        single = self.taken == SINGLES_TAKE
        return [
            Card(guild, self.market.count(guild) == 1 if single else guild == self.taken)
            for guild in sorted(self.market, key=GUILDS.index)
        ]

    @property
    def names(self) -> Sequence[str]:
        """Who sits at the table."""
        return NAMES[: self.table.players] if self.table else ()

    @property
    def line(self) -> Treeline | None:
        """The drawing of the table."""
        return draw(self.table, self.names, self.table.scores()) if self.table else None

    @property
    def grown(self) -> Iterator[Grown]:
        """The cards of the last move."""
        if self.line is None or self.table is None or self.before is None:
            return
        columns = iter(self.line.columns)
        for seat in reversed(range(self.table.players)):
            old = dict(zip(self.before.rows[seat], self.before.heights(seat), strict=True))
            for column in [next(columns) for _ in self.table.rows[seat]]:
                cards = column.height - old.get(column.guild, 0)
                if cards:
                    yield Grown(column.x, column.y, cards * CARD_HEIGHT)

    @property
    def wide(self) -> int:
        """In drawing units."""
        return max(
            round(len(self.caption) * _LETTER),
            len(self.market) * (_CARD + _CARD_GAP),
            _PILE_WIDE if self.pile else 0,
            len(self.turns) * _TURN,
            self.line.wide if self.line else 0,
        )

    @property
    def tall(self) -> int:
        """In drawing units."""
        return (
            _CAPTION * bool(self.caption)
            + _MARKET * bool(self.market)
            + _PILE * bool(self.pile)
            + _TURNS * bool(self.turns)
            + (self.line.tall if self.line else 0)
            + _ENDS * self.ends
        )


@dataclass(frozen=True)
class Picture:
    """Panels in so many columns, and what they show in a sentence."""

    words: str
    columns: int
    panels: tuple[Panel, ...]


def svg(picture: Picture) -> str:
    """The picture as a file."""
    rows = [picture.panels[at : at + picture.columns] for at in range(0, len(picture.panels), picture.columns)]
    wide = max(panel.wide for panel in picture.panels)
    placed, y = [], _MARGIN
    for row in rows:
        placed += [(_MARGIN + at * (wide + _GAP), y, panel) for at, panel in enumerate(row)]
        y += max(panel.tall for panel in row) + _GAP
    env = Environment(
        loader=ChoiceLoader([FileSystemLoader(Path(__file__).parent), PackageLoader("referee.publish")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    env.globals.update(
        column_width=COLUMN_WIDTH, card_height=CARD_HEIGHT, card=_CARD, card_gap=_CARD_GAP, caption=_CAPTION,
        market=_MARKET, pile=_PILE, pile_wide=_PILE_WIDE, turn=_TURN, turns=_TURNS,
    )  # fmt: skip
    return env.get_template("picture.svg").render(
        picture=picture,
        placed=placed,
        panel_wide=wide,
        wide=2 * _MARGIN + picture.columns * (wide + _GAP) - _GAP,
        tall=y - _GAP + _MARGIN,
        style=site_colours(),
    )


def site_colours() -> str:
    """The rules of the site's style sheet that a drawing needs: its colours, light and dark, and those of a table."""
    return "".join(_RULES.findall(_STYLE.read_text(encoding="utf-8")))


def pictures() -> dict[str, Picture]:
    """Those of the page, by the names of their files."""
    deal = State.deal(derive_deck(bytes(32), "demo/0"), 3)
    market = "".join(guild * count for guild, count in zip(GUILDS, deal.market, strict=True))
    return {
        "deal": Picture(
            "The start of a game of three: a market of two red cards, an orange, a yellow and a green one; a pile of "
            "94 cards with the firefly below 74 of them; and three rows of three columns, each one card high.",
            1,
            (Panel(market=market, pile=(deal.pile, deal.pile), table=deal),),
        ),
        "take": Picture(
            "The market of the start, R R O Y G, three times: the move R takes both red cards, the move Y the only "
            "yellow one, the move * the orange, the yellow and the green one, which are there once each.",
            3,
            (
                Panel("R: all red cards", market, "R"),
                Panel("Y: all yellow cards", market, "Y"),
                Panel("*: all singles", market, "*"),
            ),
        ),
        "grow": Picture(
            "Ann has yellow, purple and orange columns. Both of her moves * make yellow and orange two cards high; "
            "*<G puts the new green column at the left end of her row, *>G at the right end.",
            1,
            tuple(_moved(deal, move, f"Ann plays {move}") for move in ("*<G", "*>G")),
        ),
        "place": Picture(
            "A row with a purple column gets red and green: both to the left, both to the right, or one to either "
            "side, and in either order; six ways.",
            2,
            tuple(
                _moved(position("P2", "Y1 B2", market="RGBB"), move, f"Ann plays {move}")
                for move in ("*<RG", "*<GR", "*>RG", "*>GR", "*<R>G", "*<G>R")
            ),
        ),
        "firefly": Picture(
            "Three states of the pile: the firefly is below 74 of 94 cards, then below one, then out, with 19 cards "
            "left. Below, the turns of the last rounds: the firefly shows up in Ben's turn, Cleo plays hers, "
            "and the game is over.",
            1,
            (
                Panel("the start of a game of three", pile=(94, 94)),
                Panel("one card above the firefly", pile=(21, 94)),
                Panel("the firefly is out: the round is played to its end", pile=(19, 94)),
                Panel(turns=("Ann", "Ben", "Cleo", "Ann", "Ben ✦", "Cleo", "the end")),
            ),
        ),
        "score": Picture(
            "The end of a game of three as one line, Cleo's row, Ben's, then Ann's; its two ends are joined. "
            "A firefly hovers above each column that scores.",
            1,
            (Panel(table=position("G3 P8 R2 Y4", "O4 B6 G2 R5", "R4 Y1 P6 O3 B3"), ends=True),),
        ),
        "border": Picture(
            "Two ends of the same game. At first Ann's leftmost column, green 5, scores beside Ben's purple 4. "
            "Then Ben adds two purple cards: purple 6 scores, and green 5 no more.",
            1,
            (
                Panel("before: Ann's green column is taller than Ben's purple one", table=_BORDER),
                _moved(_BORDER, "P", "Ben plays P"),
            ),
        ),
    }


_BORDER: Final = position("G5 R3 Y4", "O5 B3 P4", market="PPRRO", turn=1)


def _moved(before: State, move: str, caption: str) -> Panel:
    after = before.copy()
    after.play(after.parse(move))
    return Panel(caption, table=after, before=before)


def main(folder: Path) -> None:
    """Draw them all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures().items():
        (folder / f"{name}.svg").write_text(svg(picture), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
