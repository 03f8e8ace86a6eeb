"""The borders: what games and matches ask of bots and sandboxes, and a league of its pages, whoever provides them."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from referee.limits import Limits
from referee.model import FaultKind, GameRecord, Night, Submission
from treelings import GameEnd, GameStart, View


@dataclass(frozen=True, slots=True)
class Failure:
    """A bot's misdeed as seen by whoever talked to it; the game adds seat and turn."""

    kind: FaultKind
    detail: str
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A bot's answer to a query: its text, still unjudged, the time it took, and the processor time if known.

    comment  what the bot says about its move, "" if nothing; hostile text
    """

    text: str
    ms: float
    cpu_ms: float | None = None
    comment: str = ""


class Player(Protocol):
    """One seat's bot in one game. None of these raises for what a bot does; SandboxError for our own side."""

    async def start(self, game: GameStart) -> Failure | None:
        """Tell the bot of the game and wait until it is ready, for `game.clock.startup_ms` at most."""

    async def ask(self, view: View) -> Answer | Failure:
        """The bot's answer to this view, within `view.limit_ms` on the wall clock."""

    async def end(self, result: GameEnd) -> None:
        """Tell the bot the result and hang up; waits for nothing that a bot could hold back."""


@dataclass(frozen=True, slots=True)
class BotState:
    """Whether a bot's process lives, and if not, how it ended.

    exit_code      as the operating system gave it; None while it runs
    out_of_memory  it was ended by its memory limit
    """

    running: bool
    exit_code: int | None = None
    out_of_memory: bool = False


@dataclass(frozen=True, slots=True)
class CpuTimes:
    """Processor time of a bot since its start, in milliseconds.

    used_ms       of all its processes and threads, those included that have ended
    threads       of each one that lives, by its id: time on a core, and time ready to run but without a core,
                  which is told when it gets one
    throttled_ms  time that its own quota held it back, added up over the cores; 0 without a quota
    ready         threads that run now, or would if they had a core
    """

    used_ms: float
    threads: Mapping[int, tuple[float, float]]
    throttled_ms: float = 0.0
    ready: Collection[int] = ()


Address = Path | tuple[str, int]
"""Where a bot listens: a Unix socket as this process sees it, under 100 bytes; or host and port."""


class RunningBot(Protocol):
    """A started bot: one process or container, for one match."""

    @property
    def submission(self) -> Submission:
        """What it was started from."""

    @property
    def limits(self) -> Limits:
        """What it may use."""

    @property
    def address(self) -> Address:
        """Where it is to listen."""

    def owns(self, pid: int) -> bool:
        """Whether a process of this machine is one of the bot's; false for one that is gone."""

    def wake(self) -> None:
        """Let it run; nothing if it does already or has ended. Raises SandboxError."""

    def rest(self) -> None:
        """Hold it until `wake`, where the sandbox can; nothing if it has ended. Raises SandboxError."""

    def cpu_used_ms(self) -> float | None:
        """Processor time that it has used so far; None if that cannot be told. Takes some microseconds."""

    def cpu_times(self) -> CpuTimes | None:
        """The same, thread by thread; None if that cannot be told. Takes up to some milliseconds."""

    async def state(self) -> BotState:
        """How it is now. Raises EngineGone."""

    async def log_tail(self) -> str:
        """The last 2,000 bytes of its stdout and stderr, undecodable bytes replaced; hostile text."""

    async def stop(self) -> bytes:
        """End it at once and remove all that it left; may be called twice. Raises EngineGone.

        What is returned is all that is kept of its stdout and stderr, `limits.log_bytes` at most; hostile.
        """


class Link(Protocol):
    """The way to one running bot, for all games of its match."""

    def player(self) -> Player:
        """The bot in its next game; the game before is hung up if it still hangs on."""

    async def left_in_order(self, within_ms: int) -> bool:
        """Whether the bot has done with its last game and can play another; true before its first.

        Hangs up and waits for the bot, so long at most. Raises SandboxError.
        """

    async def close(self) -> bytes:
        """End the bot and remove all that it left; may be called twice. What it logged. Raises SandboxError."""


KeepLog = Callable[[str, str, bytes], None]
"""Keeps what a bot logged: the match's id, the bot's name, and `RunningBot.stop`'s bytes."""

Connect = Callable[[RunningBot], Link]
"""Makes a link; returns at once, since the first game's start is what waits for the bot."""


class Sandbox(Protocol):
    """A way to run bots."""

    @property
    def name(self) -> str:
        """ "docker" or "process"."""

    async def open(self) -> None:
        """Check that it can run bots as promised, and sweep leftovers of dead runs. Raises SandboxError."""

    async def start(self, submission: Submission, match: str) -> RunningBot:
        """Start a bot for a match; returns before the bot answers. Raises SandboxError."""

    async def close(self) -> None:
        """End and remove whatever this run still has."""


class RecordedGames(Protocol):
    """The games of a league as its pages are made from them: never all at once with their moves."""

    def results(self) -> Sequence[GameRecord]:
        """All games without their moves."""

    def lines(self, night: int, matches: Sequence[str]) -> Iterator[Mapping[str, str]]:
        """The records of these matches of a night, one match after the other: lines of JSON by the game's id.

        More than `results` had, where games are being played meanwhile; never others.
        """

    def record(self, line: str) -> GameRecord:
        """What such a line holds. Raises RecordError if that is no record."""


class Publisher(Protocol):
    """Writes a site; publish.publish_site is one."""

    def __call__(self, site: Path, *, league: str, nights: Sequence[Night], games: RecordedGames) -> Path:
        """Put the whole site in place at `site` and return its first page."""
