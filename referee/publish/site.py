"""Publishing a league: all files of its site, written to a fresh folder that then takes the old one's place."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from referee.leaderboard import standings_csv, standings_json
from referee.model import Night
from referee.ports import RecordedGames
from referee.publish.folder import Fresh, replacing
from referee.publish.nights import Match, NightView
from referee.publish.overview import Overview, overview
from referee.publish.paces import Times
from referee.publish.pages import Pages
from referee.sitefile import NAME, site_json

_STATIC: Final = ("style.css", "sort.js", "viewer.js", "forest.svg", "firefly.svg")
_SOURCES: Final = (
    ("treelings", "*.py"), ("referee", "*.py"), ("referee.publish", "*.py"), ("referee.publish", "templates/*"),
)  # fmt: skip
"""What the pages of the same records may differ by: packages, and which of their files."""


def publish_site(site: Path, *, league: str, nights: Sequence[Night], games: RecordedGames) -> Path:
    """Write the leaderboard to the folder `site` and return the path of its first page.

    The files follow from the arguments alone: the same league gives the same bytes, in whatever order its
    games come. An old site is replaced as a whole, but pages of matches that are what they were are not made
    again. Raises UsageError if `site` is a folder that is no treelings site, or a game
    belongs to none of the nights; RecordError if a record breaks the rules; RefereeError if the folder cannot be
    written. After any error the old site is still there.
    """
    shown = overview(league, nights, games.results())
    pages = Pages(shown)
    with replacing(site) as fresh:
        for name in _STATIC:
            fresh.write(name, files("referee.publish").joinpath("static", name).read_bytes())
        fresh.write(NAME, site_json(league, [view.night for view in shown.nights]))
        fresh.write("standings.json", standings_json(shown.board))
        fresh.write("standings.csv", standings_csv(shown.season))
        if shown.nights:
            fresh.write("feed.xml", pages.feed())
        times = []
        for view in shown.nights:
            number, of_night = view.night.number, Times()
            fresh.write_parts(f"records/night-{number}.jsonl", _matches(fresh, pages, shown, view, games, of_night))
            fresh.write_parts(f"night-{number}.html", pages.night(view, of_night.paces()))
            times.append(of_night)
        paces = Times.together(times).paces()
        fresh.write("index.html", pages.index(paces))
        for bot in shown.bots.values():
            fresh.write(f"bots/{bot.page}.html", pages.bot(bot, paces.get(bot.name)))
            fresh.write(f"badges/{bot.page}.svg", pages.badge(bot))
    return site / "index.html"


def _matches(
    fresh: Fresh, pages: Pages, league: Overview, view: NightView, games: RecordedGames, times: Times
) -> Iterator[str]:
    """Write the page of each match; the records of each game, a line each. `times` is told what its moves took."""
    matches = view.matches
    for match, found in zip(matches, games.lines(view.night.number, [match.id for match in matches]), strict=True):
        lines = [found[game.id] for game in match.games]
        name, mark = f"matches/{match.page}.html", _mark(league, match, lines)
        if not fresh.keep(name, mark):
            played = replace(match, games=tuple(map(games.record, lines)))
            fresh.write(name, pages.match(played) + mark)
        times.add(match, lines)
        for line in lines:
            yield line + "\n"


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
