"""docs/tutorial.md is true: whoever follows it sees what it shows."""

import re
from pathlib import Path

import pytest

from tests.support.walkthrough import Reader

DOCUMENT = Path(__file__).parents[2] / "docs/tutorial.md"


@pytest.mark.docker
@pytest.mark.usefixtures("runtime_image")
def test_the_tutorial_can_be_followed_to_its_end(tmp_path: Path) -> None:
    Reader(tmp_path).follow(DOCUMENT.read_text(encoding="utf-8"))


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#]+)\)", DOCUMENT.read_text(encoding="utf-8")))))
def test_every_link_leads_to_a_file(target: str) -> None:
    assert (DOCUMENT.parent / target).exists()
