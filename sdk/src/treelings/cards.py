"""Guilds, decks and how a deck follows from a secret and a deal id (rules.md, Material; Deck and deal)."""

from collections.abc import Iterator
from typing import Final, Literal

from treelings.errors import DeckError

GUILDS: Final = "ROYGBP"
"""The six guilds by letter, in canonical order; a guild's number is its index here."""

GUILD_NAMES: Final = ("red", "orange", "yellow", "green", "blue", "purple")
"""The guilds in words, in the same order."""

CARDS_PER_GUILD: Final = 18
CARDS: Final = 108
FIREFLY: Final = "!"
FIREFLY_INDEX: Final = 88
"""Index of the firefly in a deck: 20 cards lie below it, whatever the number of players."""

HAND_SIZE: Final = 3
MARKET_SIZE: Final = 5
MIN_PLAYERS: Final = 2
MAX_PLAYERS: Final = 5
SECRET_BYTES: Final = 32

Refill = Literal["start", "end"]
"""When in a turn the market is filled up to five cards (rules.md, Two sources, two refills)."""


def derive_deck(secret: bytes, deal_id: str) -> str:
    """The deck of a deal, 109 characters from the top down (rules.md, Deck and deal).

    secret   32 bytes
    deal_id  any text, e.g. "night 1/greedy-vs-random/0"

    Raises DeckError if the secret is not 32 bytes or the deal id holds half a surrogate pair, which has no
    UTF-8 form.
    """
    _check_secret(secret)
    try:
        message = b"treelings/deal/1/" + deal_id.encode()
    except UnicodeEncodeError as error:
        raise DeckError(f"deal id: expected Unicode text, got {deal_id[:40]!a}") from error
    key = _digest(secret, message)
    words = _words(key)
    cards = [guild for guild in GUILDS for _ in range(CARDS_PER_GUILD)]
    for i in range(CARDS - 1, 0, -1):
        j = _below(words, i + 1)
        cards[i], cards[j] = cards[j], cards[i]
    return "".join(cards[:FIREFLY_INDEX]) + FIREFLY + "".join(cards[FIREFLY_INDEX:])


def commitment(secret: bytes) -> str:
    """SHA-256 of a night's secret of 32 bytes, as 64 hex digits: what is published before the first game.

    Raises DeckError if the secret is not 32 bytes. (rules.md, Deck and deal)
    """
    import hashlib  # likewise

    _check_secret(secret)
    return hashlib.sha256(secret).hexdigest()


def check_deck(deck: str) -> None:
    """Raise DeckError unless the text is a whole deck: 18 cards a guild, the firefly at index 88."""
    if len(deck) != CARDS + 1:
        raise DeckError(f"deck: expected {CARDS + 1} characters, got {len(deck)}")
    if deck[FIREFLY_INDEX] != FIREFLY:
        raise DeckError(f"deck: expected the firefly '!' at index {FIREFLY_INDEX}, got {deck[FIREFLY_INDEX]!a}")
    for guild in GUILDS:
        if (count := deck.count(guild)) != CARDS_PER_GUILD:
            raise DeckError(f"deck: expected {CARDS_PER_GUILD} cards of {guild}, got {count}")


def _check_secret(secret: bytes) -> None:
    if len(secret) != SECRET_BYTES:
        raise DeckError(f"secret: expected {SECRET_BYTES} bytes, got {len(secret)}")


def _digest(key: bytes, message: bytes) -> bytes:
    import hmac  # loads OpenSSL, which bots need not wait for

    return hmac.digest(key, message, "sha256")


def _words(key: bytes) -> Iterator[int]:
    number = 0
    while True:
        block = _digest(key, f"block/{number}".encode())
        for at in range(0, len(block), 4):
            yield int.from_bytes(block[at : at + 4], "big")
        number += 1


def _below(words: Iterator[int], m: int) -> int:
    limit = 2**32 // m * m  # words from here on would favour the small remainders
    return next(word for word in words if word < limit) % m
