"""A made-up league to publish, and which of its pages to look at."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

from referee.model import GameRecord, Night, VoidGame
from tests.support.records import random_league


@cache
def sample_league(bots: int = 6, deals: int = 2) -> tuple[tuple[Night, ...], tuple[GameRecord, ...]]:
    """Two nights of made-up bots, tables of two and of four; the second is unrevealed and has a void game."""
    names = NAMES[:bots]
    nights, records = random_league(
        Random(7), bots=names, nights=2, seats=(2, 4), deals=deals, max_tables=bots, fault_chance=0.002
    )
    first, second = nights
    lost = records[-1]
    void = VoidGame(lost.id, ("the engine is gone", "the engine is gone", "no space left on device"))
    return (first, replace(second, secret=None, finished=None, voids=(void,))), records[:-1]


NAMES = (
    "amber", "birch", "cedar-and-dusk", "ember", "fern", "grove-of-the-very-longest-name__", "hazel", "ivy",
    "juniper", "larch", "maple", "nettle", "oak", "pine", "quince", "rowan", "spruce", "thorn", "umber", "willow",
)  # fmt: skip


def pages_of(site: Path) -> list[Path]:
    """One page of each kind: index, a night, a bot, a match of two and a match of four with faults if any."""
    matches = sorted((site / "matches").glob("*.html"))
    four = [page for page in matches if page.stem.count("-vs-") == 3]
    return [
        site / "index.html",
        site / "night-2.html",
        min((site / "bots").glob("*.html")),
        next(page for page in matches if page.stem.count("-vs-") == 1),
        *four[:1],
    ]
