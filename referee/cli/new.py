"""`treelings new`: the folder of a new bot, which plays at once."""

import getpass
import shlex
import subprocess
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from referee.cli.show import out

_GIT_TIMEOUT_S = 5


class Language(StrEnum):
    """What the bot is written in (scaffold.LANGUAGES)."""

    PYTHON = "python"
    JAVASCRIPT = "javascript"
    CPP = "cpp"
    GO = "go"


_PACKED = (("treelings pack {bot}", "all in one file"), ("treelings league add LEAGUE {name}.tar.gz", "hands that in"))
_BUILT = (("make -C {bot}", "builds it; see its Makefile"),)
_AROUND = {
    Language.PYTHON: ((), (("treelings league add LEAGUE {bot}", "or hand the folder in"),)),
    Language.JAVASCRIPT: ((("npm --prefix {bot} ci", "fetches its packages"),), _PACKED),
    Language.CPP: (_BUILT, _PACKED),
    Language.GO: (_BUILT, _PACKED),
}
"""Commands before and after those that are the same for all languages, and what they do."""


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The bot's name, and its folder's: a-z 0-9 _ -.")],
    into: Annotated[
        Path, typer.Option("--into", metavar="DIR", help="Where to make the folder; here if not given.")
    ] = Path(),
    author: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Your name; what git or this machine calls you if not given.")
    ] = None,
    language: Annotated[Language, typer.Option(help="What the bot is written in.")] = Language.PYTHON,
) -> None:
    """Make the folder of a new bot: it plays, and has one method to write and a README.

    Example: `treelings new mybot`, then `treelings check mybot`.
    """
    from referee.scaffold import fit_author, make_bot

    files = make_bot(
        name,
        author=fit_author(_git_name(), _login()) if author is None else author,
        into=into,
        language=language.value,
    )
    folder = into / name
    out.print(Text(f"{folder}/", style="bold"), soft_wrap=True)
    for number, file in enumerate(files, 1):
        branch = "└──" if number == len(files) else "├──"
        out.print(Text.assemble((f"{branch} ", "dim"), str(file.relative_to(folder))), soft_wrap=True)
    first, handing_in = _AROUND[language]
    out.print(f"{'Its' if first else 'It plays already; its'} README says where to begin. Next:")
    bot = shlex.quote(str(folder))
    steps = (
        *((command.format(bot=bot), why) for command, why in first),
        (f"treelings check {bot}", "what a league tries first"),
        (f"treelings match {bot} greedy", "a first match"),
        *((command.format(bot=bot, name=name), why) for command, why in handing_in),
    )
    width = max(len(command) for command, _ in steps)
    for command, why in steps:
        out.print(Text.assemble(f"  {command:<{width}}", (f"  # {why}", "dim")), soft_wrap=True)


def _git_name() -> str:
    """What git calls this user; empty where it does not say."""
    try:
        done = subprocess.run(
            ["git", "config", "user.name"], capture_output=True, timeout=_GIT_TIMEOUT_S, check=False
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace")


def _login() -> str:
    """What this machine calls this user; empty where it does not say."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # KeyError till Python 3.12: a user without a name, as in some containers
        return ""
