"""The documentation: what its pages show is true, and `make docs` makes one site of them that needs no network."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

import pytest
from axe_playwright_python.sync_playwright import Axe
from markdown_it import MarkdownIt
from playwright.sync_api import BrowserContext

import treelings.env
from tests.support.browser import browser, chromium
from tests.support.command import help_of
from tests.support.walkthrough import Reader, agrees, steps

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
FOLLOWED = [page for page in PAGES if any(steps((ROOT / page).read_text(encoding="utf-8")))]
ELSEWHERE = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "sdk/README.md": "kit.md",
}
_LOADING = {"audio", "embed", "iframe", "img", "link", "object", "script", "source", "track", "video"}


@pytest.mark.docker
@pytest.mark.usefixtures("runtime_image")
@pytest.mark.parametrize("page", FOLLOWED)
def test_whoever_follows_a_page_sees_what_it_shows(page: str, tmp_path: Path) -> None:
    Reader(tmp_path).follow((ROOT / page).read_text(encoding="utf-8"))


def test_a_check_that_a_busy_machine_makes_slow_is_what_a_page_shows_and_no_other_warning_is() -> None:
    page = "✓ 4 start  ready\n✓ 8 log    {log}\n\notter is ready to play.\n"
    slow = (
        "! 4 start  ready\n           → that is more than half of its time: on a slower machine it may be too late\n"
        "{mark} 8 log    {log}\n\notter is ready to play, with {many} to look at (!).\n"
    )
    assert agrees(page.format(log="empty"), slow.format(mark="✓", log="empty", many="1 thing"))
    assert not agrees(page.format(log="much"), slow.format(mark="!", log="much", many="2 things"))


def test_the_pages_to_be_followed_are_found() -> None:
    assert {"docs/index.md", "docs/organisers.md", "docs/tutorial.md"} <= set(FOLLOWED)


@pytest.mark.parametrize("page", sorted({*PAGES, *ELSEWHERE}))
def test_every_command_that_a_page_names_exists_with_its_options(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for command in re.findall(r"^    treelings (.*?)(?:\s{2,}#.*)?$|`treelings ([^`]+)`", text, re.MULTILINE):
        words = "".join(command).split()
        path = words[: 2 if words[0] in ("league", "image") else 1]
        shown = help_of(*(word for word in path if not word.startswith("-")))
        assert [word for word in words if word.startswith("--") and word not in shown] == [], command


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_a_file_on_a_repository_s_web_view(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    dead = [
        target
        for target in re.findall(r"\]\((?!https?:)([^)#\s]+)", text)
        if not (ROOT / page).parent.joinpath(target).exists()
    ]
    assert dead == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation as `make docs` builds it: every warning is an error (but none is seen with --quiet)."""
    to = tmp_path_factory.mktemp("docs")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(to)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return to


def test_the_site_has_every_page_and_those_that_stand_elsewhere(site: Path) -> None:
    built = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    names = [page.removeprefix("docs/").replace("README", "index") for page in PAGES]
    assert {name.replace(".md", ".html") for name in names} <= built
    assert {name.replace(".md", ".html") for name in ELSEWHERE.values()} <= built


@pytest.mark.parametrize("page", sorted({*PAGES, *ELSEWHERE} - {"docs/api.md"}))
def test_the_site_shows_the_lists_and_tables_of_a_repository_s_web_view(page: str, site: Path) -> None:
    path = ELSEWHERE.get(page, page.removeprefix("docs/"))
    built = (site / path.replace("README", "index").replace(".md", ".html")).read_text(encoding="utf-8")
    shown = built[built.index("<article") : built.index("</article>")]
    source = re.sub(r"\A---\n.*?\n---\n", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    meant = MarkdownIt().enable("table").render(source)
    for tag in ("li", "td", "pre", "h3"):
        assert _count(tag, shown) == _count(tag, meant), tag


def test_every_link_of_the_site_leads_to_a_page_of_it(site: Path) -> None:
    pages = [page for page in site.rglob("*.html") if page.name != "404.html"]  # which is shown anywhere
    dead = [
        (page.name, target)
        for page in pages
        for target in re.findall(r'<a [^>]*href="(?!\w+:)([^"#?]+)', page.read_text(encoding="utf-8"))
        if not (page.parent / unquote(target)).exists()
    ]
    assert dead == []


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        loads = _Loads(page.read_text(encoding="utf-8"))
        assert loads.sources, page
        assert [source for source in loads.sources if re.match(r"(https?:)?//", source)] == [], page


def test_no_style_or_picture_loads_anything_from_elsewhere(site: Path) -> None:
    looks = [path for path in site.rglob("*") if path.suffix in (".css", ".svg")]
    assert {"docs.css", "forest.svg"} <= {path.name for path in looks}
    for path in looks:
        text = path.read_text(encoding="utf-8")
        assert re.findall(r"(?:url\(|@import|href=)\s*[\"']?(?:https?:)?//[^)\"']*", text) == [], path


def test_the_reference_has_every_public_name(site: Path) -> None:
    page = (site / "api.html").read_text(encoding="utf-8")
    assert set(treelings.__all__) <= set(re.findall(r'id="treelings\.(\w+)"', page))
    assert set(treelings.env.__all__) <= set(re.findall(r'id="treelings\.env\.(\w+)"', page))


def test_the_reference_shows_fields_as_tables_and_leads_to_the_specification(site: Path) -> None:
    page = (site / "api.html").read_text(encoding="utf-8")
    assert re.search(r"<td><code>bank_ms</code></td>\s*<td>what a seat's clock holds", page)
    assert re.search(r'href="spec/rules.html#two-sources-two-refills"', page)


def test_a_command_is_copied_without_what_it_prints(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    copied = re.search(r'data-copy="(treelings match random greedy[^"]*)"', page)
    assert copied is not None
    assert "\n" not in copied[1]


@pytest.fixture(scope="module")
def chrome() -> Iterator[BrowserContext]:
    executable = chromium()
    assert executable is not None
    with browser(executable) as context:
        yield context


@pytest.mark.browser
def test_the_site_is_read_and_searched_from_a_disk_without_a_network(site: Path, chrome: BrowserContext) -> None:
    page = chrome.new_page()
    asked: list[str] = []
    wrong: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto((site / "spec/rules.html").as_uri())
    page.locator("input[name=query]").click()
    page.keyboard.type("commitment")
    page.locator("a.md-search-result__link[href*='rules.html'][href*='#deck-and-deal']").wait_for(state="attached")
    assert wrong == []
    assert [url for url in asked if not url.startswith("file:")] == []


@pytest.mark.browser
def test_axe_finds_no_fault_but_the_theme_s(site: Path, chrome: BrowserContext) -> None:
    page = chrome.new_page()
    schemes: dict[str, Literal["light", "dark"]] = {"index.html": "dark", "api.html": "light"}
    for name, scheme in schemes.items():
        page.emulate_media(color_scheme=scheme)
        page.goto((site / name).as_uri())
        found = Axe().run(page).response["violations"]
        assert {each["id"] for each in found} <= {"landmark-unique"}, found  # each button that copies is a <nav>


@pytest.mark.browser
def test_no_page_is_wider_than_a_phone(site: Path, chrome: BrowserContext) -> None:
    page = chrome.new_page()
    page.set_viewport_size({"width": 360, "height": 740})
    for path in sorted({*site.rglob("*.html")} - {*site.glob("source/**/*")}):
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path


@pytest.mark.browser
@pytest.mark.parametrize("name", ["rules.html", "strategy.html"])
def test_a_picture_keeps_the_size_of_its_words_on_a_phone_and_scrolls_within_the_page(
    name: str, site: Path, chrome: BrowserContext
) -> None:
    page = chrome.new_page()
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto((site / name).as_uri())
    pictures = page.locator("article img")
    # Each as [its width over that of the drawing, whether its frame scrolls, how far the frame sticks out].
    measured = pictures.evaluate_all(
        """pictures => pictures.map(picture => {
            const frame = picture.parentElement, room = frame.getBoundingClientRect();
            return [picture.getBoundingClientRect().width / picture.naturalWidth,
                    frame.scrollWidth > frame.clientWidth, room.right - innerWidth];
        })"""
    )
    assert len(measured) >= 4
    assert [each for each in measured if each[0] < 0.8 or not each[1] or each[2] > 0] == []


def _count(tag: str, page: str) -> int:
    return len(re.findall(rf"<{tag}[ >]", page))


class _Loads(HTMLParser):
    """What a browser fetches by itself to show a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in _LOADING and given.get("rel") not in ("canonical", "next", "prev"):
            self.sources += [value for name in ("src", "href", "data") if (value := given.get(name))]
