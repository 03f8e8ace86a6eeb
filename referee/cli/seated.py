"""What somebody who sits at the table is shown: the ring of rows, the market, and what each choice comes to.

All of it is made from a seat's View.
"""

from collections.abc import Sequence
from typing import Final

from rich.table import Table
from rich.text import Text

from referee.adviser import seen
from referee.cli.show import guild, market, row
from treelings import GUILDS, Move, State, View
from treelings.moves import SINGLES_TAKE

MOST_AT_ONCE: Final = 9
"""Moves that are listed one by one; more are chosen in steps."""

HELP: Final = """\
Take all market cards of one guild, or * : every guild that lies there just
once. A guild that you have grows its column; a new one becomes a column at the
left or right end of your row. Columns never move. All rows make one ring that
reads like lines of text: each row's right end stands beside the left end of the
row below, the last one's beside the first. A column scores its height if no
neighbour in the ring is taller: * marks those that would score now. The firefly
lies above the last 20 cards: when it shows up, that round is the last.
Moves  a number of the list, or R, R<R (new, to the left), *<BP>G (all singles;
       B, then P to the left end, G to the right end), - (pass)
List   points: yours after the move; margin: these less the mean of the others'
Keys   ? this help, h what the --hint bot would do, q leave, Enter the board"""


def board(view: View, names: Sequence[str]) -> list[Text]:
    """Turn, market, pile, and every row in the order of the ring."""
    state = seen(view)
    title = Text(f"Turn {view.turn}, your {_ordinal(view.turn // view.players + 1)}", style="bold")
    if view.firefly_out:
        title.append(" · the firefly is out: your last turn", style="yellow")
    else:
        above = view.above_firefly
        when = f"after {above} more card{'s' if above > 1 else ''}" if above else "is the next card"
        title.append(f" · firefly {when}", style="dim not bold")
    supply = Text("Market  ").append_text(market(state))
    if view.pile:
        unseen = " ".join(f"{letter}{count}" for letter, count in zip(GUILDS, view.unseen, strict=True) if count)
        supply.append(f"  face down {view.pile}: {unseen}", style="dim")
    return [title, supply, Text(), *ring(state, names, view.seat)]


def ring(state: State, names: Sequence[str], seat: int) -> list[Text]:
    """A line a row, such that each row's right end stands beside the left end of the row below it, the last beside
    the first (rules.md, Seats): the seat's left neighbour, the seat, its right neighbour, and on; with its points."""
    players = state.players
    order = [(seat + 1 - place) % players for place in range(players)]
    sides = {(seat + 1) % players: "on the left", (seat - 1) % players: "on the right", seat: "▶"}
    if players == 2:
        sides[1 - seat] = "both sides"
    width = max(map(len, names))
    scores = state.scores()
    lines = []
    for each in order:
        line = Text(f"  {sides.get(each, ''):>12}  ", style="dim")
        line.append(f"{names[each]:<{width}}  ", style="bold" if each == seat else "")
        line.append(f"{scores[each]:>3}  ", style="bold" if each == seat else "")
        lines.append(line.append_text(row(state, each, scoring=True)))
    return lines


def cards(state: State, move: Move) -> Text:
    """The cards that a move takes from the market of this position."""
    taken = Text()
    for letter, count in zip(GUILDS, state.market, strict=True):
        if letter == move.take or (move.take == SINGLES_TAKE and count == 1):
            for _ in range(count):
                taken.append_text(guild(letter))
    return taken if taken.plain else Text("nothing", style="dim")


def steps(moves: Sequence[Move], left: int = 0, right: int = 0) -> list[tuple[str, tuple[Move, ...]]]:
    """The moves as a list to choose from: what each entry says, and the moves that it leaves.

    One by one where they are few; else by what is taken; else, where all take the same, by the new guild that is
    placed next, of which the first `left` and `right` are placed already.
    """
    if len(moves) <= MOST_AT_ONCE:
        return [(move.notation, (move,)) for move in moves]
    takes = dict.fromkeys(move.take for move in moves)
    if len(takes) > 1:
        return [(take, tuple(move for move in moves if move.take == take)) for take in takes]
    found: dict[str, list[Move]] = {}
    for move in moves:
        for side, placed, at in (("<", move.left, left), (">", move.right, right)):
            if placed[at:]:
                found.setdefault(side + placed[at], []).append(move)
    return [
        (entry, tuple(found[entry])) for entry in sorted(found, key=lambda entry: (entry[0], GUILDS.index(entry[1])))
    ]


def choices(view: View, entries: Sequence[tuple[str, tuple[Move, ...]]]) -> Table:
    """The entries of `steps`, numbered: what each takes, and for a single move the row that it makes and its points."""
    state = seen(view)
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 1))
    table.add_column("#", justify="right", style="bold", no_wrap=True)
    for name in ("move", "takes", "your row then"):
        table.add_column(name, no_wrap=True, style="bold" if name == "move" else "")
    for name in ("points", "margin"):
        table.add_column(name, justify="right", no_wrap=True)
    for number, (entry, moves) in enumerate(entries, 1):
        first = moves[0]
        if len(moves) > 1:
            table.add_row(str(number), entry, cards(state, first), _ways(entry, moves))
            continue
        after = state.copy()
        after.play(first)
        points, margin = after.scores()[view.seat], after.margin(view.seat)
        table.add_row(
            str(number), entry, cards(state, first), row_then(after, view.seat), str(points), f"{margin:+.1f}"
        )  # fmt: skip
    return table


def row_then(state: State, seat: int) -> Text:
    """A seat's row with the columns that score, as narrow as it can be."""
    text = row(state, seat, scoring=True)
    text.rstrip()
    return text


def _ways(entry: str, moves: Sequence[Move]) -> Text:
    if entry[0] in "<>":
        return Text(f"{entry[1]} to the {'left' if entry[0] == '<' else 'right'} end, next", style="dim")
    new = ", ".join(letter for letter in GUILDS if letter in moves[0].left + moves[0].right)
    return Text(f"{len(moves)} ways to place {new}", style="dim")


def _ordinal(number: int) -> str:
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
