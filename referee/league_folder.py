"""The folder of a league: what lies where in it, and how it is made, whole or not at all."""

from pathlib import Path
from shlex import quote
from typing import Final

from referee.config import CONFIG_FILE, template
from referee.errors import UsageError
from referee.store import STORE_FILE, Store

BOTS_FOLDER: Final = "bots"
LOGS_FOLDER: Final = "logs"


def make_league_folder(folder: Path, name: str) -> None:
    """Make a folder that is empty or not there yet a league's. Raises UsageError, ConfigError, StoreError, OSError."""
    text = template(name)
    if (folder / CONFIG_FILE).exists():
        raise UsageError(
            f"{folder}: is a league already; add bots with: treelings league add {quote(str(folder))} BOT…"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: expected a new or empty folder, got one that holds something else")
    try:
        (folder / BOTS_FOLDER).mkdir(parents=True)
        Store.create(folder.resolve(), name).close()
        # Last, since this file is what makes the folder a league.
        (folder / CONFIG_FILE).write_text(text, encoding="utf-8")
    except BaseException:
        _empty(folder)
        raise


def _empty(folder: Path) -> None:
    """Take back a league that could not be made whole, so that making it can be tried again."""
    for name in (CONFIG_FILE, STORE_FILE, f"{STORE_FILE}-journal"):
        (folder / name).unlink(missing_ok=True)
    if (folder / BOTS_FOLDER).is_dir():
        (folder / BOTS_FOLDER).rmdir()
