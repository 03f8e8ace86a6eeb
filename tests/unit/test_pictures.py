"""The pictures of docs/rules.md are as they are drawn, stand by themselves, and are told in words too."""

import re
from xml.etree import ElementTree as ET

import pytest

from tests.support.pictures import FOLDER, Panel, Picture, pictures, svg
from tests.support.positions import position

PAGE = FOLDER.parent / "rules.md"
TEXT = PAGE.read_text(encoding="utf-8")
SVG = "{http://www.w3.org/2000/svg}"


def anchors(page: str) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    return {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", pictures())
def test_a_picture_is_as_it_is_drawn(name: str) -> None:
    kept = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert kept == svg(pictures()[name]), "python -m tests.support.pictures draws the pictures anew"


def test_the_page_shows_every_picture_and_says_what_it_shows() -> None:
    shown = re.findall(r"!\[([^\]]*)\]\(pictures/(\w+)\.svg\)", TEXT)
    assert {name for _, name in shown} == set(pictures())
    assert {path.stem for path in FOLDER.glob("*.svg") if not path.stem.startswith("study-")} == set(pictures())
    assert all(words.strip().endswith(".") for words, _ in shown)


@pytest.mark.parametrize("name", pictures())
def test_a_picture_stands_by_itself_and_says_what_it_shows(name: str) -> None:
    text = svg(pictures()[name])
    title = ET.fromstring(text).find(f"{SVG}title")
    assert title is not None
    assert title.text == pictures()[name].words
    assert "prefers-color-scheme: dark" in text
    assert set(re.findall(r"var\((--[\w-]+)\)", text)) <= set(re.findall(r"(--[\w-]+):", text))
    assert re.findall(r"(?:href|src|url)\b", text) == []


def test_the_cards_that_a_take_brings_are_raised() -> None:
    def taken(take: str) -> str:
        return "".join(card.guild for card in Panel(market="GRYRO", taken=take).cards if card.taken)

    assert [taken(take) for take in ("R", "Y", "*", "B")] == ["RR", "Y", "OYG", ""]


def test_the_cards_of_the_last_move_are_framed_where_they_lie() -> None:
    before = position("P2", "Y1 B2", market="RGBBP")
    after = before.copy()
    after.play(after.parse("*<R>G"))
    panel = Panel(table=after, before=before)
    assert panel.line is not None
    columns = {column.x: (column.guild, column.y) for column in panel.line.columns}
    assert [columns[each.x] for each in panel.grown] == [(c.guild, c.y) for c in panel.line.columns if c.guild in "RPG"]
    root = ET.fromstring(svg(Picture("words", 1, (panel,))))
    assert len(root.findall(f".//{SVG}rect[@class='fresh']")) == 3


def test_the_links_of_the_page_lead_somewhere() -> None:
    for target, anchor in re.findall(r"\]\(([^)#]+)#?([^)]*)\)", TEXT):
        path = PAGE.parent / target
        assert path.exists(), target
        assert not anchor or anchor in anchors(path.read_text(encoding="utf-8")), anchor


def test_the_games_in_the_pictures_end_as_the_page_says() -> None:
    def scores(name: str) -> list[tuple[int, ...]]:
        return [panel.table.scores() for panel in pictures()[name].panels if panel.table]

    assert scores("score") == [(12, 11, 10)]
    assert "12 to 11 to 10" in TEXT
    (ann, ben), (ann_after, ben_after) = scores("border")
    assert (ben_after - ben, ann - ann_after) == (6, 5)
    assert "6 points\nfor him, and 5 fewer for her" in TEXT
    left, right = scores("grow")
    assert left[0] == right[0]  # Ann's points are the same,
    assert left[2] < right[2]  # but at the left end green lets her orange stand beside Cleo's,
    assert left[1] > right[1]  # and at the right end her yellow beside Ben's
