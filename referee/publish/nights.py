"""A night as its page shows it: matches, tables, times, and what changed since the night before."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from referee.decision import Decision, plan_so_far
from referee.leaderboard import Table
from referee.model import GameRecord, MatchSpec, Night, Standing, deal_place
from referee.standings import standings


@dataclass(frozen=True, slots=True)
class Match:
    """A match as far as it has been played.

    page     its file below matches/
    round    counts from 0; None for a match that the night's plan does not know
    bots     names in alphabetical order
    games    by deal, then by rotation; without their moves, but on the match's own page
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
class Change:
    """What a night brought to one of its bots.

    rank, elo  in the night and in the one before; None where the bot played no game in that one
    news       what is new about it
    """

    bot: str
    rank: int
    rank_before: int | None
    elo: float
    elo_before: float | None
    news: Literal["", "new bot", "back again", "new version"]

    @property
    def climbed(self) -> int:
        """By how many ranks; less than 0 if it fell."""
        return 0 if self.rank_before is None else self.rank_before - self.rank


@dataclass(frozen=True, slots=True)
class NightView:
    """A night with its tables and the matches played so far.

    table            of the night's games alone
    played, planned  games
    planned_matches  matches that the plan asks for
    decision         which places are decided; None where the night was to end with its round robin
    """

    night: Night
    table: Table
    rounds: tuple[Round, ...]
    played: int
    planned: int
    planned_matches: int
    decision: Decision | None

    @property
    def rows(self) -> tuple[Standing, ...]:
        """The night's standings."""
        return self.table.rows

    @property
    def table_sizes(self) -> tuple[int, ...]:
        """Seats at the tables that the standings count, each size once."""
        return tuple(sorted({group.seats for group in self.rounds}))

    @property
    def matches(self) -> tuple[Match, ...]:
        """All matches, in the order of the plan."""
        return tuple(match for group in self.rounds for match in group.matches)

    @property
    def versions(self) -> dict[str, str]:
        """The version of each bot that the night froze."""
        return {bot.name: bot.version for bot in self.night.bots}


def night_view(league: str, night: Night, records: Sequence[GameRecord], table: Table) -> NightView:
    """The night with its records, which need no moves, and their table."""
    plan, decision = plan_so_far(league, night, records)
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
        table=table,
        rounds=tuple(Round(seats, number, tuple(group)) for (seats, number), group in groups.items()),
        played=len(records),
        planned=sum(len(spec.games) for spec in plan),
        planned_matches=len(plan),
        decision=decision,
    )


def changes(view: NightView, earlier: Sequence[NightView]) -> tuple[Change, ...]:
    """What is new with each bot of a night, in the order of its standings; `earlier` are the nights before it."""
    known = {bot for night in earlier for bot in night.versions}
    before = earlier[-1] if earlier else None
    ranks = {row.bot: row.rank for row in before.rows} if before else {}
    versions = before.versions if before else {}

    def news(bot: str, version: str) -> Literal["", "new bot", "back again", "new version"]:
        if bot not in versions:
            return "back again" if bot in known else "new bot"
        return "" if versions[bot] == version else "new version"

    return tuple(
        Change(
            bot=row.bot,
            rank=row.rank,
            rank_before=ranks.get(row.bot),
            elo=view.table.ratings[row.bot].elo,
            elo_before=before.table.ratings[row.bot].elo if before and row.bot in ranks else None,
            news=news(row.bot, view.versions.get(row.bot, row.version)),
        )
        for row in view.rows
    )


def page_name(text: str) -> str:
    """A file name, without its ending, for any text: different for different texts, whatever they hold.

    Names of bots, and of matches, stay as they are; other characters become their number in hex.
    """
    return re.sub(r"[^a-z0-9_-]", lambda char: f"~{ord(char[0]):x}~", text)


def deal_number(game: GameRecord) -> int:
    """The number of a game's deal within its match, which is how its id ends; 0 where it has none."""
    return deal_place(game.deal)[0]


def game_number(game: GameRecord) -> int:
    """The number that a link to a game of its match's page names, the same whichever games have been played."""
    return deal_number(game) * len(game.seats) + game.rotation


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
