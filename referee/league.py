"""A league: a folder with its settings, its bots and its nights; what can be done with it."""

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from shlex import quote
from types import MappingProxyType, TracebackType
from typing import Final, Self

from referee.config import CONFIG_FILE, LeagueConfig, read_config
from referee.decision import Decision, plan_so_far, until_decided
from referee.errors import ConfigError, LeagueBusy, UsageError
from referee.leaderboard import leaderboard, standings_json
from referee.league_folder import BOTS_FOLDER, LOGS_FOLDER, make_league_folder
from referee.lock import holder, locked
from referee.logs import KeptLog, LogKeeper, logs_of
from referee.model import GameRecord, MatchSpec, Night, Standing, Submission, UntilDecided
from referee.night import SeatTable, aimed, leave, over_grpc, play_night, without
from referee.ports import Publisher, RecordedGames, Sandbox
from referee.reports import Added, Removed, RunSummary, Status, Trial, next_step
from referee.run import Progress, default_jobs
from referee.schedule import count_games, plan_night
from referee.standings import standings
from referee.store import Store
from referee.submissions import is_sample, take_in, unchanged
from referee.text import printable
from referee.work_folder import remove_leftovers, work_folder
from treelings import commitment
from treelings.cards import SECRET_BYTES

_COPIES: Final = ".trial-"

PlayTrial = Callable[[Submission], Awaitable[Trial]]
"""Plays a bot's trial match; trial.play_trial is what to make one of."""


class League:
    """One league on disk. Close it, or use it in a `with`.

    Every method raises StoreError if the database fails; UsageError and its kinds for what cannot be.
    """

    def __init__(
        self, folder: Path, config: LeagueConfig, store: Store, *, publisher: Publisher,
        now: Callable[[], datetime], new_secret: Callable[[], bytes],
    ) -> None:  # fmt: skip
        """Get one from `create` or `open`."""
        self.folder = folder
        self.config = config
        self._store = store
        self._publisher = publisher
        self._now = now
        self._new_secret = new_secret

    @classmethod
    def create(cls, folder: Path, name: str) -> Self:
        """Make a new league in a folder that is empty or not there yet. Raises UsageError, ConfigError."""
        make_league_folder(folder, name)
        return cls.open(folder)

    @classmethod
    def open(
        cls, folder: Path, *, publisher: Publisher | None = None, now: Callable[[], datetime] | None = None,
        new_secret: Callable[[], bytes] | None = None,
    ) -> Self:  # fmt: skip
        """The league in a folder. Raises UsageError if there is none, ConfigError, StoreError.

        publisher   how a site is written; publish.publish_site if not given
        now         the time of day, in any zone
        new_secret  32 random bytes for a night that is opened
        """
        if not (folder / CONFIG_FILE).is_file():
            raise UsageError(
                f"{folder} is no league: no {CONFIG_FILE}; make one with: treelings league init {quote(str(folder))}"
            )  # fmt: skip
        folder = folder.resolve()
        config = read_config(folder)
        store = Store.open(folder)
        if (made_as := store.league) != config.name:
            store.close()
            raise ConfigError(
                f"{folder / CONFIG_FILE}: name: expected {made_as!r}, under which the league was made and its "
                f"records are kept, got {config.name!r}"
            )
        return cls(
            folder, config, store,
            publisher=publisher or _publish_site,
            now=now or partial(datetime.now, UTC),
            new_secret=new_secret or partial(secrets.token_bytes, SECRET_BYTES),
        )  # fmt: skip

    def close(self) -> None:
        """Let go of the league's files; may be called twice."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def name(self) -> str:
        """The league's name."""
        return self.config.name

    @property
    def site(self) -> Path:
        """The folder of the league's leaderboard."""
        return self.folder / self.config.site

    # ---- bots

    def add(self, source: Path) -> Added:
        """Take in a bot; under a name that is there it is a new version, and plays from the next night on.

        source  a folder, a .zip or a .tar.gz

        Raises SubmissionError.
        """
        taken = take_in(source, self.folder / BOTS_FOLDER, durable=True)
        before = next((bot for bot in self.bots() if bot.name == taken.name), None)
        if before is not None and before.version == taken.version:
            return Added(taken, changed=False)
        self._store.add_bot(taken, self._timestamp())
        return Added(taken, changed=True, replaced=before)

    async def try_and_add(self, source: Path, play: PlayTrial) -> Added:
        """Take in a bot if it comes through its trial match; of one that does not, nothing stays.

        Shipped samples and versions that were taken in before play none. Raises SubmissionError, and what `play`
        raises.
        """
        with work_folder(self.folder / BOTS_FOLDER, _COPIES) as copies:
            copy = take_in(source, copies)
            # Files that are there tell nothing: whoever copied them may not have come to the end.
            known = is_sample(copy) or self._store.knows(copy.version)
            trial = None if known else await play(copy)
            if trial is None or trial.passed:
                return replace(self.add(copy.folder), trial=trial)
            return Added(replace(copy, folder=source), changed=False, trial=trial)

    def remove(self, name: str) -> Removed:
        """Let a bot withdraw: it joins no further night, and leaves the open one if that has not begun.

        All that it played stays, and it may be added again. One that withdrew and is in the open night still may try
        again to leave that. Raises UsageError if it is in neither.
        """
        joining = {bot.name: bot for bot in self.bots()}
        there = {bot.name: bot for bot in self.playing()} | joining
        if name not in there:
            names = printable(", ".join(there), 200) or "none"
            raise UsageError(f"{self.folder}: no bot {printable(name, 40)!r}; expected one of those there: {names}")
        if name in joining:
            self._store.withdraw(name, self._timestamp())
        night = self.current_night()
        if night is None or name not in {bot.name for bot in night.bots}:
            return Removed(there[name])
        try:
            with locked(self.folder):
                # As it is by now: somebody else may have left it meanwhile.
                if why := leave(self.name, self.night(night.number), self._store, name):
                    return Removed(there[name], plays=night.number, why=why)
                self.publish()
                return Removed(there[name], left=night.number)
        except LeagueBusy:
            why = "it is being played"
            if not self._store.count(night.number):
                why += " or changed just now; if that ends before its first game, remove the bot again"
            return Removed(there[name], plays=night.number, why=why)

    def bots(self) -> tuple[Submission, ...]:
        """The versions that a night opened now would play with, by name."""
        return self._store.bots()

    def submissions(self, night: int) -> tuple[Submission, ...]:
        """The versions that a night was opened with, by name."""
        self.night(night)
        return self._store.lineup(night)

    def authors(self) -> dict[str, str]:
        """Who wrote each bot that ever played or will, by the bot's name."""
        played = {bot.name: bot.author for night in self.nights() for bot in night.bots}
        return played | {bot.name: bot.author for bot in self.bots()}

    def playing(self) -> tuple[Submission, ...]:
        """Bots of the open night, or else of the next one."""
        night = self.current_night()
        return self.submissions(night.number) if night else self.bots()

    # ---- nights

    def nights(self) -> tuple[Night, ...]:
        """Every night, by number."""
        return self._store.nights()

    def night(self, number: int) -> Night:
        """One night. Raises UsageError if there is none of this number."""
        nights = self.nights()
        if not 1 <= number <= len(nights):
            there = f"expected 1 to {len(nights)}" if nights else "none has been opened yet"
            raise UsageError(f"{self.folder}: no night {number}; {there}")
        return nights[number - 1]

    def current_night(self) -> Night | None:
        """The open night."""
        return next((night for night in self.nights() if night.finished is None), None)

    def open_night(self) -> Night:
        """Freeze bots, settings and a fresh secret for a new night, and publish the secret's commitment.

        Raises UsageError while a night is open or if the bots are too few, LeagueBusy.
        """
        with locked(self.folder):
            night = self._open_night()
            self.publish()
            return night

    def plan(self, night: int) -> tuple[MatchSpec, ...]:
        """Every match of a night, with all games that are due so far."""
        return self._plan(self.night(night))

    def decision(self, night: int) -> Decision | None:
        """Which places of a night are decided; None if it is not to be decided."""
        chosen = self.night(night)
        return self._due(chosen)[1] if chosen.until_decided else None

    def aim(self, top: int, at_most: int | None = None) -> UntilDecided:
        """The wish that the open night, or else the next one, goes on until its first `top` places are decided.

        at_most  deals a match; decision.AT_MOST, or more for a long plan, if not given

        Raises UsageError if that cannot be.
        """
        night = self.current_night()
        bots = len(night.bots if night else self.bots())
        return until_decided(top, at_most, bots=bots, settings=night.settings if night else self.config.settings())

    async def run(
        self, sandbox: Sandbox, *, progress: Progress, jobs: int | None = None, seat: SeatTable | None = None,
        aim: UntilDecided | None = None, tell: Callable[[Decision], None] = lambda _: None,
        absent: Mapping[str, str] = MappingProxyType({}),
    ) -> RunSummary:  # fmt: skip
        """Play what is missing of the open night, opening one if none is.

        sandbox  is opened and closed by the run
        jobs     tables at a time; the league's setting if not given, else one a processor core
        seat     how a match gets its table; over gRPC if not given
        aim      how far to go on after the round robin, kept with the night; what was kept if not given
        tell     is told what is decided, each time that this is looked at
        absent   bots that cannot be run now, by name, and why: all others play, and games with these are listed as void
                 for this reason, till a later run can play them

        Raises LeagueBusy while another process does it, UsageError, SubmissionError for a bot whose files were
        changed, SandboxError (EngineGone), OSError for logs that could not be kept. Whatever ends it, finished games
        are kept.
        """
        with locked(self.folder):
            remove_leftovers(self.folder / BOTS_FOLDER, _COPIES)
            night = self.current_night() or self._open_night()
            if aim:
                night = aimed(self.name, night, self._store, aim)
            bots = {bot.name: unchanged(bot) for bot in self.submissions(night.number)}
            before = self._store.count(night.number)
            if not before:
                self.publish()  # the commitment is out before the first game, also where an earlier try failed
            with self._log_keeper(night) as logs:
                await play_night(
                    self.name, night, self._store, bots, sandbox, jobs=jobs or self.config.jobs or default_jobs(),
                    seat=seat or over_grpc(logs.keep), progress=progress, tell=tell, absent=absent,
                )  # fmt: skip
                return self._summary(night, before)

    def reveal(self, night: int | None = None) -> Night:
        """Publish a finished night's secret, the last finished one's if no number is given.

        A night whose missing games are all void is finished by this. Raises UsageError for any other that is
        not, LeagueBusy.
        """
        with locked(self.folder):
            chosen = self.night(night) if night is not None else self._last_finished()
            if chosen.finished is None:
                self._finish_without(chosen)
            if chosen.secret is None:
                self._store.reveal(chosen.number, self._timestamp())
            self.publish()
            return self.night(chosen.number)

    # ---- results

    def status(self) -> Status:
        """How far the league is, and what is to be done next."""
        nights = self.nights()
        night = self.current_night() or (nights[-1] if nights else None)
        done = self._store.count(night.number) if night else 0
        total = self._total(night) if night else 0
        bots = len(self.bots())
        if busy := holder(self.folder):
            step = f"wait for {busy}, which is running this league"
        else:
            step = next_step(self.folder, nights, done, total, lacking=max(0, max(self.config.seats) - bots))
        return Status(self.name, bots, night, done, total, step)

    def standings(self, night: int | None = None) -> tuple[Standing, ...]:
        """The standings of a night, of the season if no number is given."""
        return standings(self._results(night))

    def standings_json(self, night: int | None = None) -> str:
        """The same with ratings, as JSON text (leaderboard.standings_json)."""
        return standings_json(leaderboard(self.name, self._results(night)))

    def records(self, night: int | None = None) -> tuple[GameRecord, ...]:
        """The games of a night, of all if no number is given. Raises UsageError if there is no such night."""
        if night is not None:
            self.night(night)
        return self._store.records(night)

    def logs(self, bot: str, *, match: str | None = None, night: int | None = None) -> tuple[KeptLog, ...]:
        """What a bot logged, in all matches or one, in all nights or one; the newest night last.

        Raises UsageError if there is nothing of that.
        """
        if night is not None:
            self.night(night)
        return logs_of(self.folder / LOGS_FOLDER, bot, match=match, night=night)

    def publish(self, to: Path | None = None) -> Path:
        """Write the leaderboard, to the league's own site if no folder is given; returns the site's folder."""
        site = to or self.site
        self._publisher(site, league=self.name, nights=self.nights(), games=self._store)
        return site

    # ---- inside

    def _results(self, night: int | None) -> tuple[GameRecord, ...]:
        if night is not None:
            self.night(night)
        return self._store.results(night)

    def _log_keeper(self, night: Night) -> LogKeeper:
        return LogKeeper(
            self.folder / LOGS_FOLDER, night=night.number, versions={bot.name: bot.version for bot in night.bots},
            most_bytes=self.config.limits().log_bytes, now=self._now,
        )  # fmt: skip

    def _plan(self, night: Night) -> tuple[MatchSpec, ...]:
        return self._due(night)[0]

    def _due(self, night: Night) -> tuple[tuple[MatchSpec, ...], Decision | None]:
        return plan_so_far(self.name, night, self._store.results(night.number) if night.until_decided else ())

    def _total(self, night: Night) -> int:
        """How many games of a night are due so far."""
        if night.until_decided:
            return sum(len(match.games) for match in self._plan(night))
        return count_games(len(night.bots), night.settings)

    def _open_night(self) -> Night:
        if night := self.current_night():
            raise UsageError(
                f"night {night.number} is open; play it with: treelings league run {quote(str(self.folder))}"
            )
        settings = self.config.settings()
        names = [unchanged(bot).name for bot in self.bots()]
        # Only to see that there is a plan: raises UsageError where bots are too few.
        plan_night(league=self.name, night=len(self.nights()) + 1, bots=names, settings=settings)
        secret = self._new_secret()
        return self._store.open_night(settings, secret, commitment(secret), self._timestamp())

    def _summary(self, night: Night, before: int) -> RunSummary:
        done, total = self._store.count(night.number), self._total(night)
        if done == total:
            self._store.finish(night.number, self._timestamp())
        voids = self.night(night.number).voids
        return RunSummary(night.number, done - before, done, total, voids)

    def _last_finished(self) -> Night:
        nights = self.nights()
        finished = [night for night in nights if night.finished is not None]
        if not nights:
            raise UsageError(f"{self.folder}: no night has been opened yet")
        return (finished or nights)[-1]

    def _finish_without(self, night: Night) -> None:
        missing = without(self._plan(night), self._store.recorded(night.number))
        unplayed = {game.id for match in missing for game in match.games} - {void.game for void in night.voids}
        if unplayed:
            raise UsageError(
                f"night {night.number} is not finished: {len(unplayed)} games have not been played; "
                f"play them with: treelings league run {quote(str(self.folder))}"
            )
        self._store.finish(night.number, self._timestamp())

    def _timestamp(self) -> str:
        return self._now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _publish_site(site: Path, *, league: str, nights: Sequence[Night], games: RecordedGames) -> Path:
    from referee.publish import publish_site

    return publish_site(site, league=league, nights=nights, games=games)
