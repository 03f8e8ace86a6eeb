"""`treelings image`: the images that submitted bots run in, built and removed."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli.later import Group
from referee.cli.show import err, out

if TYPE_CHECKING:
    from docker import APIClient

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Build the images that bots run in, or remove old ones.",
)


class Runtime(StrEnum):
    """What a bot may give as its runtime (runtimes.RUNTIMES)."""

    PYTHON = "python"
    NODE = "node"
    NATIVE = "native"


class Source(StrEnum):
    """Where the image's system comes from."""

    AUTO = "auto"
    SLIM = "slim"
    DEBIAN = "debian"


@app.callback()
def image() -> None:
    """Build the images that bots run in, or remove old ones."""


@app.command("build")
def build(
    source: Annotated[
        Source,
        typer.Option(help="slim: the official image; debian: Debian packages, as root; auto: whichever works."),
    ] = Source.AUTO,
    runtime: Annotated[Runtime, typer.Option(help="python; node: Node.js; native: nothing at all.")] = Runtime.PYTHON,
    *,
    force: Annotated[bool, typer.Option("--force", help="Build even if it is up to date.")] = False,
) -> None:
    """Build the image that bots of a runtime run in; a league with such a bot does so by itself.

    `python` has a slim Python with grpcio, protobuf and the kit; `node` has Node.js alone; `native` has nothing.
    """
    from referee.sandbox.engine import connect
    from referee.sandbox.runtimes import build_image

    tag = build_image(
        connect(), runtime.value, report=lambda line: err.print(line, markup=False), source=source.value, force=force
    )
    out.print(f"runtime image: {tag}")


@app.command("prune")
def prune() -> None:
    """Remove the images of earlier versions, which this one does not ask for; `treelings doctor` counts them.

    Those that bots run from just now stay, as do all that are not of this project. Another version that is installed
    here as well builds its own anew when it needs them. Exit code 1 if one stays that should go.
    """
    from referee.sandbox.engine import connect

    if not remove_unused(connect()):
        raise typer.Exit(1)


def remove_unused(engine: "APIClient") -> bool:
    """Remove the images of earlier versions and say which; whether none stays. Raises SandboxError, EngineGone."""
    from referee.sandbox.pruning import remove_images, unused_images
    from referee.sandbox.runtimes import one_build

    all_gone = True
    with one_build(lambda line: err.print(line, markup=False)):
        unused = unused_images(engine)
        for name, why in remove_images(engine, unused):
            if why is None:
                out.print(f"removed {name}", markup=False, soft_wrap=True)
            else:
                err.print(f"{name} stays: {why}", style="yellow", markup=False, soft_wrap=True)
                all_gone = False
    if not unused:
        out.print("Nothing to remove: there are no images of earlier versions.")
    return all_gone
