"""Games between two bots of given sources, with what became of each attempt to play them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from referee.match import Table
from referee.model import FaultKind, GameRecord, GameSpec, MatchSpec, Submission, VoidGame, game_id
from referee.players import connect
from referee.ports import Link, Player, RunningBot, Sandbox
from tests.support.bot_sources import kit_bot
from treelings import Clock

NAMES = ("ann", "bob")


def burner(share: float) -> str:
    """An honest bot that needs processor time for each of its moves: so much of what it may take."""
    return kit_bot(f"""
    def choose(self, view):
        ends = time.thread_time() + view.limit_ms / 1000 * {share}
        while time.thread_time() < ends:
            pass
        return view.legal_moves[-1]
    """)


def sleeper(limits: float) -> str:
    """A bot that answers after so many of its limits, having done nothing."""
    return kit_bot(f"""
    def choose(self, view):
        time.sleep(view.limit_ms / 1000 * {limits})
        return view.legal_moves[-1]
    """)


@dataclass
class Played:
    """What became of all games; `attempts` counts each time that one was begun."""

    records: list[GameRecord] = field(default_factory=list)
    voids: list[VoidGame] = field(default_factory=list)
    attempts: int = 0

    def forfeits(self, kind: FaultKind | None = None) -> int:
        """Games with a fault, of this kind if one is given."""
        return sum(any(kind in (None, fault.kind) for fault in record.faults) for record in self.records)

    def __str__(self) -> str:
        replays = self.attempts - len(self.records) - len(self.voids)
        return (
            f"games {len(self.records) + len(self.voids)}, played {len(self.records)}, "
            f"with a forfeit {self.forfeits()} (timeouts {self.forfeits(FaultKind.TIMEOUT)}), "
            f"listed as void {len(self.voids)}, attempts {self.attempts}, "
            f"void attempts {self.attempts - len(self.records)}, replays {replays}"
        )


class _Counted:
    """A link that counts the games that its bot is to play."""

    def __init__(self, link: Link, played: Played) -> None:
        self._link = link
        self._played = played

    def player(self) -> Player:
        self._played.attempts += 1
        return self._link.player()

    async def left_in_order(self, within_ms: int) -> bool:
        return await self._link.left_in_order(within_ms)

    async def close(self) -> bytes:
        return await self._link.close()


async def _at_once(seconds: float) -> None:
    """No pause: this load does not pass."""


async def play_games(
    sandbox: Sandbox, sources: Mapping[str, str], folder: Path, games: int, clock: Clock,
    tell: Callable[[Played], None] | None = None,
) -> Played:  # fmt: skip
    """Play so many games of bots "ann" and "bob" at one table, in a sandbox that is not open yet.

    `tell` is told after each game what became of all till then.
    """
    bots = {}
    for name in NAMES:
        home = folder / name
        home.mkdir()
        (home / "bot.py").write_text(sources[name])
        bots[name] = Submission(name, "Tests", f"sha256:{name}", home, ("python", "bot.py"), "python")
    specs = tuple(
        GameSpec(game_id(f"d{number // 2}", number % 2), "test", 1, "ann-vs-bob", f"d{number // 2}", number % 2,
                 "start", NAMES[:: 1 - 2 * (number % 2)])
        for number in range(games)
    )  # fmt: skip
    played = Played()

    def connect_counted(bot: RunningBot) -> Link:
        link = connect(bot)
        return _Counted(link, played) if bot.submission.name == NAMES[0] else link

    await sandbox.open()
    table = Table(
        MatchSpec("ann-vs-bob", 0, NAMES, specs), bots, sandbox, bytes(32), clock, connect_counted, pause=_at_once
    )
    try:
        async for result in table.play(specs):
            if isinstance(result, GameRecord):
                played.records.append(result)
            else:
                played.voids.append(result)
            if tell is not None:
                tell(played)
    finally:
        await table.close()
        await sandbox.close()
    return played
