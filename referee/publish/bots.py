"""A bot as its page shows it: its nights, opponents, times, faults, and its best and worst game."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from referee.duels import Duel, Duels
from referee.leaderboard import Table
from referee.model import Fault, GameRecord, Standing
from referee.publish.nights import Match, NightView, page_name
from referee.ratings import Rating
from referee.standings import margins

Outcome = Literal["W", "T", "L"]


@dataclass(frozen=True, slots=True)
class BotMatch:
    """A match from one bot's side; `outcomes` has a letter for each game, as in Standing."""

    match: Match
    row: Standing
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class BotNight:
    """How a bot came out of one night, among `bots` that played in it; `new` if the version is another than before."""

    number: int
    bots: int
    row: Standing
    rating: Rating
    new: bool


@dataclass(frozen=True, slots=True)
class BotFault:
    """A fault of a bot and the game it forfeited by it."""

    match: Match
    game: GameRecord
    fault: Fault


@dataclass(frozen=True, slots=True)
class Result:
    """A game that was played out, and the bot's margin in it, in points."""

    match: Match
    game: GameRecord
    margin: float


@dataclass(frozen=True, slots=True)
class BotView:
    """All that a bot's page shows.

    standing, rating  of the season; None before its first finished game
    versions          each with the nights that it played in, oldest first
    nights            those with games, oldest first
    opponents         in the order of the season's standings
    matches           latest night first, in the order of the plan
    best, worst       by margin, the latest of equal ones; None where no game was played out
    """

    name: str
    author: str
    page: str
    standing: Standing | None
    rating: Rating | None
    versions: tuple[tuple[str, tuple[int, ...]], ...]
    nights: tuple[BotNight, ...]
    opponents: tuple[tuple[str, Duel], ...]
    matches: tuple[BotMatch, ...]
    faults: tuple[BotFault, ...]
    best: Result | None
    worst: Result | None


def bot_views(nights: Sequence[NightView], season: Table, duels: Duels) -> dict[str, BotView]:
    """Every bot of the nights and of the season's standings, by name."""
    authors: dict[str, str] = {row.bot: "" for row in season.rows}
    versions: defaultdict[str, dict[str, list[int]]] = defaultdict(dict)
    faults: defaultdict[str, list[BotFault]] = defaultdict(list)
    for view in nights:
        for entry in view.night.bots:
            authors[entry.name] = entry.author
            versions[entry.name].setdefault(entry.version, []).append(view.night.number)
    played = [match for view in reversed(nights) for match in view.matches]
    for match in played:
        for game in match.games:
            for fault in game.faults:
                faults[game.seats[fault.seat].bot].append(BotFault(match, game, fault))
    standing = {row.bot: row for row in season.rows}
    matches, results = _matches(played), _results(played)
    of_nights = _nights(nights)
    return {
        name: BotView(
            name=name,
            author=authors[name],
            page=page_name(name),
            standing=standing.get(name),
            rating=season.ratings.get(name),
            versions=tuple((version, tuple(numbers)) for version, numbers in versions[name].items()),
            nights=tuple(of_nights[name]),
            opponents=tuple((row.bot, duels[name, row.bot]) for row in season.rows if (name, row.bot) in duels),
            matches=tuple(matches[name]),
            faults=tuple(faults[name]),
            best=max(results[name], key=lambda result: result.margin, default=None),
            worst=min(results[name], key=lambda result: result.margin, default=None),
        )
        for name in sorted(authors)
    }


def _nights(nights: Sequence[NightView]) -> defaultdict[str, list[BotNight]]:
    found: defaultdict[str, list[BotNight]] = defaultdict(list)
    for view in nights:
        for row in view.rows:
            before = found[row.bot][-1].row.version if found[row.bot] else row.version
            rating = view.table.ratings[row.bot]
            found[row.bot].append(BotNight(view.night.number, len(view.rows), row, rating, row.version != before))
    return found


def _matches(played: Sequence[Match]) -> defaultdict[str, list[BotMatch]]:
    found: defaultdict[str, list[BotMatch]] = defaultdict(list)
    for match in played:
        for row in match.rows:
            outcomes = tuple(_outcome(game, row.bot) for game in match.games)
            found[row.bot].append(BotMatch(match, row, outcomes))
    return found


def _results(played: Sequence[Match]) -> defaultdict[str, list[Result]]:
    found: defaultdict[str, list[Result]] = defaultdict(list)
    for match in played:
        for game in match.games:
            ahead = margins(game)
            for holder, margin in zip(game.seats, ahead, strict=True) if ahead else ():
                found[holder.bot].append(Result(match, game, float(margin)))
    return found


def _outcome(game: GameRecord, bot: str) -> Outcome:
    rank = next(rank for rank, seat in zip(game.ranks, game.seats, strict=True) if seat.bot == bot)
    if rank > min(game.ranks):
        return "L"
    return "W" if game.ranks.count(rank) == 1 else "T"
