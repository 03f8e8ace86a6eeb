"""Hostile submissions are refused in words that their authors understand, and cost next to nothing."""

import re
import tomllib
import tracemalloc
from pathlib import Path

import pytest

from referee.errors import SubmissionError
from referee.submissions import take_in
from tests.adversarial.submissions.archives import ARCHIVES

CASES = tomllib.loads(Path(__file__).with_name("cases.toml").read_text(encoding="utf-8"))
MOST_MEMORY = 60_000_000


def test_every_case_has_its_archive() -> None:
    assert CASES.keys() == ARCHIVES.keys()


@pytest.mark.parametrize("case", CASES)
def test_a_hostile_submission_is_refused(case: str, tmp_path: Path) -> None:
    (tmp_path / "handed-in").write_bytes(ARCHIVES[case]())
    bots = tmp_path / "league" / "bots"
    bots.mkdir(parents=True)
    tracemalloc.start()
    try:
        with pytest.raises(SubmissionError) as caught:
            take_in(tmp_path / "handed-in", bots)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'handed-in'}")
    assert re.search(CASES[case]["says"], message), message
    assert message.isprintable()
    assert len(message) < 1_000
    assert peak < MOST_MEMORY
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")} == {
        "handed-in", "league", "league/bots",
    }  # fmt: skip
