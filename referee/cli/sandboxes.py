"""Choosing what bots run in, and saying so."""

from collections.abc import Sequence

from referee.cli.options import SandboxWish
from referee.cli.show import err
from referee.errors import UsageError
from referee.limits import Limits
from referee.model import Submission
from referee.ports import Sandbox
from referee.sandbox.choose import choose_sandbox
from treelings.cards import MAX_PLAYERS

_NAMED = 5


def sandbox_for(
    wish: SandboxWish,
    strangers: Sequence[Submission],
    league: str,
    *,
    trust: bool,
    limits: Limits,
    at_once: int = MAX_PLAYERS,
) -> Sandbox:
    """The sandbox that the wish and this machine come to, for so many bots at tables at once; one table's if not given.

    Raises UsageError where nothing would isolate bots of strangers (those that are no shipped samples) and nobody
    said that they are trusted; SandboxError where what was wished for is not there.
    """
    sandbox, note = choose_sandbox(
        wish.value,
        limits=limits,
        at_once=at_once,
        league=league,
        report=lambda line: err.print(line, style="dim", markup=False),
    )
    if note:
        err.print(note, style="yellow", markup=False, soft_wrap=True)
    if sandbox.name == "process" and strangers and not trust:
        names = ", ".join(bot.name for bot in strangers[:_NAMED])
        raise UsageError(
            f"{names}: no sample bot, and nothing isolates bots here; start a Docker engine (treelings doctor tells "
            "how), or add --trust-bots if you trust whoever wrote them"
        )
    return sandbox
