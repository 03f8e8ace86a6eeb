"""Choosing what bots run in, and saying so."""

from collections.abc import Sequence

from referee.cli.options import SandboxWish
from referee.cli.show import err, say
from referee.errors import SandboxError, UsageError
from referee.limits import Limits
from referee.model import Submission
from referee.ports import RunningBot, Sandbox
from referee.sandbox.choose import PLAIN_PROCESSES, choose_sandbox, lacking
from referee.submissions import is_sample
from treelings.cards import MAX_PLAYERS

_NAMED = 5


def follow_build(line: str) -> None:
    """Show how the build of an image goes on, or what is waited for."""
    err.print(line, style="dim", markup=False)


def sandbox_for(
    wish: SandboxWish,
    bots: Sequence[Submission],
    league: str,
    *,
    trust: bool,
    limits: Limits,
    at_once: int = MAX_PLAYERS,
) -> Sandbox:
    """The sandbox that the wish and this machine come to for these bots, so many of them at tables at once.

    Raises UsageError where nothing would isolate those of strangers (that are no shipped samples) and nobody
    said that they are trusted; SandboxError where what was wished for is not there, or the runtime of one of them.
    """
    sandbox = sandbox_alone(wish, bots, league, trust=trust, limits=limits, at_once=at_once)
    for runtime, problem in lacking_for(sandbox, bots).items():
        raise SandboxError(f"{_with(runtime, bots)} cannot run here: runtime {runtime}: {problem}")
    return sandbox


def absent_from(sandbox: Sandbox, bots: Sequence[Submission]) -> dict[str, str]:
    """Those of a night's bots that cannot run in this sandbox, and why, in a few words; says so. Raises EngineGone."""
    problems = lacking_for(sandbox, bots)
    for runtime, problem in problems.items():
        say(f"{_with(runtime, bots)} cannot play now: runtime {runtime}: {problem}", style="bold red", to=err)
        say("All other games are played; another run can play those that this leaves out.", style="bold", to=err)
    return {bot.name: f"no runtime {bot.runtime} here" for bot in bots if bot.runtime in problems}


def sandbox_alone(
    wish: SandboxWish,
    bots: Sequence[Submission],
    league: str,
    *,
    trust: bool,
    limits: Limits,
    at_once: int = MAX_PLAYERS,
) -> Sandbox:
    """The same, whatever becomes of runtimes other than python: for that, ask `lacking_for`."""
    sandbox, note = choose_sandbox(wish.value, limits=limits, at_once=at_once, league=league, report=follow_build)
    strangers = [bot for bot in bots if not is_sample(bot)]
    if sandbox.name == "process" and strangers and not trust:
        if wish is SandboxWish.PROCESS:
            found = "--sandbox process isolates nothing; leave that out"
        else:
            why = (note or "").removeprefix(PLAIN_PROCESSES).rstrip(".")
            found = f"nothing isolates bots here{why}; start a Docker engine (treelings doctor tells how)"
        raise UsageError(
            f"{_named(strangers)}: no sample bot, and {found}, or add --trust-bots if you trust whoever wrote them"
        )
    return _Noted(sandbox, note) if note else sandbox


class _Noted:
    """A sandbox that must be told something of (ports.Sandbox): when it is opened, so only where bots really run."""

    def __init__(self, inner: Sandbox, note: str) -> None:
        self._inner = inner
        self._note = note

    @property
    def name(self) -> str:
        return self._inner.name

    async def open(self) -> None:
        say(self._note, style="yellow", to=err)
        await self._inner.open()

    async def start(self, submission: Submission, match: str) -> RunningBot:
        return await self._inner.start(submission, match)

    async def close(self) -> None:
        await self._inner.close()


def lacking_for(sandbox: Sandbox, bots: Sequence[Submission]) -> dict[str, str]:
    """The runtimes of these bots that the sandbox cannot run, and why (choose.lacking). Raises EngineGone."""
    return lacking(sandbox.name, {bot.runtime for bot in bots} - {"python"}, follow_build)


def _with(runtime: str, bots: Sequence[Submission]) -> str:
    return _named([bot for bot in bots if bot.runtime == runtime])


def _named(bots: Sequence[Submission]) -> str:
    return ", ".join(bot.name for bot in bots[:_NAMED]) + (", …" if len(bots) > _NAMED else "")
