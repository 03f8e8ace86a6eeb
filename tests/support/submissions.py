"""Folders of bots for tests."""

from collections.abc import Mapping
from pathlib import Path

CODE = "print('a bot')\n"


def bot_toml(name: str, author: str = "Somebody") -> str:
    """A bot.toml that is accepted."""
    return f'name = "{name}"\nauthor = "{author}"\ncommand = ["python", "bot.py"]\nruntime = "python"\n'


def bot_folder(
    parent: Path, name: str, code: str = CODE, toml: str | None = None, files: Mapping[str, str] | None = None
) -> Path:
    """Write a bot to `parent/name`: bot.toml, bot.py and whatever else is given."""
    folder = parent / name
    contents = {"bot.toml": bot_toml(name) if toml is None else toml, "bot.py": code, **(files or {})}
    for path, text in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder
