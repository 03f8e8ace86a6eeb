"""Positions written down the way a person would: rows like "P2 R1", markets like "ROOYB"."""

from treelings.cards import GUILDS
from treelings.offers import ONE, pack, pack_row
from treelings.rules import Refill, State, resumed


def position(*rows: str, market: str = "", pile: str = "ROYGBP" * 10, turn: int = 0, refill: Refill = "start") -> State:
    """A position, also such as no game comes to; `pile` is from the top down, without the firefly, which lies above
    its lowest 20 cards.
    """
    columns = [row.split() for row in rows]
    guilds = ["".join(column[0] for column in row) for row in columns]
    heights = [pack_row(g, [int(column[1:]) for column in row]) for g, row in zip(guilds, columns, strict=True)]
    cards = [ONE[GUILDS.index(guild)] for guild in reversed(pile)]
    return resumed(guilds, heights, counted(market), cards, turn, refill)


def counted(guilds: str) -> int:
    """Cards of a text as one packed integer."""
    return pack([guilds.count(guild) for guild in GUILDS])


def row_of(state: State, seat: int) -> str:
    """A seat's row, e.g. "P2 R1"."""
    return " ".join(f"{g}{h}" for g, h in zip(state.rows[seat], state.heights(seat), strict=True))


def market_of(state: State) -> str:
    """The market's cards in guild order, e.g. "ROOYB"."""
    return "".join(guild * count for guild, count in zip(GUILDS, state.market, strict=True))


def notations(state: State) -> list[str]:
    """The legal moves as text."""
    return [move.notation for move in state.legal_moves()]


FIELDS = (
    "players", "refill", "turn", "seat", "rows", "festival_turn", "over", "market",
    "_heights", "_own", "_offer", "_sums", "_left",
)  # fmt: skip


def everything(state: State) -> dict[str, object]:
    """All that a state holds, by name, its lists copied."""
    return {name: value[:] if isinstance(value := getattr(state, name), list) else value for name in FIELDS}
