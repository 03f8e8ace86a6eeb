"""Ways to reach a bot: whatever it speaks, matches see a Link and games see a Player (ports.py)."""

import os

from referee.ports import Link, RunningBot

# gRPC reads this once, when it is imported, which only modules of this package do. Without it gRPC prints
# what a peer sends to stderr as it came: escape codes, fake log lines, megabytes.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
# Nobody here forks and goes on with gRPC in the child. With its fork handlers on, a bot's process that uvloop forks
# may die by SIGSEGV before it runs the bot.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")


def connect(bot: RunningBot, *, patience_ms: int = 0) -> Link:
    """The link to a bot that speaks treelings.v1 (ports.Connect).

    patience_ms  how long it is waited for at least, whatever limits it is told
    """
    # Not above: loading gRPC takes as long as a whole command that plays nothing.
    from referee.players.grpc_player import BotLink

    return BotLink(bot, patience_ms=patience_ms)
