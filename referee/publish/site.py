"""Publishing a league: all files of its site, written to a fresh folder that then takes the old one's place."""

import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from referee.leaderboard import standings_csv, standings_json
from referee.model import GameRecord, Night
from referee.publish.folder import Fresh, replacing
from referee.publish.nights import Match, NightView
from referee.publish.overview import Overview, overview
from referee.publish.pages import Pages
from referee.records import to_json
from referee.sitefile import NAME, site_json

_STATIC: Final = ("style.css", "sort.js", "viewer.js", "forest.svg", "firefly.svg")
_SOURCES: Final = (
    ("treelings", "*.py"), ("referee", "*.py"), ("referee.publish", "*.py"), ("referee.publish", "templates/*"),
)  # fmt: skip
"""What the pages of the same records may differ by: packages, and which of their files."""


def publish_site(site: Path, *, league: str, nights: Sequence[Night], records: Sequence[GameRecord]) -> Path:
    """Write the leaderboard to the folder `site` and return the path of its first page.

    The files follow from the arguments alone: the same league gives the same bytes, in whatever order its
    records come. An old site is replaced as a whole, but pages of matches that are what they were are not made
    again. Raises UsageError if `site` is a folder that is no treelings site, or a record belongs to none of the
    nights; RecordError if a record breaks the rules; RefereeError if the folder cannot be written. After any error
    the old site is still there.
    """
    shown = overview(league, nights, records)
    pages = Pages(shown)
    with replacing(site) as fresh:
        for name in _STATIC:
            fresh.write(name, files("referee.publish").joinpath("static", name).read_bytes())
        fresh.write(NAME, site_json(league, [view.night for view in shown.nights]))
        fresh.write("standings.json", standings_json(shown.board))
        fresh.write("standings.csv", standings_csv(shown.season))
        fresh.write("index.html", pages.index())
        if shown.nights:
            fresh.write("feed.xml", pages.feed())
        for view in shown.nights:
            number = view.night.number
            fresh.write(f"night-{number}.html", pages.night(view))
            fresh.write_lines(f"records/night-{number}.jsonl", _matches(fresh, pages, shown, view))
        for bot in shown.bots.values():
            fresh.write(f"bots/{bot.page}.html", pages.bot(bot))
            fresh.write(f"badges/{bot.page}.svg", pages.badge(bot))
    return site / "index.html"


def _matches(fresh: Fresh, pages: Pages, league: Overview, view: NightView) -> Iterator[str]:
    """Write the page of each match; the records of each game, a line each."""
    for match in view.matches:
        lines = [to_json(game).rstrip("\n") + "\n" for game in match.games]
        name, mark = f"matches/{match.page}.html", _mark(league, match, lines)
        if not fresh.keep(name, mark):
            fresh.write(name, pages.match(match) + mark)
        yield from lines


def _mark(league: Overview, match: Match, lines: Sequence[str]) -> str:
    """How the page of a match ends: a digest of all that it is made from."""
    made = hashlib.sha256(_code().encode())
    authors = [league.bots[bot].author for bot in match.bots]
    for part in (league.league, match.night, match.id, match.round, match.planned, authors, *lines):
        made.update(repr(part).encode() + b"\n")
    return f"<!-- made from {made.hexdigest()} -->\n"


@cache
def _code() -> str:
    """A digest of the code and the templates that make pages."""
    made = hashlib.sha256()
    for package, pattern in _SOURCES:
        folder = Path(str(files(package)))
        for path in sorted(folder.glob(pattern)):
            made.update(f"{package} {path.relative_to(folder)}\n".encode() + path.read_bytes())
    return made.hexdigest()
