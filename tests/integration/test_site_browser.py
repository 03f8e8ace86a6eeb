"""The published site as a browser shows it: on a phone, in light and dark, by keyboard, with nothing from elsewhere."""

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Literal

import pytest
from playwright.sync_api import BrowserContext, Locator, Page

from referee.publish import publish_site
from tests.support.browser import browser, chromium, was_refused
from tests.support.records import AtHand, random_league
from tests.support.site import publish_every_kind

pytestmark = pytest.mark.browser

# Every visible text with its colour and the colours behind it, composed as the browser does.
# Text in a drawing is judged against the sheet: letters and numbers stand beside the columns, never on them.
_CONTRASTS = """() => {
  const parse = text => { const n = text.match(/[\\d.]+/g).map(Number); return n.length === 4 ? n : [...n, 1]; };
  const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const light = c => {
    const [r, g, b] = c.slice(0, 3).map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = node => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 1]);
  };
  const found = {};
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !node.checkVisibility()) continue;
    const style = getComputedStyle(node);
    const back = behind(node);
    let opacity = 1;
    for (let at = node; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
    const ink = parse(node.namespaceURI.endsWith('svg') ? style.fill : style.color);
    const front = over([...ink.slice(0, 3), ink[3] * opacity], back);
    const [low, high] = [light(front), light(back)].sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05);
    const key = `${node.tagName}.${node.getAttribute('class')} ${style.color} on ${back}`;
    found[key] = Math.min(found[key] ?? 99, ratio);
  }
  return found;
}"""

_LINES = "place => (range => (range.selectNodeContents(place), range.getClientRects().length))(document.createRange())"


@pytest.fixture(scope="module")
def context() -> Iterator[BrowserContext]:
    executable = chromium()
    assert executable is not None, "tests/conftest.py sees to that"
    with browser(executable) as context:
        yield context


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    # A folder below another one: nothing may depend on the site being at the root.
    return publish_every_kind(tmp_path_factory.mktemp("www") / "some")


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    page = context.new_page()
    yield page
    page.close()


def _across(place: Locator) -> tuple[float, float]:
    """Where it begins and ends, from left to right."""
    box = place.bounding_box()
    assert box is not None
    return box["x"], box["x"] + box["width"]


def _unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")


@pytest.mark.parametrize("width", [320, 360, 390, 768, 1280])
def test_no_page_scrolls_sideways(page: Page, pages: list[Path], width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for path in pages:
        page.goto(path.as_uri())
        _unfold(page)
        assert page.evaluate("document.scrollingElement.scrollWidth") == width, path.name


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_shows_the_standings_whole(page: Page, pages: list[Path], width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for path in pages:
        page.goto(path.as_uri())
        for table in page.locator(".standings").all():
            assert table.evaluate("table => table.parentElement.scrollWidth - table.parentElement.clientWidth") == 0
            row = table.locator("tbody tr").first
            assert all(cell.is_visible() for cell in row.locator("th, td").all())
            rated = "rated" in (table.get_attribute("class") or "")
            assert row.locator("th, td").count() == (10 if rated else 8)


@pytest.mark.parametrize("width", [360, 375, 390, 412])
def test_a_phone_breaks_no_name_and_no_interval_of_usual_length(page: Page, tmp_path: Path, width: int) -> None:
    nights, records = random_league(Random(5), bots=("neighbour", "greedy"), nights=1, seats=(2,), deals=1)
    publish_site(tmp_path / "site", league="Thursday night", nights=nights, games=AtHand(records))
    page.set_viewport_size({"width": width, "height": 800})
    page.goto((tmp_path / "site" / "index.html").as_uri())
    row = page.locator(".standings.rated tbody tr", has_text="neighbour")
    interval = row.locator(".elo small")
    interval.evaluate("place => place.textContent = '+128 … +287'")
    for place in (row.locator("th a bdi"), interval):
        assert place.evaluate(_LINES) == 1


def test_a_phone_has_the_standings_as_a_table_for_screen_readers(page: Page, pages: list[Path]) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(pages[0].as_uri())
    table = page.get_by_role("table", name="All nights together")
    assert table.get_by_role("columnheader").count() == 5
    assert table.get_by_role("rowheader").count() == 6


def test_names_in_drawings_stay_in_them_and_off_each_other(page: Page, tmp_path: Path) -> None:
    bots = ("w" * 32, "grove-of-the-very-longest-name__", "m" * 32, "mc_rollout-2", "_" * 12)
    nights, records = random_league(Random(5), bots=bots, nights=1, seats=(2, 3, 4, 5), deals=1, max_tables=2)
    publish_site(tmp_path / "site", league="Thursday night", nights=nights, games=AtHand(records))
    seats = set()
    for path in (tmp_path / "site" / "matches").iterdir():
        page.goto(path.as_uri())
        for drawing in page.locator(".treeline").all():
            frame, labels = _across(drawing), [_across(label) for label in drawing.locator(".bot").all()]
            edges = [frame[0], *(edge for label in labels for edge in label), frame[1]]
            assert edges == sorted(edges)
            seats.add(len(labels))
    assert seats == {2, 3, 4, 5}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_the_contrast_that_readers_need(
    page: Page, pages: list[Path], scheme: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=scheme)
    for path in pages:
        page.goto(path.as_uri())
        _unfold(page)
        contrasts: dict[str, float] = page.evaluate(_CONTRASTS)
        assert len(contrasts) > 10
        poor = {text: ratio for text, ratio in contrasts.items() if ratio < 4.5}
        assert not poor, path.name


def test_light_and_dark_are_two_looks(page: Page, pages: list[Path]) -> None:
    looks = set()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.goto(pages[0].as_uri())
        looks.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(looks) == 2


def test_pages_ask_for_files_of_the_site_alone_and_nothing_is_refused(page: Page, pages: list[Path]) -> None:
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("requestfailed", lambda request: complaints.append(request.url) if was_refused(request) else None)
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    root = pages[0].parent.parent.as_uri()
    for path in pages:
        page.goto(path.as_uri())
        assert page.evaluate("getComputedStyle(document.querySelector('.band')).backgroundImage") != "none"
    assert complaints == []
    assert any(url.endswith("style.css") for url in asked)
    assert [url for url in asked if not url.startswith(root)] == []


def test_the_whole_page_is_reached_by_keyboard_and_the_focus_is_seen(page: Page, pages: list[Path]) -> None:
    page.goto(pages[0].as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top >= 0")
    for _ in range(12):
        page.keyboard.press("Tab")
        style = page.evaluate(
            "(({outlineStyle, outlineWidth}) => [outlineStyle, outlineWidth])(getComputedStyle(document.activeElement))"
        )
        assert style == ["solid", "3px"]
    page.locator(".scroll[role=region]").first.focus()
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "All nights together, best first"


def _tab_to(page: Page, link: Locator) -> None:
    """Press Tab until the link has the focus; a link that is never reached fails."""
    for _ in range(200):
        page.keyboard.press("Tab")
        if link.evaluate("link => link === document.activeElement"):
            return
    pytest.fail(f"Tab does not reach {link}")


def test_a_reader_gets_from_the_index_to_a_bot_and_into_a_game_by_keyboard_alone(page: Page, pages: list[Path]) -> None:
    index, _, bot, match, *_ = pages
    page.goto(index.as_uri())
    _tab_to(page, page.get_by_role("link", name="Skip to the content"))
    page.keyboard.press("Enter")
    _tab_to(page, page.locator("table.rated").get_by_role("link", name="amber", exact=True))
    page.keyboard.press("Enter")
    page.wait_for_url(bot.as_uri())
    _tab_to(page, page.locator("summary", has_text="Night 1"))
    page.keyboard.press("Enter")
    _tab_to(page, page.locator(f"details a[href$='/{match.name}']"))
    page.keyboard.press("Enter")
    page.wait_for_url(match.as_uri())
    _tab_to(page, page.get_by_role("group", name="Replay of a game"))
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("slider", name="Turn").input_value() == "1"


def _column(page: Page, name: str) -> list[str]:
    table = page.locator("table.rated")
    at = [head.inner_text() for head in table.locator("thead th").all()].index(name)
    return table.locator(f"tbody tr > :nth-child({at + 1})").all_inner_texts()


def test_standings_are_sorted_by_any_column_with_the_mouse_or_the_keyboard(page: Page, pages: list[Path]) -> None:
    page.goto(pages[0].as_uri())
    ranked = _column(page, "Rank")
    heads = page.locator("table.rated thead th")
    for name in ("Elo", "Score, %", "Faults", "Games", "W–T–L", "Margin", "Move"):
        head = heads.filter(has_text=name)
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == "descending"
        assert page.locator("table.rated th[aria-sort]").count() == 1
        numbers = [float(re.match(r"[-+.\d]+", text.replace("−", "-"))[0]) for text in _column(page, name)]  # type: ignore[index]
        assert numbers == sorted(numbers, reverse=True)
    head = heads.filter(has_text="Bot")
    head.get_by_role("button").press("Enter")
    names = _column(page, "Bot")
    assert names == sorted(names)
    head.get_by_role("button").press("Enter")
    assert _column(page, "Bot") == names[::-1]
    assert head.get_attribute("aria-sort") == "descending"
    heads.filter(has_text="Rank").get_by_role("button").press("Space")
    assert _column(page, "Rank") == ranked


def test_moves_are_folded_away_until_asked_for(page: Page, pages: list[Path]) -> None:
    page.goto(pages[3].as_uri())
    assert not page.locator("table.moves").first.is_visible()
    page.locator("summary", has_text="moves").first.press("Enter")
    assert page.locator("table.moves").first.is_visible()


def test_on_paper_the_night_sky_is_left_out_and_tables_are_whole(page: Page, pages: list[Path]) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 between its margins
    for path in pages:
        page.goto(path.as_uri())
        assert page.evaluate("getComputedStyle(document.querySelector('.band')).backgroundImage") == "none"
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
        assert page.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == "visible"
        assert page.evaluate("document.scrollingElement.scrollWidth") == 718, path.name


def test_guild_letters_read_well_on_their_colours(page: Page, pages: list[Path]) -> None:
    page.goto(pages[3].as_uri())
    contrasts: dict[str, float] = page.evaluate(_CONTRASTS)
    guilds = {text: ratio for text, ratio in contrasts.items() if text.startswith("SPAN.guild g")}
    assert len(guilds) == 6
    assert min(guilds.values()) >= 4.5
