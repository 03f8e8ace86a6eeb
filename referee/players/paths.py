"""Keeps this machine's paths out of what is told of a bot: that gets into records, which are published."""

import re
from pathlib import Path
from typing import Final

from referee.ports import RunningBot

_WORD: Final = re.compile(r"[^\s'\"]+")


def without_paths(text: str, bot: RunningBot) -> str:
    """The text with the bot's socket, folder and socket's folder named as such, wherever their paths stand in it.

    Do this before the text is cut. It is a safeguard against what bots and libraries print by chance: a bot that
    means to tell what it knows can always disguise it.
    """
    socket = bot.address if isinstance(bot.address, Path) else None
    if socket is not None:
        text = text.replace(str(socket), "its socket")
    text = _without(text, bot.submission.folder, "its folder")
    return text if socket is None else _without(text, socket.parent, "its socket's folder")


def _without(text: str, folder: Path, name: str) -> str:
    text = text.replace(str(folder), name)
    # A container sees where its mounts come from, as paths on their file system: the ends of ours.
    last = re.compile(rf"/{re.escape(folder.name)}(?![\w.-])")

    def word(found: "re.Match[str]") -> str:
        ends = [end.end() for end in last.finditer(found[0])]
        return name + found[0][ends[-1] :] if ends else found[0]

    return _WORD.sub(word, text) if folder.name else text
