"""What a market offers: cards packed into integers, and every market's takes and legal moves, looked up.

Cards of several guilds are one integer, five bits a guild ("packed"), so taking, growing a row and refilling
are additions. There are only 462 full markets, so what each allows is worked out once.
"""

from collections.abc import Sequence
from functools import cache
from operator import lshift
from typing import Final

from treelings.cards import GUILDS, MARKET_SIZE
from treelings.moves import PASS, SINGLES_TAKE, Move, moves_for_take

BITS: Final = 5
FULL: Final = (1 << BITS) - 1
"""The largest count of one guild, and the bits that hold it."""

ONE: Final = tuple(1 << (BITS * guild) for guild in range(len(GUILDS)))
"""One card of each guild, packed, in guild order."""

ONE_OF: Final = dict(zip(GUILDS, ONE, strict=True))
"""The same by letter."""


def pack(counts: Sequence[int]) -> int:
    """Six counts in guild order as one packed integer."""
    red, orange, yellow, green, blue, purple = counts
    return red + (orange << 5) + (yellow << 10) + (green << 15) + (blue << 20) + (purple << 25)


def unpack(packed: int) -> tuple[int, int, int, int, int, int]:
    """Six counts in guild order from a packed integer."""
    return (
        packed & FULL,
        packed >> 5 & FULL,
        packed >> 10 & FULL,
        packed >> 15 & FULL,
        packed >> 20 & FULL,
        packed >> 25,
    )


@cache
def shifts(row: str) -> tuple[int, ...]:
    """Where the count of each column of a row stands in a packed integer, in bits, left to right."""
    return tuple(BITS * GUILDS.index(guild) for guild in row)


@cache
def mask(guilds: str) -> int:
    """The guilds of a text as a mask: bit g for guild g."""
    return sum(1 << GUILDS.index(guild) for guild in set(guilds))


def pack_row(row: str, heights: Sequence[int]) -> int:
    """A row's guilds and the cards in each of its columns as one packed integer."""
    return sum(map(lshift, heights, shifts(row)))


def legal_for(market: int, own: int) -> tuple[Move, ...]:
    """The legal moves, in canonical order, of a seat with the guilds of mask `own` before this packed market.

    Canonical order (records.md, Faults): takes in guild order, then "*"; see `moves_for_take` for the rest.
    """
    if market == 0:
        return (PASS,)
    counts = unpack(market)
    moves: list[Move] = []
    for guild, count in enumerate(counts):
        if count:
            moves += moves_for_take(GUILDS[guild], "" if own >> guild & 1 else GUILDS[guild])
    singles = [guild for guild, count in enumerate(counts) if count == 1]
    if len(singles) > 1:  # a lone single is the same as its letter, and the letter is canonical
        moves += moves_for_take(SINGLES_TAKE, "".join(GUILDS[g] for g in singles if not own >> g & 1))
    return tuple(moves)


class Offer:
    """What one market offers. All but `counts` and `moves` are by number of the take (`Move.take_index`).

    counts  cards of each guild in the market
    taken   the cards that the take brings, packed
    mask    their guilds, bit g for guild g; -1 where the take is not legal
    short   how many cards the market lacks afterwards
    moves   by mask of the guilds that a seat has: its legal moves; empty until first asked for
    """

    __slots__ = ("counts", "market", "mask", "moves", "short", "taken")

    market: int
    counts: tuple[int, int, int, int, int, int]
    taken: tuple[int, ...]
    mask: tuple[int, ...]
    short: tuple[int, ...]
    moves: list[tuple[Move, ...]]

    def __init__(self, market: int) -> None:
        counts = unpack(market)
        singles = [guild for guild, count in enumerate(counts) if count == 1]
        takes = [[guild] if count else [] for guild, count in enumerate(counts)]
        takes.append(singles if len(singles) > 1 else [])
        lacking = MARKET_SIZE - sum(counts)
        self.market = market
        self.counts = counts
        self.taken = (*[sum(counts[guild] * ONE[guild] for guild in take) for take in takes], 0)
        self.mask = (*[sum(1 << guild for guild in take) or -1 for take in takes], -1 if market else 0)
        self.short = (*[lacking + sum(counts[guild] for guild in take) for take in takes], lacking)
        self.moves = [()] * (1 << len(GUILDS))

    def moves_of(self, own: int) -> tuple[Move, ...]:
        """The legal moves of a seat with these guilds, from now on in `moves` as well."""
        moves = self.moves[own] = legal_for(self.market, own)
        return moves


class _Offers(dict[int, Offer]):
    """The offer of every market, by the packed market; made when it is first met."""

    def __missing__(self, market: int) -> Offer:
        offer = self[market] = Offer(market)
        return offer


OFFERS: Final = _Offers()
"""Every market's offer, by the packed market."""
