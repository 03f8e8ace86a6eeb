"""Games a second of a whole league of fast bots: python -m bench.league.

Four copies of the sample bot `random` play a round robin of 20 games a pairing, two tables at a time, in containers
where an engine can be had and as plain processes in turn: starting, playing, saving and removing included.
"""

import shutil
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from referee.errors import SandboxError
from referee.league import League
from referee.limits import Limits
from referee.loop import run
from referee.model import GameRecord, VoidGame
from referee.ports import Sandbox
from referee.sandbox.choose import Wish, choose_sandbox
from referee.submissions import find_bot

BOTS = 4
ROUNDS = 3
JOBS = 2


class _Quiet:
    """A progress that shows nothing."""

    def begin(self, done: int, total: int) -> None:
        """Ignore it."""

    def game_done(self, record: GameRecord) -> None:
        """Ignore it."""

    def game_void(self, void: VoidGame) -> None:
        """A void game would make the figure a lie."""
        raise RuntimeError(f"void: {void}")


def measure() -> dict[str, float]:
    """Games a second by sandbox, medians; "docker" is missing where no engine answers."""
    figures: dict[str, list[float]] = {}
    wishes: list[Wish] = ["docker", "process"]
    for _ in range(ROUNDS):
        for wish in wishes:
            try:
                sandbox, _note = choose_sandbox(wish, league="bench", limits=Limits(), report=_to_stderr)
            except SandboxError as error:
                _to_stderr(f"left out: {error}")
                continue
            figures.setdefault(f"league_games_per_s_{wish}", []).append(_league(sandbox))
    return {name: median(values) for name, values in figures.items()}


def _league(sandbox: Sandbox) -> float:
    with (
        TemporaryDirectory(prefix="treelings-bench-") as folder,
        League.create(Path(folder) / "league", "bench") as league,
    ):
        for number in range(BOTS):
            bot = Path(folder) / f"bot{number}"
            shutil.copytree(find_bot("random"), bot, ignore=shutil.ignore_patterns("__pycache__"))
            settings = (bot / "bot.toml").read_text(encoding="utf-8")
            (bot / "bot.toml").write_text(settings.replace('"random"', f'"random{number}"'), encoding="utf-8")
            league.add(bot)
        began = perf_counter()
        summary = run(league.run(sandbox, progress=_Quiet(), jobs=JOBS))
        return summary.played / (perf_counter() - began)


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr)


if __name__ == "__main__":
    for name, value in measure().items():
        print(f"{name:32}{value:10.2f}")
