"""The published site as a server hands it out: axe-core finds no fault on any kind of page, nobody else is asked."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.support.browser import browser, chromium, was_refused
from tests.support.site import publish_every_kind, served

pytestmark = pytest.mark.browser

# Axe judges no text above a gradient, and all tables are above the shadows of their edges; the colour below stays.
_WITHOUT_GRADIENTS = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('* { background-image: none !important; animation: none !important; }');
  document.adoptedStyleSheets = [sheet];
  document.querySelectorAll('details').forEach(each => each.open = true);
}"""


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    executable = chromium()
    assert executable is not None, "tests/conftest.py sees to that"
    with browser(executable) as context:
        yield context.new_page()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[str]]]:
    """The root's address, and that of a page of each kind; those of matches with the replay in the middle of a game."""
    folder = tmp_path_factory.mktemp("www")
    paths = publish_every_kind(folder, deals=1)
    with served(folder) as root:
        yield root, [_address(root, path.relative_to(folder)) for path in paths]


def _address(root: str, path: Path) -> str:
    return f"{root}/{path.as_posix()}" + ("#turn=17" if path.parent.name == "matches" else "")


def _faults(page: Page) -> dict[str, list[str]]:
    """What axe finds: the rule and how grave it is, with the elements."""
    page.evaluate(_WITHOUT_GRADIENTS)
    found = Axe().run(page).response["violations"]
    return {f"{each['id']} ({each['impact']})": [str(node["target"]) for node in each["nodes"]] for each in found}


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_axe_finds_no_fault_on_any_kind_of_page(
    page: Page, site: tuple[str, list[str]], width: int, scheme: Literal["light", "dark"]
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    found = {}
    for url in site[1]:
        page.goto(url)
        if faults := _faults(page):
            found[url] = faults
    assert found == {}


def test_axe_would_find_a_picture_without_words_and_a_pale_text(page: Page, site: tuple[str, list[str]]) -> None:
    page.goto(site[1][0])
    page.evaluate("""() => {
      document.querySelector('main').append(document.createElement('img'));
      document.querySelector('td.elo b').style.color = 'rgb(128 128 128 / .5)';
    }""")
    assert set(_faults(page)) == {"image-alt (critical)", "color-contrast (serious)"}


def test_no_page_makes_the_browser_complain_or_ask_elsewhere(page: Page, site: tuple[str, list[str]]) -> None:
    root, pages = site
    asked: set[str] = set()
    complaints: list[str] = []
    page.on("request", lambda request: asked.add(request.url))
    page.on("response", lambda answer: complaints.append(answer.url) if answer.status >= 400 else None)
    page.on("requestfailed", lambda request: complaints.append(request.url) if was_refused(request) else None)
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    for url in pages:
        page.goto(url)
        assert page.title() != "pwned"
    assert complaints == []
    assert {f"{root}/league/{name}" for name in ("style.css", "sort.js", "viewer.js")} <= asked
    assert [url for url in asked if not url.startswith(f"{root}/")] == []
