"""A checkup: all that is done to a bot before it may play, as steps, so that its author sees how far it comes.

The files are taken in as a league takes them in, and the bot plays the trial match of a league, at each size of table.
"""

import statistics
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from referee.clock import SeatClock
from referee.config import LeagueConfig
from referee.errors import BotFileError, SandboxError, SubmissionError
from referee.limits import Limits
from referee.model import Submission
from referee.ports import Connect, Sandbox
from referee.reports import Trial
from referee.submissions import take_in
from referee.trial import last_error, play_trial
from treelings import Clock

FILES: Final = "files"
BOT_FILE: Final = "bot.toml"
SANDBOX: Final = "sandbox"
START: Final = "start"
ENDING: Final = "ending"
LOG: Final = "log"

_SEATS: Final = {2: "two seats", 3: "three seats", 4: "four seats", 5: "five seats"}
_MB: Final = 1024 * 1024
_SLOW: Final = 0.5  # of a limit; on a machine half as fast, that is all of it
_MUCH_LOG_BYTES: Final = 100_000


class Outcome(StrEnum):
    """How a step ended."""

    PASSED = "passed"
    WARNING = "warning"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """Our side failed to try it, through no fault of the bot's."""
    NOT_REACHED = "not reached"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a checkup.

    fact     what was seen, in one line; of a step that failed without a match, the whole reason
    figures  the same for programs: numbers and short texts, by the names that docs/spec/check.md lists
    advice   what to look at, a sentence each, though the step was passed
    trial    the match that the bot failed in
    """

    name: str
    outcome: Outcome
    fact: str = ""
    figures: Mapping[str, object] = field(default_factory=dict)
    advice: tuple[str, ...] = ()
    bot: Submission | None = None
    trial: Trial | None = None


def step_names(config: LeagueConfig) -> tuple[str, ...]:
    """The steps of a checkup for a league, in order."""
    return (FILES, BOT_FILE, SANDBOX, START, *(_SEATS[seats] for seats in config.seats), ENDING, LOG)


async def checkup(
    source: Path, copies: Path, config: LeagueConfig, *, sandbox_for: Callable[[Submission], Sandbox],
    connect: Connect, new_secret: Callable[[], bytes], progress: Callable[[int, int], None] | None = None,
) -> AsyncGenerator[Step, None]:  # fmt: skip
    """Check a bot and yield every step of `step_names`, those included that it does not reach.

    source       a folder, a .zip or a .tar.gz
    copies       where its files may be copied to
    sandbox_for  the sandbox that it is to run in, not yet open; what it raises but for SandboxError is passed on
    new_secret   32 random bytes, for the deck of each match
    progress     told how many games of how many of a match have been played
    """
    names = step_names(config)
    steps = _steps(source, copies, config, sandbox_for, connect, new_secret, progress)
    reached = 0
    async with aclosing(steps):
        try:
            async for step in steps:
                assert step.name == names[reached]
                reached += 1
                yield step
        except SandboxError as error:
            yield Step(names[reached], Outcome.UNKNOWN, str(error))
            reached += 1
    for name in names[reached:]:
        yield Step(name, Outcome.NOT_REACHED)


async def _steps(
    source: Path, copies: Path, config: LeagueConfig, sandbox_for: Callable[[Submission], Sandbox],
    connect: Connect, new_secret: Callable[[], bytes], progress: Callable[[int, int], None] | None,
) -> AsyncGenerator[Step, None]:  # fmt: skip
    try:
        bot = take_in(source, copies)
    except BotFileError as error:
        yield Step(FILES, Outcome.PASSED, "may all be handed in")
        yield Step(BOT_FILE, Outcome.FAILED, str(error))
        return
    except SubmissionError as error:
        yield Step(FILES, Outcome.FAILED, str(error))
        return
    yield _files(bot)
    yield _bot_file(bot)
    sandbox = sandbox_for(bot)
    await sandbox.open()
    try:
        yield _sandbox(sandbox.name, config.limits())
        trials: list[Trial] = []
        settings = config.settings()
        for seats in settings.seats:
            trial = await play_trial(
                bot, sandbox=sandbox, connect=connect, secret=new_secret(), clock=settings.clock,
                refill=settings.refill, seats=seats, progress=progress,
            )  # fmt: skip
            for step in _trial(trial, bot, seats, settings.clock, first=not trials):
                yield step
                if step.outcome in (Outcome.FAILED, Outcome.UNKNOWN):
                    return
            trials.append(trial)
    finally:
        await sandbox.close()
    yield _ending(trials)
    yield _log(trials, config.limits())


def _files(bot: Submission) -> Step:
    sizes = [path.stat().st_size for path in bot.folder.rglob("*") if path.is_file()]
    short = bot.version.removeprefix("sha256:")[:8]
    figures = {"files": len(sizes), "bytes": sum(sizes), "version": bot.version}
    return Step(FILES, Outcome.PASSED, f"{_count(len(sizes), 'file')}, {sum(sizes):,} bytes: version {short}", figures)


def _bot_file(bot: Submission) -> Step:
    fact = f"{bot.name} by {bot.author}, started by: {' '.join(bot.command)}"
    figures = {"name": bot.name, "author": bot.author, "command": " ".join(bot.command), "runtime": bot.runtime}
    return Step(BOT_FILE, Outcome.PASSED, fact, figures, bot=bot)


def _sandbox(name: str, limits: Limits) -> Step:
    memory_mb, tmp_mb = limits.memory_bytes // _MB, limits.tmp_bytes // _MB
    figures = {"sandbox": name, "memory_mb": memory_mb, "cpus": limits.cpus, "pids": limits.pids, "tmp_mb": tmp_mb}
    if name == "process":
        lacks = "what a container would refuse is not seen here: network, files, most limits"
        return Step(SANDBOX, Outcome.WARNING, "a plain process on this machine", figures, (lacks,))
    cores = f"{limits.cpus:g} {'core' if limits.cpus == 1 else 'cores'}"
    fact = f"a container: no network, {memory_mb:,} MB, {cores}, {limits.pids:,} processes and threads"
    return Step(SANDBOX, Outcome.PASSED, fact, figures)


def _trial(trial: Trial, bot: Submission, seats: int, clock: Clock, *, first: bool) -> Iterator[Step]:
    """The bot's start, if this is its first match, and the match."""
    name = _SEATS[seats]
    stumble = trial.stumble
    if first:
        at_start = stumble is not None and stumble.view is None and stumble.game == 0
        if at_start:
            yield Step(START, Outcome.FAILED, "did not get ready", _start_figures(trial, clock), trial=trial)
            return
        if trial.start_ms == 0:
            yield Step(START, Outcome.UNKNOWN, trial.void or "")
            return
        yield _start(trial, clock)
    if stumble is not None:
        turn = "at its start" if stumble.view is None else f"turn {stumble.fault.turn}"
        fact = f"{stumble.fault.kind} in game {stumble.game + 1} of {trial.games}: seat {stumble.fault.seat}, {turn}"
        yield Step(name, Outcome.FAILED, fact, {"games": trial.games}, trial=trial)
    elif trial.void is not None:
        yield Step(name, Outcome.UNKNOWN, trial.void)
    else:
        yield _played(name, trial, bot, clock)


def _start_figures(trial: Trial, clock: Clock) -> dict[str, object]:
    return {"start_ms": round(trial.start_ms, 1), "limit_ms": clock.startup_ms}


def _start(trial: Trial, clock: Clock) -> Step:
    fact = f"ready; waited for {trial.start_ms:,.0f} of {clock.startup_ms:,} ms once all bots were started"
    slow = trial.start_ms > _SLOW * clock.startup_ms
    advice = ("that is more than half of its time: on a slower machine it may be too late",) if slow else ()
    outcome = Outcome.WARNING if slow else Outcome.PASSED
    return Step(START, outcome, fact, _start_figures(trial, clock), advice)


def _played(name: str, trial: Trial, bot: Submission, clock: Clock) -> Step:
    moves = [move for game in range(len(trial.records)) for move in _moves(trial, game, bot, clock)]
    slowest_ms, limit_ms = max(moves, key=lambda move: move[0] / move[1])
    median_ms = statistics.median(ms for ms, _ in moves)
    best = 0
    for record in trial.records:
        seat = next(at for at, holder in enumerate(record.seats) if holder.bot == bot.name)
        best += record.ranks[seat] == 1
    fact = (
        f"{trial.games} games against random, best in {best}; "
        f"a move takes {median_ms:,.1f} ms, at most {slowest_ms:,.1f} of {limit_ms:,} ms"
    )
    figures = {
        "games": trial.games, "best": best, "moves": len(moves), "median_ms": round(median_ms, 3),
        "slowest_ms": slowest_ms, "limit_ms": limit_ms,
    }  # fmt: skip
    if slowest_ms <= _SLOW * limit_ms:
        return Step(name, Outcome.PASSED, fact, figures)
    slow = "its slowest move took more than half of its limit: on a slower machine it may be too late"
    return Step(name, Outcome.WARNING, fact, figures, (slow,))


def _moves(trial: Trial, game: int, bot: Submission, clock: Clock) -> Iterator[tuple[float, int]]:
    """What each move of the bot's took in a game, and what it might have taken, in milliseconds."""
    record = trial.records[game]
    seat = SeatClock(clock)
    for move in record.moves:
        if record.seats[move.seat].bot == bot.name:
            yield move.ms, seat.limit_ms
            seat.charge(move.ms)


def _ending(trials: list[Trial]) -> Step:
    games, processes = sum(trial.games for trial in trials), sum(trial.processes for trial in trials)
    bad = sum(trial.disorderly for trial in trials)
    figures = {"games": games, "processes": processes, "disorderly": bad}
    if not bad:
        return Step(
            ENDING, Outcome.PASSED, f"{games} games in {_count(processes, 'process')}, all ended cleanly", figures
        )
    advice = "no game is lost by that, but each new process takes its start-up time: see to what `end` does"
    return Step(
        ENDING, Outcome.WARNING, f"its process could not go on after {bad} of {games} games", figures, (advice,)
    )


def _log(trials: list[Trial], limits: Limits) -> Step:
    size = sum(len(trial.log) for trial in trials)
    games = sum(trial.games for trial in trials)
    error = next((found for trial in trials if (found := last_error(trial.log))), None)
    cut = any(len(trial.log) >= limits.log_bytes for trial in trials)  # at most so much is kept of a process
    advice = []
    if error is not None:
        advice.append(f"it holds a traceback, though no game was lost by it: {error}")
    if size > _MUCH_LOG_BYTES:
        memory_mb, log_mb = limits.memory_bytes // _MB, limits.log_bytes / _MB
        advice.append(
            f"{size // games:,} bytes a game {'and more ' if cut else ''}are much: till its match ends they count as "
            f"its memory ({memory_mb:,} MB), and only the last {log_mb:g} MB are kept"
        )
    fact = f"{size:,} bytes{' or more' if cut else ''}" if size else "empty"
    figures = {"bytes": size, "error": error}
    return Step(LOG, Outcome.WARNING if advice else Outcome.PASSED, fact, figures, tuple(advice))


def _count(number: int, what: str) -> str:
    plural = "es" if what.endswith("s") else "s"
    return f"{number} {what}{'' if number == 1 else plural}"
