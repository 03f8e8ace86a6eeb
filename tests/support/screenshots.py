"""Pictures of a sample site: `python -m tests.support.screenshots FOLDER` (desktop, phone, print; light, dark)."""

import sys
from pathlib import Path

from referee.publish import publish_site
from tests.support.browser import browser, chromium
from tests.support.site import pages_of, sample_league

_WIDTHS = {"desktop": 1280, "phone": 390}


def take(folder: Path) -> list[Path]:
    """Publish a sample league below the folder, and picture a page of each kind."""
    executable = chromium()
    if executable is None:
        raise SystemExit("screenshots: Chromium is needed, none found; on Debian: apt-get install chromium")
    nights, records = sample_league(bots=12)
    publish_site(folder / "site", league="Thursday night", nights=nights, records=records)
    taken = []
    with browser(executable) as context:
        page = context.new_page()
        for at, path in enumerate(pages_of((folder / "site").resolve())):
            for device, width in _WIDTHS.items():
                page.set_viewport_size({"width": width, "height": 900})
                for scheme in ("light", "dark"):
                    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
                    page.goto(path.as_uri())
                    picture = folder / f"{at}-{path.stem[:20]}-{device}-{scheme}.png"
                    page.screenshot(path=picture, full_page=True)
                    taken.append(picture)
            printed = folder / f"{at}-{path.stem[:20]}.pdf"
            page.goto(path.as_uri())
            page.pdf(path=printed, format="A4", print_background=False)
            taken.append(printed)
    return taken


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m tests.support.screenshots FOLDER")
    for picture in take(Path(sys.argv[1])):
        print(picture)
