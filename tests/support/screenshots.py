"""Pictures of made-up sites: `python -m tests.support.screenshots FOLDER` (desktop, phone, print; light, dark)."""

import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page

from tests.support.browser import browser, chromium
from tests.support.site import publish_every_kind

_WIDTHS = {"desktop": 1280, "phone": 390}
_MID_GAME = "#turn=30"


def take(folder: Path) -> Iterator[Path]:
    """Publish made-up leagues below the folder and picture a page of each kind; each picture once it is there."""
    executable = chromium()
    if executable is None:
        raise SystemExit("screenshots: Chromium is needed, none found; on Debian: apt-get install chromium")
    site = folder.resolve() / "site"
    with browser(executable) as context:
        page = context.new_page()
        for at, path in enumerate(publish_every_kind(site, bots=12)):
            name = "-".join(path.relative_to(site).with_suffix("").parts)[:40]
            yield from _looks(page, path, str(folder / f"{at:02}-{name}"))
        badge = min((site / "league" / "badges").iterdir())
        page.goto(badge.as_uri())
        yield _picture(page, folder / "badge.png", "svg")


def _looks(page: Page, path: Path, name: str) -> Iterator[Path]:
    """The whole page on each device, light and dark, and its replay in the middle of a game; on paper."""
    for device, width in _WIDTHS.items():
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            page.goto(path.as_uri())
            yield _picture(page, Path(f"{name}-{device}-{scheme}.png"))
            if path.parent.name == "matches":
                page.goto("about:blank")
                page.goto(path.as_uri() + _MID_GAME)
                yield _picture(page, Path(f"{name}-replay-{device}-{scheme}.png"), "#replay")
    printed = Path(f"{name}.pdf")
    page.goto(path.as_uri())
    page.pdf(path=printed, format="A4", print_background=False)
    yield printed


def _picture(page: Page, to: Path, part: str | None = None) -> Path:
    if part is None:
        page.screenshot(path=to, full_page=True)
    else:
        page.locator(part).screenshot(path=to)
    return to


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m tests.support.screenshots FOLDER")
    for picture in take(Path(sys.argv[1])):
        print(picture)
