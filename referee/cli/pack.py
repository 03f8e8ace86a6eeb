"""`treelings pack`: a bot as one file that can be handed in."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from referee.cli.show import err, out, short_version


def pack(
    bot: Annotated[Path, typer.Argument(metavar="BOT", help="The bot's folder.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write it; NAME.tar.gz if not given.")
    ] = None,
) -> None:
    """Make an archive of a bot with all that it needs: a container has no network to fetch anything from.

    Packages of package.json (`npm ci` without scripts) or requirements.txt (pure Python) are fetched; a native bot is
    built by its Makefile. Do this to bots of your own only. The same files make the same archive.

    Example: `treelings pack mybot`, then `treelings check mybot.tar.gz`.
    """
    from referee.packing import pack as packed

    err.print(f"packing {bot} …", style="dim", markup=False, soft_wrap=True)  # no spinner: make and npm speak as well
    submission, path = packed(bot, output)
    size = path.stat().st_size
    out.print(f"{path}  {size:,} bytes, version {short_version(submission.version)}", markup=False, soft_wrap=True)
    out.print(f"Next: treelings check {shlex.quote(str(path))}", markup=False, soft_wrap=True, highlight=False)
