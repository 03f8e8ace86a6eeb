"""Docstrings, which are plain text, say the same on the reference's page."""

import pytest

from docs.theme.docstrings import markdown


def test_fields_become_a_table() -> None:
    fields = "seat     from 0\nmarket   six counts\n         in guild order"
    assert (
        markdown(fields)
        == "| name | meaning |\n|---|---|\n| `seat` | from 0 |\n| `market` | six counts in guild order |"
    )


def test_the_values_of_a_field_stand_on_lines_of_their_own() -> None:
    fields = 'reward  one of\n        "win"     points\n        "margin"  a lead'
    assert markdown(fields).endswith('| `reward` | one of<br>"win": points<br>"margin": a lead |')


@pytest.mark.parametrize(
    ("plain", "meant"),
    [
        ("e.g. *<BP>G or a|b_c", r"e.g. \*&lt;BP>G or a\|b\_c"),
        ("`str | None` stays", "`str | None` stays"),
        ("(rules.md, Set-up)", "([rules.md, Set-up](spec/rules.md#set-up))"),
        ("(rules.md, A turn; Scoring)", "([rules.md, A turn](spec/rules.md#a-turn); Scoring)"),
        ("see records.md", "see [records.md](spec/records.md)"),
        ("    code  as it is", "    code  as it is"),
    ],
)
def test_text_is_read_as_it_was_written(plain: str, meant: str) -> None:
    assert markdown(plain) == meant
