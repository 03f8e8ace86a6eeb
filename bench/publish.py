"""How long publishing takes, and how much memory: python -m bench.publish.

Twenty bots, each pair 10 deals from both seats: 3,800 games of random legal moves, made up by the core. The command
`treelings league publish` is run as a user runs it, for a new site and again when one match of it is new.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from referee.loop import run
from referee.model import GameSpec, VoidGame
from tests.support.league import FakeSandbox, Tables, Told, new_league, open_league
from tests.support.site import NAMES

DEALS = 10
ROUNDS = 7

TITLE = "publishing 20 bots and 3,800 games"
FIGURES = {
    "publish_s": ("a new site, seconds", "<= 20"),
    "publish_processor_s": ("a new site, seconds of the processor", ""),
    "publish_mb": ("memory at most, MiB", "<= 150"),
    "publish_one_match_s": ("once more with one new match, seconds", "<= 3"),
    "publish_one_match_processor_s": ("the same, seconds of the processor", ""),
    "index_kb": ("the first page, kB", "<= 150"),
}


def measure() -> dict[str, float]:
    """Seconds on the clock and of the processor, megabytes of memory at most, kilobytes of the first page."""
    late = "-vs-".join(NAMES[:2])

    def not_yet(game: GameSpec) -> VoidGame | None:
        return VoidGame(game.id, ("its time comes later",)) if game.match == late else None

    rounds = []
    with tempfile.TemporaryDirectory(prefix="treelings-bench-") as name:
        place = Path(name)
        with new_league(place / "once", NAMES, settings=f"deals = {DEALS}") as league:
            run(league.run(FakeSandbox(), progress=Told(), jobs=1, seat=Tables(before=not_yet)))
            index = league.site.relative_to(place / "once") / "index.html"
        for number in range(ROUNDS):
            copy = Path(shutil.copytree(place / "once", place / str(number)))
            with open_league(copy) as league:
                folder = league.folder
            new = publish(folder)
            with open_league(copy) as league:
                run(league.run(FakeSandbox(), progress=Told(), jobs=1, seat=Tables()))
            rounds.append((*new, *publish(folder), (copy / index).stat().st_size))
            shutil.rmtree(copy)
    new_s, new_busy_s, new_mb, again_s, again_busy_s, again_mb, index_bytes = map(median, zip(*rounds, strict=True))
    return {
        "publish_s": new_s,
        "publish_processor_s": new_busy_s,
        "publish_mb": max(new_mb, again_mb),
        "publish_one_match_s": again_s,
        "publish_one_match_processor_s": again_busy_s,
        "index_kb": index_bytes / 1_000,
    }


def publish(folder: Path) -> tuple[float, float, float]:
    """Seconds on the clock, seconds of the processor, megabytes."""
    began = perf_counter()
    command = [sys.executable, "-m", "referee.cli", "league", "publish", str(folder)]
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    _, status, used = os.wait4(os.posix_spawn(sys.executable, command, os.environ, file_actions=quiet), 0)
    if status:
        raise RuntimeError(f"publishing failed: {os.waitstatus_to_exitcode(status)}")
    return perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    for name, value in measure().items():
        print(f"{name:32}{value:10.2f}")
