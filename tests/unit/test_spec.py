"""What docs/spec says can be found: by the code that cites it, and from the pages that link to it."""

import re
from pathlib import Path

import pytest

from treelings import derive_deck

ROOT = Path(__file__).parents[2]
SPEC = ROOT / "docs" / "spec"
PAGES = {path.name: path.read_text(encoding="utf-8") for path in SPEC.glob("*.md")}
CITING = sorted(path for folder in ("sdk", "referee", "tests") for path in (ROOT / folder).rglob("*.py"))


def test_every_section_that_the_code_cites_is_there() -> None:
    cited = [
        (path.name, page, section)
        for path in CITING
        for page, section in re.findall(r"\b(rules|records|schedule|sandbox)\.md, ([A-Z][^;.):]*)", path.read_text())
    ]
    assert len(cited) > 20
    headings = {page: re.findall(r"^##+ (.*)$", text, re.MULTILINE) for page, text in PAGES.items()}
    assert [each for each in cited if not each[2].startswith(tuple(headings[f"{each[1]}.md"]))] == []


def test_the_code_cites_no_page_that_is_not_there() -> None:
    of_the_site = ROOT / "tests/integration/test_docs.py"  # whose pages have names of their own
    cited = {
        name
        for path in CITING
        if path != of_the_site
        for name in re.findall(r"(?<!docs/)\b([a-z]+\.md)\b", path.read_text())
    }
    assert cited - PAGES.keys() == set()


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "ARCHITECTURE.md", *(f"docs/spec/{name}" for name in PAGES)])
def test_every_link_leads_to_a_file(page: str) -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text(encoding="utf-8"))
    assert [target for target in targets if not (ROOT / page).parent.joinpath(target).exists()] == []


def test_the_vectors_of_the_rules_are_the_decks_that_follow() -> None:
    vectors = re.findall(r"^    ([0-9a-f]{64})\n    (.+)\n    ([ROYGBP!]{109})$", PAGES["rules.md"], re.MULTILINE)
    assert len(vectors) == 2
    assert all(derive_deck(bytes.fromhex(secret), deal) == deck for secret, deal, deck in vectors)
