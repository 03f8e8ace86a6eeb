"""How long the ratings of a big league take: python -m bench.ratings.

Twenty bots, 12,500 deals at tables of four drawn by lot, each deal in every rotation: 50,000 games, some with ties.
Points are made up of strength and luck, so that no game has to be played. Timed is `rate`, from the records on: the fit
of the bots, that of the seats, and every interval. And once more 600 bots, each against the 50 before and the 50 behind
it on a list, a deal from both seats each: 30,000 of their 179,700 pairs.
"""

import random
import sys
from collections.abc import Iterator, Mapping
from statistics import median
from time import perf_counter, process_time

from referee.model import GameRecord
from referee.ratings import rate
from tests.support.results import result

BOTS = tuple(f"bot{number:02}" for number in range(20))
DEALS = 12_500
SEATS = 4
ROUNDS = 7
MANY = tuple(f"bot{number:03}" for number in range(600))
NEIGHBOURS = 50

TITLE = "ratings of 20 bots after 50,000 games of four"
FIGURES = {
    "ratings_s_50000_games": ("the fit and every interval, seconds", "<= 5"),
    "ratings_processor_s": ("the same, seconds of the processor", ""),
    "ratings_s_600_bots": ("600 bots after 60,000 games of two, seconds", ""),
}


def measure() -> dict[str, float]:
    """Seconds by the clock and of processor time, medians."""
    records = list(_records(random.Random(2026)))
    clock, processor = [], []
    for _ in range(ROUNDS):
        began, busy = perf_counter(), process_time()
        rate(records)
        clock.append(perf_counter() - began)
        processor.append(process_time() - busy)
    many = list(_neighbours(random.Random(2026)))
    of_many = []
    for _ in range(ROUNDS):
        began = perf_counter()
        rate(many)
        of_many.append(perf_counter() - began)
    return {
        "ratings_s_50000_games": median(clock),
        "ratings_processor_s": median(processor),
        "ratings_s_600_bots": median(of_many),
    }


def _records(rng: random.Random) -> Iterator[GameRecord]:
    strength = {bot: rng.gauss(0, 1) for bot in BOTS}
    for deal in range(DEALS):
        yield from _rotations(rng, strength, rng.sample(BOTS, SEATS), deal)


def _neighbours(rng: random.Random) -> Iterator[GameRecord]:
    strength = {bot: rng.gauss(0, 1) for bot in MANY}
    for at, bot in enumerate(MANY):
        for step in range(1, NEIGHBOURS + 1):
            yield from _rotations(rng, strength, [bot, MANY[(at + step) % len(MANY)]], at * NEIGHBOURS + step)


def _rotations(
    rng: random.Random, strength: Mapping[str, float], table: list[str], deal: int
) -> Iterator[GameRecord]:  # fmt: skip
    for rotation in range(len(table)):
        bots = table[-rotation:] + table[:-rotation]
        points = [round(2 * (strength[bot] + rng.gauss(0, 1))) for bot in bots]
        ranks = [1 + sum(other > own for other in points) for own in points]
        yield result(bots, ranks, deal=f"night 1/{deal}", rotation=rotation)


def main() -> None:
    """Print the figures."""
    for name, value in measure().items():
        sys.stdout.write(f"{name:32}{value:10.2f}\n")


if __name__ == "__main__":
    main()
