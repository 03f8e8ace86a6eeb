"""Publishing a league: all files of its site, written to a fresh folder that then takes the old one's place."""

from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final

from referee.model import GameRecord, Night
from referee.publish.folder import replacing
from referee.publish.overview import NightView, overview
from referee.publish.pages import Pages
from referee.records import to_json
from referee.sitefile import NAME, site_json
from referee.standings import standings_csv, standings_json

_STATIC: Final = ("style.css", "forest.svg", "firefly.svg")


def publish_site(site: Path, *, league: str, nights: Sequence[Night], records: Sequence[GameRecord]) -> Path:
    """Write the leaderboard to the folder `site` and return the path of its first page.

    The files follow from the arguments alone: the same league gives the same bytes, in whatever order its
    records come. An old site is replaced as a whole. Raises UsageError if `site` is a folder that is no
    treelings site, or a record belongs to none of the nights; RecordError if a record breaks the rules;
    RefereeError if the folder cannot be written. After any error the old site is still there.
    """
    shown = overview(league, nights, records)
    pages = Pages(shown)
    with replacing(site) as folder:
        for name in ("bots", "matches", "records"):
            (folder / name).mkdir()
        for name in _STATIC:
            content = files("referee.publish").joinpath("static", name).read_bytes()
            (folder / name).write_bytes(content)
        _write(folder / NAME, site_json(league, [view.night for view in shown.nights]))
        _write(folder / "standings.json", standings_json(league, records))
        _write(folder / "standings.csv", standings_csv(shown.rows))
        _write(folder / "index.html", pages.index())
        for view in shown.nights:
            number = view.night.number
            _write(folder / f"night-{number}.html", pages.night(view))
            _write_lines(folder / "records" / f"night-{number}.jsonl", _games(view))
            for match in view.matches:
                _write(folder / "matches" / f"{match.page}.html", pages.match(match))
        for bot in shown.bots.values():
            _write(folder / "bots" / f"{bot.page}.html", pages.bot(bot))
    return site / "index.html"


def _games(view: NightView) -> Iterable[str]:
    return (to_json(game).rstrip("\n") + "\n" for match in view.matches for game in match.games)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)
