"""The game that is played at one table, drawn in the terminal while a match goes on."""

from referee.cli.progress import GameProgress
from referee.game import Watch


def progress_for(title: str, *, quiet: bool) -> tuple[GameProgress, Watch | None]:
    """What is shown while a match of this title is played, and what is to be shown its positions."""
    return GameProgress(title, quiet=quiet), None
