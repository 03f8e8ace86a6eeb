"""Made-up leagues to publish, which of their pages to look at, and a server for them on this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Thread
from typing import Final

from referee.model import Fault, FaultKind, GameRecord, Night, UntilDecided, VoidGame
from referee.publish import publish_site
from tests.support.decided import decided_league
from tests.support.records import AtHand, random_league

HOSTILE: Final = "</script><script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">"
"""What a stranger may write wherever text is free."""


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


@cache
def hostile_league() -> tuple[tuple[Night, ...], tuple[GameRecord, ...]]:
    """A night of names as long as may be, whose authors, comments and faults try to be markup or to be wide."""
    bots = ("w" * 32, "grove-of-the-very-longest-name__", "_" * 12)
    (night,), (first, *others) = random_league(Random(3), bots=bots, nights=1, deals=1, fault_chance=0.0)
    authors = (HOSTILE, "W" * 64, "<b>\u2066bold")
    said = replace(first.moves[3], comment=HOSTILE + "W" * 150)
    gone = replace(
        others[0], faults=(Fault(0, 4, FaultKind.CRASH, HOSTILE + "W" * 150),), moves=others[0].moves[:4],
        ended="forfeit", scores=None, ranks=(2, 1), festival_turn=None,
    )  # fmt: skip
    entries = tuple(replace(bot, author=author) for bot, author in zip(night.bots, authors, strict=True))
    records = (replace(first, moves=(*first.moves[:3], said, *first.moves[4:])), gone, *others[1:])
    return (replace(night, bots=entries),), records


def pages_of(site: Path) -> list[Path]:
    """One page of each kind: index, the last night, a bot, a match of two and, if there is one, a match of four."""
    matches = sorted((site / "matches").glob("*.html"))
    four = [page for page in matches if page.stem.count("-vs-") == 3]
    return [
        site / "index.html",
        max(site.glob("night-*.html")),
        min((site / "bots").glob("*.html")),
        next(page for page in matches if page.stem.count("-vs-") == 1),
        *four[:1],
    ]


def publish_every_kind(folder: Path, *, bots: int = 6, deals: int = 2) -> list[Path]:
    """Publish the sample league, one that was played until decided and a hostile one; a page of each of their kinds.

    The first five are those of the sample league, see `pages_of`.
    """
    leagues = {
        "league": ("Thursday night", sample_league(bots, deals)),
        "decided": ("Friday night", decided_league(NAMES[:4], UntilDecided(3, 6))),
        "hostile": (HOSTILE, hostile_league()),
    }
    for name, (league, (nights, records)) in leagues.items():
        publish_site(folder / name, league=league, nights=nights, games=AtHand(records))
    return [*pages_of(folder / "league"), folder / "decided" / "night-1.html", *pages_of(folder / "hostile")]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The folder by HTTP, to this machine alone: the address of its root, without a slash at the end."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
