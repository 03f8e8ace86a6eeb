"""rules.md: Notation of moves."""

import copy
import pickle
from itertools import permutations
from math import factorial

import pytest

from treelings import GUILDS, Move, NotationError
from treelings.moves import PASS, moves_for_take, quoted


@pytest.mark.parametrize(
    ("text", "take", "left", "right"),
    [
        ("-", "-", "", ""),
        ("R", "R", "", ""),
        ("R<R", "R", "R", ""),
        ("R>R", "R", "", "R"),
        ("*", "*", "", ""),
        ("*<BP", "*", "BP", ""),
        ("*>G", "*", "", "G"),
        ("*<BP>G", "*", "BP", "G"),
        ("*<ROY>GB", "*", "ROY", "GB"),
    ],
)
def test_a_move_reads_and_writes_as_its_notation(text: str, take: str, left: str, right: str) -> None:
    move = Move.parse(text)
    assert (move.take, move.left, move.right) == (take, left, right)
    assert str(move) == move.notation == text
    assert text in repr(move)


def test_a_move_carries_its_numbers() -> None:
    move = Move.parse("*<BP>G")
    assert (move.take_index, move.new_mask, move.left_end) == (6, 0b111000, "PB")
    assert [Move.parse(take).take_index for take in "ROYGBP*-"] == list(range(8))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected a form"),
        (" ", "expected a form"),
        ("r", "expected a form"),
        ("X", "expected a form"),
        ("R ", "expected a form"),
        ("R\n", "expected a form"),
        ("R<", "expected a form"),
        ("R>", "expected a form"),
        ("R<R>", "expected a form"),
        ("R<>R", "expected a form"),
        ("<R", "expected a form"),
        ("RR", "expected a form"),
        ("**", "expected a form"),
        ("*>G<B", "expected a form"),
        ("R<*", "expected a form"),
        ("Ｒ", "expected a form"),
        ("-<R", "a pass places nothing"),
        ("->R", "a pass places nothing"),
        ("R<O", "taking R brings no other guild"),
        ("R<RO", "taking R brings no other guild"),
        ("R<R>R", "expected each new guild once"),
        ("*<BB", "expected each new guild once"),
        ("*<BP>B", "expected each new guild once"),
        ("*<ROYGB>P", "9 characters"),
    ],
)
def test_text_that_is_no_move_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(NotationError, match=reason):
        Move.parse(text)


@pytest.mark.parametrize(
    "text", ["A" * 1_000_000, "\x1b[31m" * 10, "\U0001f980" * 50, "\u202e", "\ud800", "'\"" * 40, "R\x00"]
)
def test_a_refusal_is_bounded_and_escaped_whatever_the_text(text: str) -> None:
    with pytest.raises(NotationError) as caught:
        Move.parse(text)
    assert len(str(caught.value)) < 140
    assert all(" " <= c <= "~" or c == "…" for c in str(caught.value))


def test_quoted_shows_short_text_whole_and_cuts_long_text() -> None:
    assert quoted("R<R") == "'R<R'"
    assert quoted("x" * 41) == "'" + "x" * 40 + "…'"
    assert len(quoted("\n" * 39)) <= 43


def test_each_move_exists_once() -> None:
    move = Move.parse("*<BP>G")
    assert Move.parse("*<BP" + ">G") is move
    assert copy.copy(move) is move
    assert copy.deepcopy([move])[0] is move
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(move, protocol)) is move


def test_no_second_move_can_be_made_by_accident() -> None:
    with pytest.raises(TypeError, match=r"Move\.parse"):
        Move("R", "R", "")
    with pytest.raises(TypeError, match=r"Move\.parse"):
        Move("-")


def test_there_are_6722_moves() -> None:
    moves = {PASS}
    for guild in GUILDS:
        moves |= {Move.parse(guild), *moves_for_take(guild, guild)}
    for count in range(6):
        for order in permutations(GUILDS, count):
            moves |= set(moves_for_take("*", "".join(order)))
    assert len(moves) == 6722


def test_moves_with_nothing_new_are_the_take_alone() -> None:
    assert moves_for_take("R", "") == (Move.parse("R"),)


def test_moves_with_new_guilds_come_in_canonical_order() -> None:
    assert [move.notation for move in moves_for_take("*", "OB")] == [
        "*>OB", "*>BO", "*<O>B", "*<B>O", "*<OB", "*<BO",
    ]  # fmt: skip


@pytest.mark.parametrize("count", range(1, 6))
def test_the_first_move_puts_all_new_guilds_to_the_right_in_guild_order(count: int) -> None:
    new = GUILDS[:count]
    moves = moves_for_take("*", new)
    assert moves[0].notation == f"*>{new}"
    assert len(set(moves)) == len(moves) == factorial(count + 1)
