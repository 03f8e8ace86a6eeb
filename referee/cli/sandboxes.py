"""Choosing what bots run in, and saying so."""

from collections.abc import Sequence

from referee.cli.options import SandboxWish
from referee.cli.show import err
from referee.errors import UsageError
from referee.limits import Limits
from referee.model import Submission
from referee.ports import Sandbox
from referee.sandbox.choose import choose_sandbox
from referee.submissions import is_sample
from treelings.cards import MAX_PLAYERS

_NAMED = 5


def follow_build(line: str) -> None:
    """Show how the build of an image goes on."""
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
    said that they are trusted; SandboxError where what was wished for is not there.
    """
    runtimes: dict[str, list[str]] = {}
    for bot in bots:
        runtimes.setdefault(bot.runtime, []).append(bot.name)
    sandbox, note = choose_sandbox(
        wish.value,
        limits=limits,
        at_once=at_once,
        league=league,
        runtimes=runtimes,
        report=follow_build,
    )
    if note:
        err.print(note, style="yellow", markup=False, soft_wrap=True)
    strangers = [bot for bot in bots if not is_sample(bot)]
    if sandbox.name == "process" and strangers and not trust:
        names = ", ".join(bot.name for bot in strangers[:_NAMED])
        raise UsageError(
            f"{names}: no sample bot, and nothing isolates bots here; start a Docker engine (treelings doctor tells "
            "how), or add --trust-bots if you trust whoever wrote them"
        )
    return sandbox
