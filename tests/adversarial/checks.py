"""What some cases ask for besides their verdict; named in case.toml, each with a number that it allows."""

import os
import secrets
import socket
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from referee.ports import RunningBot
from tests.support.hostile import Outcome


@dataclass(frozen=True)
class Ask:
    """One query, seen from the outside.

    game           its name: deal and rotation
    hostile        it was a hostile bot's
    ms             until the referee had done with it
    others_cpu_ms  processor time that all other bots of the table used meanwhile
    failed         it ended with a fault
    """

    game: str
    hostile: bool
    limit_ms: int
    ms: float
    others_cpu_ms: float
    failed: bool


class Check:
    """Watches a match; `problems` says what was not as it must be."""

    def __init__(self, allowed: float) -> None:
        self.allowed = allowed

    def stage(self, folder: Path) -> None:
        """A hostile bot's submission is about to be run from this folder."""

    def connected(self, bot: RunningBot, *, hostile: bool) -> None:
        """A bot was started; it has not listened yet."""

    def asked(self, ask: Ask) -> None:
        """A query is over."""

    def logged(self, log: bytes) -> None:
        """This is kept of one start of any bot."""

    def close(self) -> None:
        """The match is over."""

    def problems(self, outcome: Outcome) -> list[str]:
        """What is wrong; what was measured goes to `outcome.found`."""
        raise NotImplementedError


class GoneWithin(Check):
    """The table, hostile bots and all, is gone within so many seconds.

    A calm machine takes far less than one; a bot that was waited for to end of itself would take ten.
    """

    def problems(self, outcome: Outcome) -> list[str]:
        outcome.found["gone after"] = f"{outcome.closing_ms:,.0f} ms"
        if outcome.closing_ms > self.allowed * 1000:
            return [f"expected the table to be gone within {self.allowed} s, got {outcome.closing_ms:,.0f} ms"]
        return []


class OnTime(Check):
    """No wait for the hostile bot ends later than its limit and so many milliseconds.

    On a calm machine that is a few; a busy one may prolong a wait to three limits.
    """

    def __init__(self, allowed: float) -> None:
        super().__init__(allowed)
        self._over: list[float] = []

    def asked(self, ask: Ask) -> None:
        if ask.hostile:
            self._over.append(ask.ms - ask.limit_ms)

    def problems(self, outcome: Outcome) -> list[str]:
        worst = max(self._over, default=0.0)
        outcome.found["over the limit"] = f"{max(worst, 0):,.0f} ms"
        return [f"a wait ended {worst:,.0f} ms after its limit"] if worst > self.allowed else []


class OthersRest(Check):
    """While the honest bot is on turn, the others use at most this part of a core."""

    def __init__(self, allowed: float) -> None:
        super().__init__(allowed)
        self._asks: list[Ask] = []

    def asked(self, ask: Ask) -> None:
        if not ask.hostile:
            self._asks.append(ask)

    def problems(self, outcome: Outcome) -> list[str]:
        share = sum(ask.others_cpu_ms for ask in self._asks) / sum(ask.ms for ask in self._asks)
        outcome.found["cores used off turn"] = f"{share:.2f}"
        # Without a freezer, which takes root, waiting bots are only held to a share of the cores.
        allowed = self.allowed if os.geteuid() == 0 else (os.cpu_count() or 1) * 0.75
        if share > allowed:
            return [f"expected bots that wait to use at most {allowed} cores, got {share:.2f}"]
        return []


class LogCap(Check):
    """No start of a bot leaves more than so many bytes of log."""

    def __init__(self, allowed: float) -> None:
        super().__init__(allowed)
        self._longest = 0

    def logged(self, log: bytes) -> None:
        self._longest = max(self._longest, len(log))

    def problems(self, outcome: Outcome) -> list[str]:
        outcome.found["log kept"] = f"{self._longest:,} bytes"
        return [] if self._longest <= self.allowed else [f"a log of {self._longest:,} bytes was kept"]


class Bait(Check):
    """A neighbour's socket, whose way the hostile bot is told: nobody may be led there.

    The bot finds `bait.py` in its folder, with the path of a Unix socket of this machine and an abstract name.
    """

    def __init__(self, allowed: float) -> None:
        super().__init__(allowed)
        self._folder = tempfile.TemporaryDirectory(prefix="bait-")
        path = f"{self._folder.name}/bot.sock"
        name = f"treelings-bait-{secrets.token_hex(4)}"
        self._text = f"PATH = {path!r}\nNAME = {name!r}\n"
        self._listeners = [_listen(path), _listen(f"\0{name}")]
        self._caught = 0
        Path(self._folder.name).chmod(0o755)
        Path(path).chmod(0o666)

    def stage(self, folder: Path) -> None:
        (folder / "bait.py").write_text(self._text, encoding="utf-8")
        (folder / "bait.py").chmod(0o644)

    def close(self) -> None:
        for listener in self._listeners:
            try:
                listener.accept()[0].close()
                self._caught += 1
            except BlockingIOError:
                pass
            listener.close()
        self._folder.cleanup()

    def problems(self, outcome: Outcome) -> list[str]:
        outcome.found["led to a neighbour"] = "yes" if self._caught else "never"
        return ["somebody was led to the neighbour's socket"] if self._caught else []


class ListensInItsPlace(Check):
    """Somebody else listens where the bot should, as if one had managed to put a neighbour's socket there."""

    def __init__(self, allowed: float) -> None:
        super().__init__(allowed)
        self._listeners: list[socket.socket] = []

    def connected(self, bot: RunningBot, *, hostile: bool) -> None:
        if hostile and isinstance(bot.address, Path):
            self._listeners.append(_listen(str(bot.address)))

    def close(self) -> None:
        for listener in self._listeners:
            listener.close()

    def problems(self, outcome: Outcome) -> list[str]:
        return [] if self._listeners else ["nobody listened in its place"]


class SlowedByDeal(Check):
    """How many times as long the honest bot takes for a move in the deals in which the others burn, all but the first.

    A figure for people: what a busy machine makes of it proves nothing.
    """

    def __init__(self, allowed: float) -> None:
        super().__init__(allowed)
        self._calm: list[float] = []
        self._burning: list[float] = []

    def asked(self, ask: Ask) -> None:
        if not ask.hostile:
            (self._calm if ask.game.startswith("d0/") else self._burning).append(ask.ms)

    def problems(self, outcome: Outcome) -> list[str]:
        ratio = statistics.median(self._burning) / statistics.median(self._calm)
        outcome.found["slower"] = f"{ratio:.2f} times (goal {self.allowed})"
        return []


def _listen(address: str) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(4_096)  # more callers than try in any case
    listener.setblocking(False)
    return listener


CHECKS: Final[dict[str, type[Check]]] = {
    "gone_within_s": GoneWithin,
    "over_limit_ms": OnTime,
    "cores_off_turn": OthersRest,
    "slowed_by_deal": SlowedByDeal,
    "log_bytes": LogCap,
    "bait": Bait,
    "listens_in_its_place": ListensInItsPlace,
}
