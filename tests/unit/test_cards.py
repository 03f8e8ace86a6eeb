"""rules.md: Material; Deck and deal."""

import hashlib

import pytest

from treelings import DeckError, commitment, derive_deck
from treelings.cards import CARDS, FIREFLY_INDEX, GUILD_NAMES, GUILDS, _below, check_deck

COUNTING = bytes(range(32))
VECTORS = [
    (
        bytes(32),
        "demo/0",
        "YPORYBORPYOGRROGPBRGPBRYGYPPOPOBBBGRYGRPYYGPGOBOPOPPBPPPRROOBRBOPYYBYGBGBGGRRYBGOORRGOYO!PORGGYGBRBGBRBOYYYPY",
    ),
    (
        COUNTING,
        "round 1/table 2/deal 3",
        "OBOGRGBYYBPGBPRPOGBYBPGOPOYGBOGRPYRRYYPPBBBBYGGYRPPGRRGBRPRPYOOPBYRYRPOGOGGBYBROBGRGRYBR!PPYBORPYPGOROOOOYGOY",
    ),
]


@pytest.mark.parametrize(("secret", "deal_id", "deck"), VECTORS)
def test_a_deck_follows_from_secret_and_deal_id_as_published(secret: bytes, deal_id: str, deck: str) -> None:
    assert derive_deck(secret, deal_id) == deck


@pytest.mark.parametrize(("m", "limit"), [(3, 2**32 - 1), (7, 4294967292), (108, 4294967220), (64, 2**32)])
def test_a_word_from_the_largest_multiple_of_m_on_is_passed_over(m: int, limit: int) -> None:
    assert _below(iter([limit - 1, 0]), m) == m - 1
    above = [word for word in (limit, 2**32 - 1) if word < 2**32 and word >= limit]
    assert _below(iter([*above, 1]), m) == 1


def test_six_guilds_in_canonical_order_with_names() -> None:
    assert GUILDS == "ROYGBP"
    assert [name[0].upper() for name in GUILD_NAMES] == list(GUILDS)


@pytest.mark.parametrize("deal_id", ["", "a", "Große Runde/1", "x" * 1000])
def test_every_derived_deck_is_whole_with_20_cards_below_the_firefly(deal_id: str) -> None:
    deck = derive_deck(COUNTING, deal_id)
    check_deck(deck)
    assert {deck.count(guild) for guild in GUILDS} == {18}
    assert len(deck) - deck.index("!") - 1 == 20


def test_another_deal_or_another_secret_gives_another_deck() -> None:
    decks = {derive_deck(secret, deal) for secret in (bytes(32), COUNTING) for deal in ("a", "b")}
    assert len(decks) == 4


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_secret_has_32_bytes(length: int) -> None:
    with pytest.raises(DeckError, match=f"expected 32 bytes, got {length}"):
        derive_deck(bytes(length), "x")
    with pytest.raises(DeckError, match=f"expected 32 bytes, got {length}"):
        commitment(bytes(length))


def test_a_deal_id_that_is_no_unicode_text_is_refused() -> None:
    with pytest.raises(DeckError, match="deal id"):
        derive_deck(COUNTING, "\ud800")


def test_the_commitment_is_the_sha256_of_the_secret() -> None:
    assert commitment(COUNTING) == hashlib.sha256(COUNTING).hexdigest()


DECK = VECTORS[0][2]


@pytest.mark.parametrize(
    ("deck", "message"),
    [
        ("", f"expected {CARDS + 1} characters, got 0"),
        (DECK + "R", f"expected {CARDS + 1} characters, got 110"),
        (DECK.replace("!", "R"), f"expected the firefly '!' at index {FIREFLY_INDEX}, got 'R'"),
        (DECK[1:89] + DECK[0] + DECK[89:], "expected the firefly"),
        (DECK.replace("P", "R", 1), "expected 18 cards of R, got 19"),
        (DECK.replace("R", "!", 1), "expected 18 cards of R, got 17"),
        (DECK.lower(), "expected 18 cards of R, got 0"),
    ],
)
def test_a_text_that_is_no_whole_deck_is_refused_with_the_reason(deck: str, message: str) -> None:
    with pytest.raises(DeckError, match=message):
        check_deck(deck)


def test_a_deck_cannot_smuggle_control_characters_into_the_message() -> None:
    with pytest.raises(DeckError) as caught:
        check_deck(DECK.replace("!", "\x1b"))
    assert "\x1b" not in str(caught.value)
