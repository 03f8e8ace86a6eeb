"""How plan, resuming, standings and publishing grow with a league: python -m bench.growth.

Leagues of 10, 50 and 200 bots, each pair one deal from both seats: up to 19,900 matches and 39,800 games, in random
legal moves by the core. Resuming is `League.run` of a night whose games have all been played; standings are read from
the database. An exponent is the ratio of the logarithms of times and games: 1 is linear, 2 quadratic. Seconds are those
of the collector's setting that the command line has.
"""

import gc
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from itertools import islice
from math import log
from multiprocessing import Pool
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

from bench.publish import publish
from referee.cli.__main__ import COLLECT_AFTER
from referee.league import League
from referee.loop import run
from referee.model import GameRecord, GameSpec, NightSettings, SeatHolder
from referee.schedule import plan_night
from referee.store import STORE_FILE, Store
from tests.support.league import SECRET, FakeSandbox, Tables, Told, new_league
from tests.support.records import random_record
from treelings import Clock

TITLE: Final = "growth, from 10 to 200 bots"
SIZES: Final = (10, 50, 200)
ROUNDS: Final = 7
DEFAULT_DEALS: Final = 10
_BATCH: Final = 5_000

FIGURES: Final = {
    "plan_s_200": ("plan of 200 bots, 19,900 matches of one deal, s", "<= 2"),
    "plan_s_200_default": ("the same with the 10 deals of a new league, 398,000 games, s", "<= 2"),
    "plan_exponent": ("exponent of the plan, from 2,450 to 39,800 games", "<= 1.2"),
    "resume_s_200": ("resuming it with nothing to do, 39,800 games, s", "<= 5"),
    "resume_exponent": ("exponent of resuming", "<= 1.2"),
    "standings_s_200": ("its standings, from the database on, s", ""),
    "standings_exponent": ("exponent of the standings", "<= 1.2"),
    "publish_s_200": ("publishing it as a new site, once, s", ""),
    "publish_mb_200": ("memory for that at most, MB", ""),
    "publish_exponent": ("exponent of publishing, from 2,450 to 39,800 games", "<= 1.2"),
}


def measure() -> dict[str, float]:
    """Medians of all rounds, in which sizes come in turn; publishing once each."""
    gc.set_threshold(COLLECT_AFTER)
    with TemporaryDirectory(prefix="treelings-bench-") as place, ExitStack() as stack:
        leagues = {size: stack.enter_context(_league(Path(place, str(size)), size)) for size in SIZES}
        tasks: dict[str, Callable[[], object]] = {"plan_s_200_default": partial(_plan, SIZES[-1], DEFAULT_DEALS)}
        for size, league in leagues.items():
            tasks[f"plan_s_{size}"] = partial(_plan, size, 1)
            tasks[f"resume_s_{size}"] = partial(_resume, league)
            tasks[f"standings_s_{size}"] = league.standings
        seconds: dict[str, list[float]] = {name: [] for name in tasks}
        for _ in range(ROUNDS):
            for name, task in tasks.items():
                seconds[name].append(_seconds(task))
                for league in leagues.values():
                    _unfinish(league)
        found = {name: median(values) for name, values in seconds.items()}
        for size in SIZES[1:]:
            found[f"publish_s_{size}"], _, found[f"publish_mb_{size}"] = publish(leagues[size].folder)
    games = log((200 * 199) / (50 * 49))
    for what in ("plan", "resume", "standings", "publish"):
        found[f"{what}_exponent"] = log(found[f"{what}_s_200"] / found[f"{what}_s_50"]) / games
    return {name: found[name] for name in FIGURES}


def _seconds(task: Callable[[], object]) -> float:
    began = perf_counter()
    task()
    return perf_counter() - began


def _plan(bots: int, deals: int) -> None:
    settings = NightSettings((2,), deals, "start", None, Clock())
    plan_night(league="thursday", night=1, bots=_names(bots), settings=settings)


def _resume(league: League) -> None:
    summary = run(league.run(FakeSandbox(), progress=Told(), seat=Tables()))
    if summary.played or not summary.finished:
        raise RuntimeError(f"something was left to play: {summary}")


def _unfinish(league: League) -> None:
    """As if whoever played the night had been ended before it could say so."""
    with closing(sqlite3.connect(league.folder / STORE_FILE)) as file, file:
        file.execute("UPDATE nights SET finished = NULL")


def _league(folder: Path, size: int) -> League:
    """A league with an open night whose games are all recorded, but that nobody has called finished."""
    league = new_league(folder, _names(size), settings="deals = 1")
    night = league.open_night()
    versions = {bot.name: bot.version for bot in night.bots}
    games = [game for match in league.plan(night.number) for game in match.games]
    with Store.open(league.folder) as store, Pool() as pool:
        played = pool.imap(_game, games, chunksize=100)
        while batch := list(islice(played, _BATCH)):
            store.save(night.number, [_signed(record, versions) for record in batch])
    return league


def _game(spec: GameSpec) -> GameRecord:
    return random_record(spec, SECRET, Random(spec.id), fault_chance=0.001)


def _signed(record: GameRecord, versions: Mapping[str, str]) -> GameRecord:
    return replace(record, seats=tuple(SeatHolder(seat.bot, versions[seat.bot]) for seat in record.seats))


def _names(size: int) -> list[str]:
    return [f"bot{number:03}" for number in range(size)]


if __name__ == "__main__":
    for figure, value in measure().items():
        print(f"{figure:32}{value:10.2f}")
