"""Decks of the conformance run: some as they are dealt, and two that lead where few games get.

rules.md, Deck and deal, says what a deck is.
"""

from typing import Final

from treelings import GUILDS, derive_deck
from treelings.cards import CARDS_PER_GUILD, FIREFLY, FIREFLY_INDEX, SECRET_BYTES


def dealt(number: int) -> str:
    """An ordinary deck, always the same under its number."""
    return derive_deck(bytes(SECRET_BYTES), f"conformance/{number}")


def _with_firefly(cards: str) -> str:
    return cards[:FIREFLY_INDEX] + FIREFLY + cards[FIREFLY_INDEX:]


def _rest(used: str) -> str:
    return "".join(guild * (CARDS_PER_GUILD - used.count(guild)) for guild in GUILDS)


_HANDS: Final = "RRROOOYYYGGGBBB"
_FIRST: Final = "PPPRR"
_SECOND: Final = "RRR"

TO_A_PASS: Final = _with_firefly(_HANDS + _FIRST + _SECOND + _rest(_HANDS + _FIRST + _SECOND))
"""For five seats, who all take as much as they can: seat 4 has nothing to take in its last turn.

From the second turn on all five market cards are of one guild, so that nobody can take less. Seat 0's first take is of
three cards; so the firefly is the first card that its last refill turns up, and the pile holds four refills more.
"""

_MANY: Final = "RRR" + "OOO" + "OYGBP"

MOST_MOVES: Final = _with_firefly(_MANY + _rest(_MANY))
"""For two seats: seat 0 has one column and may take five new guilds at once, in every order and on either side."""
