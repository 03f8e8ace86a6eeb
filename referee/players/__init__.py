"""Ways to reach a bot: whatever it speaks, matches see a Link and games see a Player (ports.py)."""

from referee.ports import Link, RunningBot


def connect(bot: RunningBot, *, patience_ms: int = 0) -> Link:
    """The link to a bot that speaks treelings.v1 (ports.Connect).

    patience_ms  how long it is waited for at least, whatever limits it is told
    """
    # Not above: loading protobuf takes as long as a whole command that plays nothing.
    from referee.players.grpc_player import BotLink

    return BotLink(bot, patience_ms=patience_ms)
