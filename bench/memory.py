"""Whether the referee's memory stays where it is, however long a night: python -m bench.memory.

Twelve bots play a night of 20,064 games: a real league with its database, plan, tables, rules, clocks and records. The
bots are in the referee's own process, since as many games in containers would take a quarter of an hour; a shorter
night is played in containers, where one can be had. Memory is what the process holds (VmRSS), every hundred games.
"""

import shutil
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from referee.errors import SandboxError
from referee.league import League
from referee.limits import Limits
from referee.loop import run
from referee.match import Table
from referee.model import GameRecord, MatchSpec, Submission, VoidGame
from referee.night import SeatTable
from referee.ports import Link, RunningBot, Sandbox
from referee.run import default_jobs
from referee.sandbox.choose import choose_sandbox
from referee.submissions import find_bot
from tests.support.players import FakeBot, FakeLink, FakePlayer
from treelings import Clock

TITLE: Final = "memory of the referee, over a long night"
EVERY: Final = 100
FIRST: Final = 1_000
BOTS: Final = 12
DEALS: Final = 152
SHORT_BOTS: Final = 6
SHORT_DEALS: Final = 50
SHORT_FIRST: Final = 300

FIGURES: Final = {
    "growth_mb": ("MB more after 20,064 games than after the first 1,000, bots in the same process", "<= 20"),
    "level_mb": ("MB in all after these games", ""),
    "container_growth_mb": ("MB more after 1,500 games in containers than after the first 300", "<= 20"),
    "container_level_mb": ("MB in all after these games", ""),
}


class _Levels:
    """A progress that notes the memory of this process."""

    def __init__(self) -> None:
        self.mb: list[float] = []
        self.games = 0

    def begin(self, done: int, total: int) -> None:
        """Ignore it."""

    def game_done(self, record: GameRecord) -> None:
        """Note the memory after every hundredth game."""
        self.games += 1
        if self.games % EVERY == 0:
            self.mb.append(_held_mb())

    def game_void(self, void: VoidGame) -> None:
        """A void game would make the figure a lie."""
        raise RuntimeError(f"void: {void}")

    def growth_mb(self, first: int) -> float:
        """Between the games up to `first` and the last ones; some notes each, since memory comes and goes."""
        before, some = self.mb[: first // EVERY], 3
        return median(self.mb[-some:]) - median(before[-some:])


class _Here:
    """A sandbox whose bots are in this process, and that remembers none of them."""

    name = "here"

    async def open(self) -> None:
        """Nothing is to be opened."""

    async def close(self) -> None:
        """Nothing is to be closed."""

    async def start(self, submission: Submission, match: str) -> RunningBot:
        """A bot that plays first legal moves."""
        return FakeBot(submission)


def measure() -> dict[str, float]:
    """Once each, since a night is long; without an engine only what needs none."""
    night = _play(_Here(), BOTS, DEALS, _seated)
    figures = {"growth_mb": night.growth_mb(FIRST), "level_mb": night.mb[-1]}
    try:
        sandbox, _ = choose_sandbox("docker", league="bench", limits=Limits(), report=_to_stderr)
    except SandboxError as error:
        _to_stderr(f"containers left out: {error}")
        return figures
    short = _play(sandbox, SHORT_BOTS, SHORT_DEALS)
    return figures | {"container_growth_mb": short.growth_mb(SHORT_FIRST), "container_level_mb": short.mb[-1]}


def _play(sandbox: Sandbox, bots: int, deals: int, seat: SeatTable | None = None) -> _Levels:
    with TemporaryDirectory(prefix="treelings-bench-") as place:
        folder = Path(place) / "league"
        League.create(folder, "bench").close()
        (folder / "league.toml").write_text(f'name = "bench"\ndeals = {deals}\n', encoding="utf-8")
        with League.open(folder) as league:
            for number in range(bots):
                bot = Path(place) / f"bot{number}"
                shutil.copytree(find_bot("random"), bot, ignore=shutil.ignore_patterns("__pycache__"))
                toml = (bot / "bot.toml").read_text(encoding="utf-8")
                (bot / "bot.toml").write_text(toml.replace('"random"', f'"random{number}"'), encoding="utf-8")
                league.add(bot)
            levels = _Levels()
            run(league.run(sandbox, progress=levels, jobs=default_jobs(), seat=seat))
            return levels


def _seated(match: MatchSpec, bots: Mapping[str, Submission], sandbox: Sandbox, secret: bytes, clock: Clock) -> Table:
    return Table(match, bots, sandbox, secret, clock, _link)


def _link(bot: RunningBot) -> Link:
    return FakeLink(bot, lambda _: FakePlayer())


def _held_mb() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


_to_stderr = partial(print, file=sys.stderr)


if __name__ == "__main__":
    for figure, value in measure().items():
        print(f"{figure:32}{value:10.2f}")
