"""A league of honest bots alone, and the same with hostile ones among them: what must not differ between the two.

`python -m tests.support.mixed_league` plays both with ten honest bots and one of every kind of the hostile collection,
and prints the standings; `--honest N` and `--hostile KIND…` choose. With `--tables N` all of them play one league at so
many tables of five, which is far quicker: everybody meets somebody there, but not everybody everybody.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from referee.league import League
from referee.loop import run
from referee.model import GameRecord, Standing, VoidGame
from referee.records import read_records
from referee.reports import RunSummary
from referee.sandbox.docker import DockerSandbox
from referee.standings import standings
from tests.support.hostile import kinds, load, stage
from tests.support.submissions import bot_folder

SECRET = bytes(range(32))
RUNS = 3
NOW = datetime(2026, 11, 30, 18, 0, tzinfo=UTC)

HONEST = '''
import hashlib
import random

import treelings

NUMBER, SHARE = {number}, {share}  # which of these bots it is; in how many of ten turns it thinks


def draw(*words):
    return int.from_bytes(hashlib.sha256(repr((NUMBER, *words)).encode()).digest()[:4], "big")


class Honest(treelings.Bot):
    """Plays the same moves whenever it sees the same table: nothing is left to a clock or to chance."""

    def choose(self, view):
        def lot(move):
            return draw(view.turn, move.notation)

        if draw(view.turn, view.market) % 10 >= SHARE:
            return min(view.legal_moves, key=lot)
        state = view.sample(random.Random(0))

        def margin_after(move):
            after = state.copy()
            after.play(move)
            return after.margin(view.seat), lot(move)

        return max(view.legal_moves, key=margin_after)


treelings.serve(Honest)
'''

SETTINGS = """name = "mixed"
deals = {deals}
{seats}
[clock]
startup_ms = {startup_ms}
move_ms = {move_ms}
bank_ms = 10000
increment_ms = 100
[sandbox]
memory_mb = {memory_mb}
"""

Played = dict[tuple[str | None, int], tuple[str, tuple[str, ...], tuple[int, ...] | None, tuple[int, ...]]]


@dataclass(frozen=True)
class Night:
    """What a league came to. `seconds` is what the run took."""

    records: tuple[GameRecord, ...]
    summary: RunSummary
    standings: tuple[Standing, ...]

    def among(self, bots: frozenset[str]) -> tuple[GameRecord, ...]:
        """The games between these bots alone."""
        return tuple(record for record in self.records if {seat.bot for seat in record.seats} <= bots)


class Silent:
    """A progress that tells nothing."""

    def begin(self, done: int, total: int) -> None:
        pass

    def game_done(self, record: GameRecord) -> None:
        pass

    def game_void(self, void: VoidGame) -> None:
        pass


def names(count: int) -> frozenset[str]:
    """Names of so many honest bots."""
    return frozenset(f"honest-{number:02}" for number in range(count))


def honest_bots(parent: Path, count: int) -> list[Path]:
    """Folders of so many bots that think more and more often, from never to always."""
    return [
        bot_folder(parent, name, HONEST.format(number=number, share=10 * number // max(1, count - 1)))
        for number, name in enumerate(sorted(names(count)))
    ]


def hostile_bots(parent: Path, chosen: Sequence[str]) -> list[Path]:
    """Folders of one bot of each of these kinds, staged as for their own cases."""
    return [stage(load(kind), parent) for kind in chosen]


def play(
    folder: Path, bots: Sequence[Path], *, deals: int, startup_ms: int = 4_000, move_ms: int = 400, jobs: int = 2,
    tables: int | None = None,
) -> Night:  # fmt: skip
    """Play one night in containers, with a fixed secret; `folder` is the league's own.

    tables  so many of five seats; None: a round robin of two

    As an organiser would, runs it again while games are void because the machine was too busy, three times in all.
    """
    League.create(folder, "mixed").close()
    seats = "" if tables is None else f"seats = [5]\nmax_tables = {tables}"
    (folder / "league.toml").write_text(
        SETTINGS.format(deals=deals, seats=seats, startup_ms=startup_ms, move_ms=move_ms, memory_mb=128)
    )
    with League.open(folder, now=lambda: NOW, new_secret=lambda: SECRET) as league:
        for bot in bots:
            league.add(bot)
        for _ in range(RUNS):
            sandbox = DockerSandbox(league=league.name, limits=league.config.limits())
            summary = run(league.run(sandbox, progress=Silent(), jobs=jobs))
            if summary.finished:
                break
        league.publish()
        records = tuple(
            record for path in sorted((league.site / "records").glob("*.jsonl")) for record in read_records(path)
        )
        return Night(records, summary, league.standings(1))


def what_was_played(records: Sequence[GameRecord]) -> Played:
    """By deal and rotation: the deck, the moves, the scores and the ranks; nothing that a clock has a say in."""
    return {
        (record.deal, record.rotation): (
            record.deck,
            tuple(move.move for move in record.moves),
            record.scores,
            record.ranks,
        )
        for record in records
    }


def order(records: Sequence[GameRecord]) -> list[tuple[int, str, float, float]]:
    """The standings that follow from these games: rank, bot, score, margin."""
    return [(standing.rank, standing.bot, standing.score, standing.margin) for standing in standings(records)]


def main(arguments: Sequence[str]) -> None:
    """Play both leagues and print what came of them; exit code 1 if they differ where they must not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--honest", type=int, default=10)
    parser.add_argument("--hostile", nargs="*", default=kinds(), metavar="KIND")
    parser.add_argument("--deals", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tables", type=int, help="of five seats; without it, a round robin of two")
    chosen = parser.parse_args(arguments)
    console = Console(width=100)
    honest = names(chosen.honest)
    with tempfile.TemporaryDirectory(prefix="mixed-") as place:
        bots = honest_bots(Path(place, "bots"), chosen.honest)
        hostile = hostile_bots(Path(place, "bots"), chosen.hostile)
        if chosen.tables is not None:
            every = [*bots, *hostile]
            mixed = play(Path(place, "mixed"), every, deals=chosen.deals, jobs=chosen.jobs, tables=chosen.tables)
            _show(console, f"{len(bots)} honest and {len(hostile)} hostile bots at tables of five", mixed)
            sys.exit(1 if _tell_honest_faults(console, mixed, honest) else 0)
        alone = play(Path(place, "alone"), bots, deals=chosen.deals, jobs=chosen.jobs)
        _show(console, f"{len(bots)} honest bots alone", alone)
        mixed = play(Path(place, "mixed"), [*bots, *hostile], deals=chosen.deals, jobs=chosen.jobs)
        _show(console, f"with {len(hostile)} hostile ones among them", mixed)
    spoiled = _tell_honest_faults(console, mixed, honest)
    same_games = what_was_played(alone.records) == what_was_played(mixed.among(honest))
    same_order = order(alone.records) == order(mixed.among(honest))
    console.print(f"honest against honest: games identical: {same_games}; standings identical: {same_order}")
    if spoiled or not (same_games and same_order):
        sys.exit(1)


def _tell_honest_faults(console: Console, night: Night, honest: frozenset[str]) -> int:
    """Print how many faults honest bots made, and how many games are void; their sum."""
    faults = sum(1 for record in night.records for fault in record.faults if record.seats[fault.seat].bot in honest)
    console.print(f"faults of honest bots: {faults}; void games: {len(night.summary.voids)}")
    return faults + len(night.summary.voids)


def _show(console: Console, title: str, night: Night) -> None:
    table = Table("#", "bot", "games", "w-t-l", "score", "faults", title=title, box=None, title_justify="left")
    for row in night.standings:
        results = f"{row.wins}-{row.ties}-{row.losses}"
        table.add_row(str(row.rank), row.bot, str(row.games), results, f"{row.score:.1%}", str(row.faults))
    console.print(table)
    state = "complete" if night.summary.finished else "NOT complete"
    console.print(f"{state}: {night.summary.done} of {night.summary.total} games\n")


if __name__ == "__main__":
    main(sys.argv[1:])
