"""A published site, as far as verifying goes, written from a made-up league."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from referee.leaderboard import leaderboard, standings_csv, standings_json
from referee.model import GameRecord, Night
from referee.records import to_json
from referee.sitefile import site_json


def write_site(site: Path, league: str, nights: Sequence[Night], records: Sequence[GameRecord]) -> Path:
    """Write league.json, the standings and records/ as the site has them."""
    (site / "records").mkdir(parents=True, exist_ok=True)
    (site / "league.json").write_text(site_json(league, nights))
    board = leaderboard(league, records)
    (site / "standings.json").write_text(standings_json(board))
    (site / "standings.csv").write_text(standings_csv(board.season), newline="")
    for night in nights:
        of_night = [record for record in records if record.night == night.number]
        write_records(site / "records" / f"night-{night.number}.jsonl", of_night)
    return site


def write_records(path: Path, records: Iterable[GameRecord]) -> Path:
    """Write a file of records, one a line."""
    path.write_text("".join(to_json(record) + "\n" for record in records))
    return path
