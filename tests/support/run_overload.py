"""`python -m tests.support.run_overload -h`: games of two bots under a load from outside, as one line of figures."""

import argparse
import tempfile
from pathlib import Path
from time import monotonic

from referee.limits import Limits
from referee.loop import run
from referee.sandbox.choose import choose_sandbox
from tests.support.load import outside_load
from tests.support.overload import Played, burner, play_games, sleeper
from treelings import Clock


def tell(played: Played) -> None:
    """Print what became of the games so far, now and then: all of them may take an hour."""
    if (len(played.records) + len(played.voids)) % 10 == 0:
        print(played, flush=True)


if __name__ == "__main__":
    ask = argparse.ArgumentParser()
    ask.add_argument("--sandbox", choices=("docker", "process"), default="docker")
    ask.add_argument("--games", type=int, default=200)
    ask.add_argument("--burners", type=int, default=6, help="processes of the load, spread over the cores")
    ask.add_argument("--move-ms", type=int, default=100)
    ask.add_argument("--needs", type=float, default=0.5, help="of the move limit, in processor time, each bot")
    ask.add_argument("--sleeps", type=float, help="limits that bob sleeps instead")
    ask.add_argument("--at-most-s", type=float, default=1800, help="of load")
    wish = ask.parse_args()

    sandbox, _ = choose_sandbox(wish.sandbox, league="overload", limits=Limits(), at_once=2, report=print)
    bots = {
        "ann": burner(wish.needs),
        "bob": burner(wish.needs) if wish.sleeps is None else sleeper(wish.sleeps),
    }
    clock = Clock(move_ms=wish.move_ms, bank_ms=3_600_000)
    began = monotonic()
    with tempfile.TemporaryDirectory() as folder, outside_load(wish.burners, at_most_s=wish.at_most_s):
        played = run(play_games(sandbox, bots, Path(folder), wish.games, clock, tell))
    print(f"{wish.sandbox}, {wish.burners} burners, {wish.move_ms} ms a move: {played}; {monotonic() - began:.0f} s")
    for fault in [fault for record in played.records for fault in record.faults][:3]:
        print(f"a fault: {fault.detail}")
    for void in played.voids[:1]:
        print(f"the first one that was listed as void: {'; '.join(void.reasons)}")
