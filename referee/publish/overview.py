"""What the pages show, worked out once from nights and records."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from referee.errors import UsageError
from referee.model import Fault, GameRecord, MatchSpec, Night, Standing
from referee.schedule import plan_night
from referee.standings import Pair, head_to_head, standings

Outcome = Literal["W", "T", "L"]


@dataclass(frozen=True, slots=True)
class Match:
    """A match as far as it has been played.

    page     its file below matches/
    round    counts from 0; None for a match that the night's plan does not know
    bots     names in alphabetical order
    games    by deal, then by rotation
    planned  games that the plan asks for
    rows     standings of this match alone
    """

    night: int
    id: str
    page: str
    round: int | None
    bots: tuple[str, ...]
    games: tuple[GameRecord, ...]
    planned: int
    rows: tuple[Standing, ...]

    def row(self, bot: str) -> Standing:
        """The standing of one of its bots."""
        return next(row for row in self.rows if row.bot == bot)


@dataclass(frozen=True, slots=True)
class Round:
    """Matches of one table size and round, `seats` at a table."""

    seats: int
    number: int | None
    matches: tuple[Match, ...]


@dataclass(frozen=True, slots=True)
class NightView:
    """A night with its standings and the matches played so far.

    played, planned  games
    planned_matches  matches that the plan asks for
    """

    night: Night
    rows: tuple[Standing, ...]
    rounds: tuple[Round, ...]
    played: int
    planned: int
    planned_matches: int

    @property
    def table_sizes(self) -> tuple[int, ...]:
        """Seats at the tables that the standings count, each size once."""
        return tuple(sorted({group.seats for group in self.rounds}))

    @property
    def matches(self) -> tuple[Match, ...]:
        """All matches, in the order of the plan."""
        return tuple(match for group in self.rounds for match in group.matches)


@dataclass(frozen=True, slots=True)
class BotMatch:
    """A match from one bot's side; `outcomes` has a letter for each game, as in Standing."""

    match: Match
    row: Standing
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class BotFault:
    """A fault of a bot and the game it forfeited by it."""

    match: Match
    game: GameRecord
    fault: Fault


@dataclass(frozen=True, slots=True)
class BotView:
    """All that a bot's page shows.

    standing   of the season; None before its first finished game
    versions   each with the nights that it played in, oldest first
    opponents  in the order of the season's standings
    matches    latest night first, in the order of the plan
    """

    name: str
    author: str
    page: str
    standing: Standing | None
    versions: tuple[tuple[str, tuple[int, ...]], ...]
    opponents: tuple[tuple[str, Pair], ...]
    matches: tuple[BotMatch, ...]
    faults: tuple[BotFault, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """A league: `rows` are the season's standings, `nights` run from the first to the latest."""

    league: str
    rows: tuple[Standing, ...]
    pairs: Mapping[tuple[str, str], Pair]
    nights: tuple[NightView, ...]
    bots: Mapping[str, BotView]

    @property
    def table_sizes(self) -> tuple[int, ...]:
        """Seats at the tables that the standings count, each size once."""
        return tuple(sorted({size for view in self.nights for size in view.table_sizes}))


def page_name(text: str) -> str:
    """A file name, without its ending, for any text: different for different texts, whatever they hold.

    Names of bots, and of matches, stay as they are; other characters become their number in hex.
    """
    return re.sub(r"[^a-z0-9_-]", lambda char: f"~{ord(char[0]):x}~", text)


def overview(league: str, nights: Sequence[Night], records: Iterable[GameRecord]) -> Overview:
    """The league as its pages show it, the same for any order of the records.

    Raises UsageError if a record belongs to none of the nights.
    """
    numbers = {night.number for night in nights}
    by_night: dict[int, list[GameRecord]] = {number: [] for number in sorted(numbers)}
    for record in records:
        if record.night is None or record.night not in numbers:
            raise UsageError(f"record {record.id!r}: night {record.night} is none of league {league!r}")
        by_night[record.night].append(record)
    season = [record for games in by_night.values() for record in games]
    rows = standings(season)
    pairs = head_to_head(season)
    views = tuple(_night(league, night, by_night[night.number]) for night in sorted(nights, key=lambda n: n.number))
    return Overview(league, rows, pairs, views, _bots(views, rows, pairs))


def _night(league: str, night: Night, records: list[GameRecord]) -> NightView:
    plan = plan_night(league=league, night=night.number, bots=[bot.name for bot in night.bots], settings=night.settings)
    games: defaultdict[str, list[GameRecord]] = defaultdict(list)
    for record in records:
        games[record.match].append(record)
    planned = [_match(night.number, spec, games.pop(spec.id)) for spec in plan if spec.id in games]
    strays = [_stray(night.number, match, games[match]) for match in sorted(games)]
    groups: defaultdict[tuple[int, int | None], list[Match]] = defaultdict(list)
    for match in planned + strays:
        groups[len(match.bots), match.round].append(match)
    return NightView(
        night=night,
        rows=standings(records),
        rounds=tuple(Round(seats, number, tuple(group)) for (seats, number), group in groups.items()),
        played=len(records),
        planned=sum(len(spec.games) for spec in plan),
        planned_matches=len(plan),
    )


def _match(night: int, spec: MatchSpec, records: list[GameRecord]) -> Match:
    return Match(
        night, spec.id, page_name(f"{night}-{spec.id}"), spec.round, spec.bots, _in_order(records),
        len(spec.games), standings(records),
    )  # fmt: skip


def _stray(night: int, match: str, records: list[GameRecord]) -> Match:
    bots = tuple(sorted({seat.bot for record in records for seat in record.seats}))
    return Match(night, match, page_name(f"{night}-{match}"), None, bots, _in_order(records), 0, standings(records))


def _in_order(records: list[GameRecord]) -> tuple[GameRecord, ...]:
    return tuple(sorted(records, key=lambda game: (deal_number(game), game.deal or "", game.rotation)))


def deal_number(game: GameRecord) -> int:
    """The number of a game's deal within its match, which is how its id ends; 0 where it has none."""
    end = (game.deal or "").rpartition("/")[2]
    return int(end) if re.fullmatch("[0-9]{1,9}", end) else 0


def _bots(
    nights: tuple[NightView, ...], rows: tuple[Standing, ...], pairs: Mapping[tuple[str, str], Pair]
) -> dict[str, BotView]:
    authors: dict[str, str] = {row.bot: "" for row in rows}
    versions: defaultdict[str, dict[str, list[int]]] = defaultdict(dict)
    matches: defaultdict[str, list[BotMatch]] = defaultdict(list)
    faults: defaultdict[str, list[BotFault]] = defaultdict(list)
    for view in nights:
        for entry in view.night.bots:
            authors[entry.name] = entry.author
            versions[entry.name].setdefault(entry.version, []).append(view.night.number)
    for view in reversed(nights):
        for match in view.matches:
            for row in match.rows:
                outcomes = tuple(_outcome(game, row.bot) for game in match.games)
                matches[row.bot].append(BotMatch(match, row, outcomes))
            for game in match.games:
                for fault in game.faults:
                    faults[game.seats[fault.seat].bot].append(BotFault(match, game, fault))
    standing = {row.bot: row for row in rows}
    return {
        name: BotView(
            name=name,
            author=authors[name],
            page=page_name(name),
            standing=standing.get(name),
            versions=tuple((version, tuple(played)) for version, played in versions[name].items()),
            opponents=tuple((row.bot, pairs[name, row.bot]) for row in rows if (name, row.bot) in pairs),
            matches=tuple(matches[name]),
            faults=tuple(faults[name]),
        )
        for name in sorted(authors)
    }


def _outcome(game: GameRecord, bot: str) -> Outcome:
    rank = next(rank for rank, seat in zip(game.ranks, game.seats, strict=True) if seat.bot == bot)
    if rank > min(game.ranks):
        return "L"
    return "W" if game.ranks.count(rank) == 1 else "T"
