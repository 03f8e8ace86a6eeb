"""Ways to reach a bot: whatever it speaks, matches see a Link and games see a Player (ports.py)."""

import time
from collections.abc import Callable

from referee.ports import Link, RunningBot


def connect(bot: RunningBot, *, patience_ms: int = 0, now: Callable[[], float] = time.monotonic) -> Link:
    """The link to a bot that speaks treelings.v1 (ports.Connect).

    patience_ms  how long it is waited for at least, whatever limits it is told
    now          the clock of its waits, in seconds
    """
    # Not above: loading protobuf takes as long as a whole command that plays nothing.
    from referee.players.grpc_player import BotLink

    return BotLink(bot, now, patience_ms=patience_ms)
