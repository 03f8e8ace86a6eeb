"""`treelings image`: the runtime images that submitted bots run in."""

from enum import StrEnum
from typing import Annotated

import typer

from referee.cli.show import err, out

app = typer.Typer(no_args_is_help=True, help="Build the image that bots run in.")


class Source(StrEnum):
    """Where the image's system comes from."""

    AUTO = "auto"
    SLIM = "slim"
    DEBIAN = "debian"


@app.callback()
def image() -> None:
    """Build the image that bots run in."""


@app.command("build")
def build(
    source: Annotated[
        Source,
        typer.Option(help="slim: the official Python image; debian: Debian packages, as root; auto: whichever works."),
    ] = Source.AUTO,
    *,
    force: Annotated[bool, typer.Option("--force", help="Build even if it is up to date.")] = False,
) -> None:
    """Build the runtime image `python`: a slim Python with grpcio, protobuf and the kit."""
    from referee.sandbox.engine import connect
    from referee.sandbox.image import build_image

    tag = build_image(connect(), report=lambda line: err.print(line, markup=False), source=source.value, force=force)
    out.print(f"runtime image: {tag}")
