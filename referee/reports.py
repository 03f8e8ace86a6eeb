"""What a league answers when it is asked or told to do something."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.model import Fault, GameRecord, Night, Submission, VoidGame, by_reasons
from treelings import View


@dataclass(frozen=True, slots=True)
class Stumble:
    """What a bot failed on in its trial match.

    game   which of the match's games, from 0
    view   what the bot was asked in the fault's turn; None if it failed at its start, before it was asked anything
    ms     how long the bot was waited for then, until it was known that it failed
    """

    game: int
    fault: Fault
    view: View | None
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Trial:
    """How a bot did in its trial match; it is enough to play without a fault.

    opponents   names of those it met
    secret      what the deck was derived from, to play the same deal again
    games       how many the match has; no more are played after the first fault
    records     those that were played
    log         what the bot wrote to stdout and stderr, as much as is kept; hostile
    void        why our side could not play the match to its end; None if it could
    start_ms    what its first start took until it was ready; 0 if it was not started
    processes   how often it was started
    disorderly  games after which its process could not play another, which costs none of them
    runtime     what the bot asked to be run in
    """

    opponents: tuple[str, ...]
    secret: bytes
    games: int
    records: tuple[GameRecord, ...]
    stumble: Stumble | None
    log: bytes
    void: str | None
    start_ms: float = 0.0
    processes: int = 0
    disorderly: int = 0
    runtime: str = "python"

    @property
    def passed(self) -> bool:
        """All games were played, and the bot made no fault."""
        return self.stumble is None and self.void is None


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a bot that was handed in.

    changed   False if it was not accepted, and if this version was in already
    trial     its trial match; None if it played none
    replaced  the version in whose place it is now; None if there was none, or if nothing changed
    """

    submission: Submission
    changed: bool
    trial: Trial | None = None
    replaced: Submission | None = None

    @property
    def accepted(self) -> bool:
        """It is in the league."""
        return self.trial is None or self.trial.passed


@dataclass(frozen=True, slots=True)
class Removed:
    """What became of a bot that withdrew; it joins no further night.

    left    the open night that it is out of too, None if there was none with it or it plays that
    plays   the open night that it plays to its end; None if there is none
    why     why it plays that, in words
    """

    submission: Submission
    left: int | None = None
    plays: int | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run came to.

    played  games recorded by this run
    done    games of the night that have a record
    voids   games that our side failed to finish: the night stays open for them
    """

    night: int
    played: int
    done: int
    total: int
    voids: tuple[VoidGame, ...]

    @property
    def finished(self) -> bool:
        """Every game of the night has a record."""
        return self.done == self.total


def next_step(folder: Path, nights: Sequence[Night], done: int, total: int, *, lacking: int) -> str:
    """What to do next in a league, as a line for a shell; its comment says why, where the command does not.

    nights       all of them; of the open one, if there is one, `done` of `total` games have a record
    lacking      how many bots more a night needs, at least
    """
    command = f"treelings league {{}} {shlex.quote(str(folder))}"
    if night := next((night for night in nights if night.finished is None), None):
        again = command.format("run")
        if night.voids and done + len(night.voids) == total:
            without = f"{command.format('reveal')} --night {night.number}"
            return f"{again}  # tries the void games again; or end the night without them: {without}"
        return again
    if hidden := [night for night in nights if night.secret is None]:
        # Without a number it is the last night's.
        which = "" if hidden[-1] is nights[-1] else f" --night {hidden[-1].number}"
        return command.format("reveal") + which
    if lacking:
        return f"{command.format('add')} BOT…  # a night needs {lacking} more {'bot' if lacking == 1 else 'bots'}"
    return f"{command.format('run')}  # opens night {len(nights) + 1}"


def voids_in_words(voids: Iterable[VoidGame]) -> Iterator[str]:
    """Void games with their last reason; those for the same reason in one line."""
    for reasons, games in by_reasons(voids).items():
        others = len(games) - 1
        more = f" and {others} more {'game' if others == 1 else 'games'}" if others else ""
        yield f"{games[0]}{more}: {reasons[-1]}"


@dataclass(frozen=True, slots=True)
class Status:
    """How far a league is; `night` is the open one, or else the last one, and None before the first."""

    league: str
    bots: int
    night: Night | None
    done: int
    total: int
    next: str

    def lines(self) -> tuple[str, ...]:
        """The same in words."""
        lines = [f"{self.league}: {self.bots} {'bot' if self.bots == 1 else 'bots'}"]
        if self.night is None:
            lines.append("no night yet")
        else:
            state = f"finished {self.night.finished}" if self.night.finished else f"opened {self.night.opened}"
            lines.append(f"night {self.night.number}: {self.done} of {self.total} games, {state}")
            lines += (f"void: {words}" for words in voids_in_words(self.night.voids))
        return (*lines, f"next: {self.next}")
