"""Plays a match between hostile bots and one honest bot in real containers, and looks at what is left."""

import os
import resource
import stat
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from referee.match import Table
from referee.model import GameRecord, GameSpec, MatchSpec, Submission, game_id
from referee.players import connect
from referee.ports import Answer, Failure, Link, Player, RunningBot
from referee.records import problems
from referee.sandbox.docker import LEAGUE_LABEL, DockerSandbox
from referee.sandbox.engine import connect as connect_engine
from referee.sandbox.folders import base_folder
from referee.submissions import inspect, sample_bot
from tests.adversarial.checks import CHECKS, Ask, Check
from tests.support.hostile import Case, GameFaults, Outcome, stage
from treelings import GameEnd, GameStart, View

HONEST: Final = "greedy"
_SECRET: Final = bytes(32)


def submissions(case: Case, folder: Path, names: list[str], source: Path) -> dict[str, Submission]:
    """The honest bot and the hostile ones, by name."""
    bots = {HONEST: inspect(source)}
    for name in names:
        bots[name] = inspect(stage(case, folder, name))
    return bots


def match(case: Case, bots: Mapping[str, Submission]) -> MatchSpec:
    """The games of a case, deal by deal in every rotation."""
    names = tuple(sorted(bots))
    id_ = "-vs-".join(names)
    games = []
    for number in range(case.games):
        deal, rotation = divmod(number, len(names))
        seats = tuple(names[(seat - rotation) % len(names)] for seat in range(len(names)))
        games.append(GameSpec(game_id(f"d{deal}", rotation), "hostile", 1, id_, f"d{deal}", rotation, "start", seats))
    return MatchSpec(id_, 0, names, tuple(games))


async def play(case: Case, folder: Path) -> Outcome:
    """Play the case's match; `folder` is for its files. The outcome is complete but for `stderr`."""
    import grpc.aio  # not above: referee.players sets what it reads once, when it is imported

    league = f"hostile-{os.getpid()}"
    outcome = Outcome()
    begun, used = time.monotonic(), _cpu_s()
    checks = [CHECKS[name](allowed) for name, allowed in case.checks.items()]
    names = [case.kind] if case.copies == 1 else [f"{case.kind}-{at}" for at in range(case.copies)]
    honest = sample_bot(HONEST)
    assert honest is not None
    bots = submissions(case, folder, names, honest)
    grpc.aio.init_grpc_aio()  # type: ignore[attr-defined]  # the stubs lack it; whose own pair of sockets stays with the process
    before = _sockets()
    for check in checks:
        for name in names:
            check.stage(bots[name].folder)
    sandbox = DockerSandbox(league=league, limits=case.limits)
    await sandbox.open()
    try:
        await _play(case, bots, sandbox, checks, outcome)
    finally:
        for check in checks:
            check.close()
        await sandbox.close()
    outcome.left = left_behind(league, str(sandbox.run), before)
    outcome.seconds = time.monotonic() - begun
    outcome.cpu_s = _cpu_s() - used
    outcome.peak_bytes = _peak_bytes()
    for check in checks:
        outcome.wrong += check.problems(outcome)
    return outcome


async def _play(
    case: Case, bots: Mapping[str, Submission], sandbox: DockerSandbox, checks: list[Check], outcome: Outcome
) -> None:
    running: dict[str, RunningBot] = {}

    def told(ask: Ask) -> None:
        for check in checks:
            check.asked(ask)

    def watched(bot: RunningBot) -> Link:
        running[bot.submission.name] = bot
        for check in checks:
            check.connected(bot, hostile=bot.submission.name != HONEST)
        return _WatchedLink(connect(bot), bot, running, told)

    def keep_log(match: str, bot: str, log: bytes) -> None:
        for check in checks:
            check.logged(log)
        if bot != HONEST:
            outcome.log += log.decode("utf-8", "replace")

    spec = match(case, bots)
    table = Table(spec, bots, sandbox, _SECRET, case.clock, watched, keep_log)
    try:
        await table.open()
        async for result in table.play(spec.games):
            if not isinstance(result, GameRecord):
                outcome.voids += result.reasons
                continue
            outcome.invalid += problems(result)
            faults = [
                (result.seats[fault.seat].bot != HONEST, (str(fault.kind), fault.detail)) for fault in result.faults
            ]
            outcome.games.append(
                GameFaults(*(tuple(fault for hostile, fault in faults if hostile is whose) for whose in (True, False)))
            )
    finally:
        closing = time.monotonic()
        await table.close()
        outcome.closing_ms = (time.monotonic() - closing) * 1000


class _WatchedLink:
    """A link whose asks are timed from the outside."""

    def __init__(
        self, link: Link, bot: RunningBot, all_bots: Mapping[str, RunningBot], told: Callable[[Ask], None]
    ) -> None:
        self._link = link
        self._bot = bot
        self._all = all_bots
        self._told = told

    def player(self) -> Player:
        return _WatchedPlayer(self._link.player(), self._bot, self._all, self._told)

    async def left_in_order(self, within_ms: int) -> bool:
        return await self._link.left_in_order(within_ms)

    async def close(self) -> bytes:
        return await self._link.close()


class _WatchedPlayer:
    def __init__(
        self, player: Player, bot: RunningBot, all_bots: Mapping[str, RunningBot], told: Callable[[Ask], None]
    ) -> None:
        self._player = player
        self._bot = bot
        self._all = all_bots
        self._told = told
        self._game = ""

    async def start(self, game: GameStart) -> Failure | None:
        self._game = game.game
        return await self._player.start(game)

    async def ask(self, view: View) -> Answer | Failure:
        before, begun = self._others_cpu_ms(), time.monotonic()
        answer = await self._player.ask(view)
        ms = (time.monotonic() - begun) * 1000
        hostile = self._bot.submission.name != HONEST
        self._told(
            Ask(self._game, hostile, view.limit_ms, ms, self._others_cpu_ms() - before, isinstance(answer, Failure))
        )
        return answer

    async def end(self, result: GameEnd) -> None:
        await self._player.end(result)

    def _others_cpu_ms(self) -> float:
        return sum(bot.cpu_used_ms() or 0.0 for bot in self._all.values() if bot is not self._bot)


def left_behind(league: str, run: str, sockets: set[str]) -> list[str]:
    """What a sandbox that was closed has left of its run, in words; `sockets` are those of this process before."""
    engine = connect_engine()
    try:
        by_label = {"label": f"{LEAGUE_LABEL}={league}"}
        left = [f"container {found['Id'][:12]}" for found in engine.containers(all=True, filters=by_label)]
        left += [f"network {found['Name']}" for found in engine.networks(filters=by_label)]
    finally:
        engine.close()
    left += [f"folder {path.name}" for path in base_folder().glob(f"*{run}*")]
    left += [f"socket {line.split()[-1]}" for line in _lines("/proc/net/unix") if run in line]
    for task in Path("/proc/self/task").iterdir():
        left += [f"child process {pid}" for pid in (task / "children").read_text(encoding="ascii").split()]
    left += [f"open {socket}" for socket in sorted(_sockets() - sockets)]
    return left


def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()


def _sockets() -> set[str]:
    """The sockets that this process holds, by number."""
    found = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            if stat.S_ISSOCK(descriptor.stat().st_mode):
                found.add(str(descriptor.readlink()))
        except FileNotFoundError:  # the one that reads this folder
            continue
    return found


def _peak_bytes() -> int:
    # Not getrusage: its peak begins with that of the process which this one was forked from.
    (line,) = [line for line in _lines("/proc/self/status") if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
