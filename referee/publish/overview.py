"""What the pages show, worked out once from nights and records."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from referee.duels import Duels, Ring, duels, rings
from referee.errors import UsageError
from referee.leaderboard import Leaderboard, Table, leaderboard, table
from referee.model import GameRecord, Night, Standing
from referee.publish.bots import BotView, bot_views
from referee.publish.nights import Change, NightView, changes, night_view


@dataclass(frozen=True, slots=True)
class Overview:
    """A league as its pages show it.

    board    all tables; `season` is its first
    sizes    the season's table for each size of table, where there are more than one; else empty
    duels    every bot against every other that it met
    rings    bots that beat each other in a ring
    nights   from the first to the latest
    changes  by number of the night, from the second on
    since    when a bot's version first played, by bot and version
    """

    league: str
    board: Leaderboard
    sizes: Mapping[int, Table]
    duels: Duels
    rings: tuple[Ring, ...]
    nights: tuple[NightView, ...]
    changes: Mapping[int, tuple[Change, ...]]
    bots: Mapping[str, BotView]
    since: Mapping[tuple[str, str], str]

    @property
    def season(self) -> Table:
        """The table of all nights together."""
        return self.board.season

    @property
    def rows(self) -> tuple[Standing, ...]:
        """The season's standings."""
        return self.board.season.rows


def overview(league: str, nights: Sequence[Night], records: Iterable[GameRecord]) -> Overview:
    """The league as its pages show it, the same for any order of the records, which need no moves.

    Raises UsageError if a record belongs to none of the nights.
    """
    numbers = {night.number for night in nights}
    by_night: dict[int, list[GameRecord]] = {number: [] for number in sorted(numbers)}
    for record in records:
        if record.night is None or record.night not in numbers:
            raise UsageError(f"record {record.id!r}: night {record.night} is none of league {league!r}")
        by_night[record.night].append(record)
    season = [record for games in by_night.values() for record in games]
    board = leaderboard(league, season)
    views = tuple(
        night_view(league, night, by_night[night.number], board.nights.get(night.number) or table(()))
        for night in sorted(nights, key=lambda night: night.number)
    )
    met = duels(season)
    return Overview(
        league=league,
        board=board,
        sizes=_by_size(season),
        duels=met,
        rings=rings(met),
        nights=views,
        changes={view.night.number: changes(view, views[:at]) for at, view in enumerate(views) if at},
        bots=bot_views(views, board.season, met),
        since=_since(views),
    )


def _by_size(season: Sequence[GameRecord]) -> dict[int, Table]:
    games: defaultdict[int, list[GameRecord]] = defaultdict(list)
    for record in season:
        games[len(record.seats)].append(record)
    return {size: table(games[size]) for size in sorted(games)} if len(games) > 1 else {}


def _since(views: Sequence[NightView]) -> dict[tuple[str, str], str]:
    since: dict[tuple[str, str], str] = {}
    for view in views:
        for bot in view.night.bots:
            since.setdefault((bot.name, bot.version), view.night.opened)
    return since
