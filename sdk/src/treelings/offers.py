"""What a market offers: cards packed into integers, and every market's takes and legal moves, looked up.

Cards of several guilds are one integer, five bits a guild ("packed"), so taking, growing a row and refilling
are additions. There are only 462 markets, so what each allows is worked out once.
"""

from collections.abc import Sequence
from functools import cache
from itertools import combinations_with_replacement
from operator import lshift
from typing import Final, final

from treelings.cards import CARDS_PER_GUILD, GUILDS, MARKET_SIZE
from treelings.errors import DeckError
from treelings.moves import PASS, SINGLES_TAKE, Move, moves_for_take, quoted
from treelings.native import i64

BITS: Final = 5
FULL: Final = (1 << BITS) - 1
"""The largest count of one guild, and the bits that hold it."""

ONE: Final = tuple(1 << (BITS * guild) for guild in range(len(GUILDS)))
"""One card of each guild, packed, in guild order."""


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


def cards_in(row: str, packed: int) -> int:
    """How many cards a row has.

    Raises DeckError unless each of its guilds is one, has one column, and that 1 to 18 cards, and no other has any.
    """
    where = f"row {quoted(row)}"
    cards: i64 = 0
    rest = packed
    for place, letter in enumerate(row):
        guild = GUILDS.find(letter)
        if guild < 0 or letter in row[:place]:
            raise DeckError(f"{where}: expected different ones of {GUILDS}, got {quoted(letter)}")
        height = packed >> (BITS * guild) & FULL
        if not 1 <= height <= CARDS_PER_GUILD:
            raise DeckError(f"{where}: expected 1 to {CARDS_PER_GUILD} cards in column {letter}, got {height}")
        cards += height
        rest -= height << (BITS * guild)
    if rest:
        raise DeckError(f"{where}: expected cards of these guilds alone, got {packed:#x}")
    return int(cards)


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


@final
class Take:
    """What one take brings in one market.

    cards  packed
    mask   their guilds, bit g for guild g; -1 where the take is not legal
    short  how many cards the market lacks afterwards
    """

    __slots__ = ("cards", "mask", "short")

    cards: i64
    mask: i64
    short: i64

    def __init__(self, cards: int, mask: int, short: int) -> None:
        self.cards = cards
        self.mask = mask
        self.short = short


@final
class Choice:
    """What a seat may choose from.

    moves  its legal moves, in canonical order
    count  how many they are, as a float: a number from 0 up to 1 times this one draws a move, and two floats
           are multiplied at once where the core is compiled
    """

    __slots__ = ("count", "moves")

    moves: tuple[Move, ...]
    count: float

    def __init__(self, moves: tuple[Move, ...]) -> None:
        self.moves = moves
        self.count = float(len(moves))


UNKNOWN: Final = Choice(())
"""Stands where a choice was not asked for yet."""


@final
class Offer:
    """What one market offers.

    market   its cards, packed
    counts   the same as six counts in guild order
    takes    by number of the take (`Move.take_index`)
    choices  by mask of the guilds that a seat has; UNKNOWN until `choice` is asked for it
    """

    __slots__ = ("choices", "counts", "market", "takes")

    market: i64
    counts: tuple[int, int, int, int, int, int]
    takes: list[Take]
    choices: list[Choice]

    def __init__(self, market: int) -> None:
        counts = unpack(market)
        singles = [guild for guild, count in enumerate(counts) if count == 1]
        takes = [[guild] if count else [] for guild, count in enumerate(counts)]
        takes.append(singles if len(singles) > 1 else [])
        lacking = MARKET_SIZE - sum(counts)
        self.market = market
        self.counts = counts
        self.takes = [
            Take(
                sum([counts[guild] * ONE[guild] for guild in take]),
                sum([1 << guild for guild in take]) or -1,
                lacking + sum([counts[guild] for guild in take]),
            )
            for take in takes
        ]
        self.takes.append(Take(0, -1 if market else 0, lacking))
        self.choices = [UNKNOWN] * (1 << len(GUILDS))

    def choice(self, own: i64) -> Choice:
        """What a seat with the guilds of this mask may choose from, from now on in `choices` as well."""
        choice = self.choices[own]
        if choice is UNKNOWN:
            choice = self.choices[own] = Choice(legal_for(int(self.market), int(own)))
        return choice


SLOTS: Final = 4239
"""The least number that leaves another remainder of each of the 462 packed markets."""


def _offers() -> list[Offer]:
    offers = [Offer(0)] * SLOTS
    for size in range(1, MARKET_SIZE + 1):
        for cards in combinations_with_replacement(ONE, size):
            offers[sum(cards) % SLOTS] = Offer(sum(cards))
    return offers


OFFERS: Final = _offers()
"""Every market's offer, by the packed market modulo SLOTS."""


def offer_of(market: int) -> Offer:
    """The offer of a market that comes from elsewhere. Raises DeckError if it is none: at most five cards, packed."""
    offer = OFFERS[market % SLOTS]
    if int(offer.market) != market:
        raise DeckError(f"market: expected at most {MARKET_SIZE} cards in all, got {market:#x}")
    return offer
