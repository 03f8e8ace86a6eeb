"""Games a second of a whole league of fast bots, and what starting ahead is worth: python -m bench.league [BOTS].

Copies of the sample bot `random` play a round robin of 20 games a pairing in containers, a table a core: starting,
playing, saving and removing included. In line is the same league where a match's bots are started when its turn has
come, and are gone before that table's next match. Plain in line is what a plain loop does: the same with containers as
the engine makes them, its own setting up of no network included. One table is the same league with one match at a time,
so that a core is idle while a match's bots are started in line, as a runner without tables side by side has it; the
plain loop is one table, plain in line. Processor time is the whole machine's, which is to do nothing else. Rounds are
played by fewer bots, since 12 take half a minute, and those once: eight minutes in all. In a short league, what is done
once, such as publishing its site, hides some of what starting ahead is worth.
"""

import shutil
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Final

from docker import APIClient

from bench.start import busy_s
from referee.league import League
from referee.limits import Limits
from referee.loop import run
from referee.match import Table
from referee.model import GameRecord, GameSpec, MatchSpec, Submission, VoidGame
from referee.players import connect
from referee.ports import Sandbox
from referee.run import default_jobs
from referee.sandbox.choose import Wish, choose_sandbox
from referee.sandbox.engine import connect as connect_engine
from referee.submissions import find_bot
from treelings import Clock

TITLE: Final = "a league of fast bots, 20 games a pairing"
BOTS: Final = 12
BOTS_IN_ROUNDS: Final = 5
ROUNDS: Final = 7

FIGURES: Final = {
    "games_per_s": ("games a second of 12 bots in containers, 1,320 games, once", ""),
    "wall_vs_busy": ("its time / (busy core seconds / cores)", "<= 1.12"),
    "long_ahead_vs_plain_in_line": (
        "its time / the same, containers with the engine's own empty network started in line, once",
        "",
    ),
    "long_ahead_vs_plain_loop": (
        "its time / the same, one match at a time, containers with the engine's empty network started in line, once",
        "",
    ),
    "short_games_per_s": ("games a second of 5 bots in containers, 200 games", ""),
    "short_wall_vs_busy": ("time of the league of 5 / (busy core seconds / cores)", ""),
    "ahead_vs_in_line": ("time of the league of 5 / the same, containers started in line by the same means", ""),
    "one_table_ahead_vs_in_line": (
        "time of the league of 5, one match at a time / the same, containers started in line by the same means",
        "",
    ),
    "ahead_vs_plain_in_line": (
        "time of the league of 5 / the same, containers with the engine's own empty network started in line",
        "<= 0.62",
    ),
    "ahead_vs_plain_loop": (
        "time of the league of 5 / the same in a plain loop: one match at a time, such containers started in line",
        "<= 0.62",
    ),
    "one_table_ahead_vs_plain_loop": (
        "time of the league of 5, one match at a time / the same in a plain loop",
        "",
    ),
}


@dataclass(frozen=True, slots=True)
class Played:
    """A league that was played to its end.

    seconds  on the clock
    busy_s   processor seconds of all cores
    cores    that could be used
    """

    games: int
    seconds: float
    busy_s: float
    cores: int

    @property
    def games_per_s(self) -> float:
        """Games a second."""
        return self.games / self.seconds

    @property
    def wall_vs_busy(self) -> float:
        """Its time against the least that this much work takes on these cores."""
        return self.seconds / (self.busy_s / self.cores)


class _Quiet:
    """A progress that shows nothing."""

    def begin(self, done: int, total: int) -> None:
        """Ignore it."""

    def game_done(self, record: GameRecord) -> None:
        """Ignore it."""

    def game_void(self, void: VoidGame) -> None:
        """A void game would make the figure a lie."""
        raise RuntimeError(f"void: {void}")


class _InLine:
    """A table whose bots are started when its turn has come, and gone before it is over."""

    def __init__(
        self, match: MatchSpec, bots: Mapping[str, Submission], sandbox: Sandbox, secret: bytes, clock: Clock
    ) -> None:
        self._table = Table(match, bots, sandbox, secret, clock, connect)

    async def open(self) -> None:
        """Start nothing ahead."""

    async def play(self, games: Sequence[GameSpec]) -> AsyncIterator[GameRecord | VoidGame]:
        """Play the games, the first of which finds no bots and starts them."""
        async for outcome in self._table.play(games):
            yield outcome
        await self._table.close()

    async def close(self) -> None:
        """End the bots, if they have not been."""
        await self._table.close()


def measure() -> dict[str, float]:
    """Medians over the rounds, and the long league once. Raises SandboxError where there is no engine."""
    long = play_league(BOTS)
    long_plain = play_league(BOTS, in_line=True, connect=_plain_engine)
    long_loop = play_league(BOTS, jobs=1, in_line=True, connect=_plain_engine)
    rounds = [
        {
            "ahead": play_league(BOTS_IN_ROUNDS),
            "in_line": play_league(BOTS_IN_ROUNDS, in_line=True),
            "plain_in_line": play_league(BOTS_IN_ROUNDS, in_line=True, connect=_plain_engine),
            "one_table_ahead": play_league(BOTS_IN_ROUNDS, jobs=1),
            "one_table_in_line": play_league(BOTS_IN_ROUNDS, jobs=1, in_line=True),
            "plain_loop": play_league(BOTS_IN_ROUNDS, jobs=1, in_line=True, connect=_plain_engine),
        }
        for _ in range(ROUNDS)
    ]
    return {
        "games_per_s": long.games_per_s,
        "wall_vs_busy": long.wall_vs_busy,
        "long_ahead_vs_plain_in_line": long.seconds / long_plain.seconds,
        "long_ahead_vs_plain_loop": long.seconds / long_loop.seconds,
        "short_games_per_s": median(one["ahead"].games_per_s for one in rounds),
        "short_wall_vs_busy": median(one["ahead"].wall_vs_busy for one in rounds),
        "ahead_vs_in_line": median(one["ahead"].seconds / one["in_line"].seconds for one in rounds),
        "one_table_ahead_vs_in_line": median(
            one["one_table_ahead"].seconds / one["one_table_in_line"].seconds for one in rounds
        ),
        "ahead_vs_plain_in_line": median(one["ahead"].seconds / one["plain_in_line"].seconds for one in rounds),
        "ahead_vs_plain_loop": median(one["ahead"].seconds / one["plain_loop"].seconds for one in rounds),
        "one_table_ahead_vs_plain_loop": median(
            one["one_table_ahead"].seconds / one["plain_loop"].seconds for one in rounds
        ),
    }


def _plain_engine() -> APIClient:
    """An engine that sets up the network of every container, also where it is told not to."""
    engine = connect_engine()
    create = engine.create_container

    def with_network(*args: Any, network_disabled: bool = False, **settings: Any) -> dict[str, Any]:
        return dict(create(*args, **settings))

    engine.create_container = with_network  # type: ignore[method-assign]  # of this one client
    return engine


def play_league(
    bots: int,
    wish: Wish = "docker",
    *,
    in_line: bool = False,
    jobs: int | None = None,
    connect: Callable[[], APIClient] = connect_engine,
) -> Played:
    """Play a league of so many copies of `random` to its end. Raises SandboxError where that sandbox cannot be had."""
    sandbox, _ = choose_sandbox(wish, league="bench", limits=Limits(), report=_to_stderr, connect=connect)
    with (
        TemporaryDirectory(prefix="treelings-bench-") as folder,
        League.create(Path(folder) / "league", "bench") as league,
    ):
        for number in range(bots):
            bot = Path(folder) / f"bot{number}"
            shutil.copytree(find_bot("random"), bot, ignore=shutil.ignore_patterns("__pycache__"))
            settings = (bot / "bot.toml").read_text(encoding="utf-8")
            (bot / "bot.toml").write_text(settings.replace('"random"', f'"random{number}"'), encoding="utf-8")
            league.add(bot)
        league.open_night()
        busy, began = busy_s(), perf_counter()
        summary = run(league.run(sandbox, progress=_Quiet(), jobs=jobs, seat=_InLine if in_line else None))
        return Played(summary.played, perf_counter() - began, busy_s() - busy, default_jobs())


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        played = play_league(int(sys.argv[1]))
        print(f"{played}: {played.games_per_s:.1f} games a second, {played.wall_vs_busy:.2f} times what its work takes")
    else:
        for name, value in measure().items():
            print(f"{name:32}{value:10.2f}")
