"""Leagues for tests: a real folder and database, tables that make their games up in no time."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from referee.league import League
from referee.model import GameRecord, GameSpec, MatchSpec, Night, SeatHolder, Submission, VoidGame
from referee.ports import RecordedGames, RunningBot, Sandbox
from tests.support.records import all_of, random_record
from tests.support.submissions import bot_folder
from treelings import Clock

SECRET = bytes(range(32))
NOW = datetime(2026, 11, 29, 18, 0, 0, 999, tzinfo=UTC)


@dataclass
class Published:
    """What a fake publisher was given, call by call."""

    sites: list[Path] = field(default_factory=list)
    nights: list[Sequence[Night]] = field(default_factory=list)
    records: list[Sequence[GameRecord]] = field(default_factory=list)

    def __call__(self, site: Path, *, league: str, nights: Sequence[Night], games: RecordedGames) -> Path:
        assert league == "thursday"
        self.sites.append(site)
        self.nights.append(nights)
        self.records.append(all_of(games))
        return site


@dataclass
class FakeSandbox:
    """Runs nothing; counts how often it was opened and closed."""

    opened: int = 0
    closed: int = 0
    name: str = "fake"

    async def open(self) -> None:
        self.opened += 1

    async def close(self) -> None:
        self.closed += 1

    async def start(self, submission: Submission, match: str) -> RunningBot:
        raise AssertionError("a fake table starts no bots")


@dataclass
class Tables:
    """Makes fake tables, one a match, and remembers what happened at them.

    before  called before each game; may raise, or wait; what it returns in place of None is the game's outcome
    """

    before: Callable[[GameSpec], object] | None = None
    on_open: Callable[[MatchSpec], object] | None = None
    on_close: Callable[[MatchSpec], object] | None = None
    events: list[tuple[str, str]] = field(default_factory=list)
    games: list[str] = field(default_factory=list)

    def __call__(
        self, match: MatchSpec, bots: Mapping[str, Submission], sandbox: Sandbox, secret: bytes, clock: Clock
    ) -> "FakeTable":
        return FakeTable(self, match, bots, secret)

    def of(self, event: str) -> list[str]:
        """The matches that this happened to, in order: "open", "play", "played" or "close"."""
        return [match for what, match in self.events if what == event]


class FakeTable:
    """A table whose games are random legal moves, always the same for the same game."""

    def __init__(self, tables: Tables, match: MatchSpec, bots: Mapping[str, Submission], secret: bytes) -> None:
        self._tables = tables
        self._match = match
        self._bots = bots
        self._secret = secret

    async def open(self) -> None:
        self._tables.events.append(("open", self._match.id))
        if self._tables.on_open:
            await _maybe_wait(self._tables.on_open(self._match))

    async def play(self, games: Sequence[GameSpec]) -> AsyncIterator[GameRecord | VoidGame]:
        self._tables.events.append(("play", self._match.id))
        for game in games:
            await asyncio.sleep(0)
            outcome = await _maybe_wait(self._tables.before(game)) if self._tables.before else None
            self._tables.games.append(game.id)
            yield outcome if isinstance(outcome, VoidGame) else self._record(game)
        self._tables.events.append(("played", self._match.id))

    async def close(self) -> None:
        await asyncio.sleep(0)
        self._tables.events.append(("close", self._match.id))
        if self._tables.on_close:
            self._tables.on_close(self._match)

    def _record(self, game: GameSpec) -> GameRecord:
        made = random_record(game, self._secret, Random(game.id), fault_chance=0.01)
        return replace(made, seats=tuple(SeatHolder(bot, self._bots[bot].version) for bot in game.bots))


async def _maybe_wait(outcome: object) -> object:
    return await outcome if asyncio.iscoroutine(outcome) else outcome


@dataclass
class Told:
    """A progress that remembers."""

    begun: list[tuple[int, int]] = field(default_factory=list)
    games: list[str] = field(default_factory=list)
    voids: list[str] = field(default_factory=list)

    def begin(self, done: int, total: int) -> None:
        self.begun.append((done, total))

    def game_done(self, record: GameRecord) -> None:
        self.games.append(record.id)

    def game_void(self, void: VoidGame) -> None:
        self.voids.append(void.game)


def new_league(
    folder: Path, bots: Iterable[str] = ("ann", "bob", "cyd"), *, settings: str = "deals = 2",
    publisher: Published | None = None,
) -> League:  # fmt: skip
    """A league in `folder/league` with these bots, a fixed secret and a clock that stands still."""
    League.create(folder / "league", "thursday").close()
    (folder / "league" / "league.toml").write_text(f'name = "thursday"\n{settings}\n')
    league = open_league(folder, publisher)
    for bot in bots:
        league.add(bot_folder(folder / "submitted", bot))
    return league


def open_league(folder: Path, publisher: Published | None = None) -> League:
    """The league that `new_league` made, as another process would open it."""
    return League.open(
        folder / "league", publisher=publisher or Published(), now=lambda: NOW, new_secret=lambda: SECRET
    )  # fmt: skip
