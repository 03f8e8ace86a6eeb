"""How long publishing takes, and how much memory: python -m bench.publish.

Twenty bots, each pair 10 deals from both seats: 3,800 games of random legal moves, made up by the core. The command
`treelings league publish` is run as a user runs it, for a new site and again when one match of it is new.
"""

import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from referee.loop import run
from referee.model import GameSpec, VoidGame
from tests.support.league import FakeSandbox, Tables, Told, new_league, open_league
from tests.support.site import NAMES

DEALS = 10


def measure() -> dict[str, float]:
    """Seconds on the clock and of the processor, megabytes of memory at most, kilobytes of the first page."""
    late = "-vs-".join(NAMES[:2])

    def not_yet(game: GameSpec) -> VoidGame | None:
        return VoidGame(game.id, ("its time comes later",)) if game.match == late else None

    with tempfile.TemporaryDirectory(prefix="treelings-bench-") as place:
        with new_league(Path(place), NAMES, settings=f"deals = {DEALS}") as league:
            run(league.run(FakeSandbox(), progress=Told(), jobs=1, seat=Tables(before=not_yet)))
            folder, index = league.folder, league.site / "index.html"
        new = _publish(folder)
        with open_league(Path(place)) as league:
            run(league.run(FakeSandbox(), progress=Told(), jobs=1, seat=Tables()))
        again = _publish(folder)
        return {
            "publish_s": new[0],
            "publish_processor_s": new[1],
            "publish_mb": max(new[2], again[2]),
            "publish_one_match_s": again[0],
            "publish_one_match_processor_s": again[1],
            "index_kb": index.stat().st_size / 1_000,
        }


def _publish(folder: Path) -> tuple[float, float, float]:
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
