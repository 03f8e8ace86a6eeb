"""What is told of a Debian that cannot be put together."""

import pytest

from referee.sandbox.base import reasons


@pytest.mark.parametrize(
    ("log", "told"),
    [
        (
            "I: Retrieving Packages \nW: no keyring\nE: Couldn't find these debs: nodejs\n",
            "W: no keyring; E: Couldn't find these debs: nodejs",
        ),
        ("one\ntwo\n\nthree\nfour: no space left\n", "two; three; four: no space left"),
        ("", ""),
    ],
)
def test_a_failure_is_told_by_its_errors_in_one_line_or_else_by_its_last_lines(log: str, told: str) -> None:
    assert reasons(log) == told
