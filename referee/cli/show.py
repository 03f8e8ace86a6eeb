"""How results look in a terminal: standings, boards, checks."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from referee.text import printable, visible

if TYPE_CHECKING:
    from referee.model import Standing
    from treelings import State


_BLANKS = re.compile(r" +\n")


class SafeConsole(Console):
    """A terminal on which nothing that is printed can do more than be read.

    Texts are bounded and escaped by whoever made them; this is for the one that was forgotten, such as the name of a
    folder that somebody handed in.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """As in Console, but with whatever is not printable escaped; styles and moving bars are no texts."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))

    def print(self, *objects: Any, **settings: Any) -> None:
        """As in Console; what is no terminal gets lines without the blanks that tables and broken lines end in."""
        if self.is_terminal:
            super().print(*objects, **settings)
            return
        with self.capture() as captured:
            super().print(*objects, **settings)
        self.file.write(_BLANKS.sub("\n", captured.get()))
        self.file.flush()


out = SafeConsole(highlight=False, emoji=False)
"""Results."""

err = SafeConsole(stderr=True, highlight=False, emoji=False)
"""Errors, notes and progress: never part of a result that is piped on."""


def redraws(console: Console) -> bool:
    """Whether lines can be drawn there again and again: on a terminal that is no dumb one, and only in an encoding that
    has their characters, since numbers in the place of these make them longer than they are taken to be.
    """
    return console.is_interactive and not console.options.ascii_only


def error_lines(message: str) -> None:
    """Print an error on stderr; each of its lines begins one, and is marked so."""
    for line in message.splitlines():
        say(Text.assemble(("error: ", "bold red"), line), to=err)


GUILD_COLOURS = {
    "R": "#d55e00",
    "O": "#e69f00",
    "Y": "#f0e442",
    "G": "#009e73",
    "B": "#0072b2",
    "P": "#cc79a7",
}
"""Okabe-Ito: kept apart by colour-blind people too; the letter is always shown beside the colour."""


def guild(letter: str, count: int | None = None) -> Text:
    """A guild as a coloured tile with its letter and, for a column, its height."""
    ink = "white" if letter == "B" else "black"  # whichever contrasts more
    body = f" {letter} " if count is None else f" {letter}{count} "
    return Text(body, style=f"bold {ink} on {GUILD_COLOURS[letter]}")


def tiles(state: "State", seat: int, *, scoring: bool = False) -> list[Text]:
    """A seat's columns from left to right; with `scoring`, those that score are marked with a star."""
    stars = state.scoring()[seat] if scoring else ()
    found = []
    for place, (letter, height) in enumerate(zip(state.rows[seat], state.heights(seat), strict=True)):
        after = "* " if scoring and stars[place] else " " if not scoring else "  "
        found.append(guild(letter, height).append(after, style="bold"))
    return found


def row(state: "State", seat: int, *, scoring: bool = False) -> Text:
    """A seat's columns as one text; see `tiles`."""
    return Text().join(tiles(state, seat, scoring=scoring))


def print_row(head: Text, columns: Sequence[Text], to: Console = out) -> None:
    """Print a row behind what tells whose it is; where a terminal ends, it goes on below its first column."""
    line, start = head, head.cell_len
    for column in columns:
        if to.is_terminal and line.cell_len > start and line.cell_len + column.cell_len > to.width:
            to.print(line, soft_wrap=True)
            line = Text(" " * start)
        line.append_text(column)
    to.print(line, soft_wrap=True)


def market(state: "State") -> Text:
    """The market's cards in guild order."""
    from treelings import GUILDS

    text = Text()
    for letter, count in zip(GUILDS, state.market, strict=True):
        for _ in range(count):
            text.append_text(guild(letter)).append(" ")
    return text if text.plain else Text("empty", style="dim")


def say(text: Text | str, indent: int = 0, style: str = "", to: Console = out) -> None:
    """Print a text that may be long: as one line for programs, on a terminal broken between words."""
    line = Text(text, style=style) if isinstance(text, str) else text
    if to.is_terminal:
        line.overflow = "fold"
        to.print(Padding(line, (0, 0, 0, indent)))
    else:
        to.print(Text(" " * indent).append_text(line), soft_wrap=True)


def comment(text: str, indent: int) -> None:
    """Print what a bot says about its move below it, if it says something."""
    from treelings.bot import LONGEST_COMMENT

    if text:
        say(f"“{printable(text, LONGEST_COMMENT)}”", indent, "dim italic")


def standings(title: str, rows: "Sequence[Standing]", authors: Mapping[str, str]) -> None:
    """Print a table of standings with the order that breaks its ties.

    Never cut: authors are left out of a terminal that is too narrow for them.
    """
    from referee.standings import TIE_BREAKS

    table = _standings(title, rows, authors)
    if out.is_terminal and _width(table) > out.width:
        table = _standings(title, rows, None)
    print_whole(table)
    out.print(f"Equal scores: {TIE_BREAKS}.", style="dim")


def print_whole(table: Table) -> None:
    """Print a table as wide as it is, also in a terminal that is too narrow for it."""
    SafeConsole(highlight=False, emoji=False, width=max(out.width, _width(table))).print(table)


def _standings(title: str, rows: "Sequence[Standing]", authors: Mapping[str, str] | None) -> Table:
    heading = Text(title, style="bold", no_wrap=True)
    table = Table(title=heading, title_justify="left", header_style="bold", box=None, pad_edge=False)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("bot", style="bold", no_wrap=True)
    if authors is not None:
        table.add_column("author", no_wrap=True)
    table.add_column("version", style="dim", no_wrap=True)
    for name in ("games", "w-t-l", "score", "margin", "faults"):
        table.add_column(name, justify="right", no_wrap=True)
    for entry in rows:
        table.add_row(
            str(entry.rank),
            entry.bot,
            *([] if authors is None else [Text(authors.get(entry.bot, ""))]),
            short_version(entry.version),
            str(entry.games),
            f"{entry.wins}-{entry.ties}-{entry.losses}",
            f"{100 * entry.score:.1f} %",
            f"{entry.margin:+.2f}",
            Text(str(entry.faults), style="bold red" if entry.faults else ""),
        )
    return table


def _width(table: Table) -> int:
    """Columns of a terminal that the table takes where nothing limits it."""
    wide = Console(width=1_000)
    return Measurement.get(wide, wide.options, table).maximum


def short_version(version: str) -> str:
    """The first eight digits of a digest."""
    return version.removeprefix("sha256:")[:8]
