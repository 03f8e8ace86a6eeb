"""Hostile text is shown bounded and inert."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.text import printable, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("R<R", "R<R"),
        ("zwölf 🐲", "zwölf 🐲"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("one\ntwo\r\t", r"one\ntwo\r\t"),
        ("a\u202eb", r"a\u202eb"),
        ("\ud800", r"\ud800"),
        ("\u2028", r"\u2028"),
        ("Việt ไม่ได้ שָׁלוֹם हिन्दी", "Việt ไม่ได้ שָׁלוֹם हिन्दी"),
        ("a" + 5 * "\u0301", "a" + 4 * "\u0301" + r"\u0301"),  # marks that would reach into the lines above
        ("", ""),
    ],
)
def test_unprintable_characters_are_escaped_and_others_are_kept(text: str, shown: str) -> None:
    assert printable(text, 40) == shown


def test_text_of_exactly_the_limit_is_not_cut() -> None:
    assert printable("abcde", 5) == "abcde"


def test_longer_text_is_cut_and_says_so() -> None:
    assert printable("abcdef", 5) == "abcd…"


def test_no_escape_is_cut_in_half() -> None:
    assert printable("ab\x1bcd", 6) == "ab…"


@given(st.text(st.sampled_from("a\u0301\u20dd\u202e\ud800")), st.integers(min_value=1, max_value=40))
def test_what_is_printable_stays_as_it_is(text: str, limit: int) -> None:
    shown = printable(text, limit)
    assert printable(shown, limit) == shown


@given(st.text(), st.integers(min_value=1, max_value=40))
def test_what_is_shown_is_printable_and_within_the_limit(text: str, limit: int) -> None:
    shown = printable(text, limit)
    assert len(shown) <= limit
    assert shown.isprintable()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("plain, ünïcode", "plain, ünïcode"),
        ("two\nlines", "two\nlines"),
        ("\x1b[2J\r\t\u202e\ud800\x00", r"\x1b[2J\r\t\u202e\ud800\x00"),
        ("x" * 10_000, "x" * 10_000),
        ("a" + 5 * "\u0301" + "\nb\u0301", "a" + 4 * "\u0301" + r"\u0301" + "\nb\u0301"),
    ],
)
def test_all_of_a_text_is_visible(text: str, shown: str) -> None:
    assert visible(text) == shown
