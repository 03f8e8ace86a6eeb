"""Choosing what bots run in, and saying so."""

from collections.abc import Iterable

from referee.cli.options import SandboxWish
from referee.cli.show import err
from referee.errors import UsageError
from referee.model import Submission
from referee.ports import Sandbox
from referee.sandbox.choose import choose_sandbox
from referee.sandbox.limits import Limits
from referee.submissions import is_sample


def sandbox_for(wish: SandboxWish, bots: Iterable[Submission], limits: Limits, league: str, *, trust: bool) -> Sandbox:
    """The sandbox that the wish and this machine come to; refuses strangers' bots where nothing would isolate them."""
    sandbox, note = choose_sandbox(
        wish.value, limits=limits, league=league, report=lambda line: err.print(line, markup=False)
    )
    if note:
        err.print(note, style="yellow", markup=False, soft_wrap=True)
    if sandbox.name == "process" and not trust:
        strangers = sorted(bot.name for bot in bots if not is_sample(bot))
        if strangers:
            raise UsageError(
                f"{', '.join(strangers[:5])}: no sample bot, and nothing isolates bots here; "
                "start a Docker engine (treelings doctor tells how), or add --trust-bots if you trust them"
            )
    return sandbox
