"""Options that several commands share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class SandboxWish(StrEnum):
    """What bots are to run in."""

    AUTO = "auto"
    DOCKER = "docker"
    PROCESS = "process"


class RefillChoice(StrEnum):
    """When the market is filled up (rules.md, Two sources, two refills)."""

    START = "start"
    END = "end"


Sandbox = Annotated[
    SandboxWish,
    typer.Option(
        "--sandbox",
        help="docker: each bot in a container; process: plain processes, no isolation; auto: docker where it works.",
    ),
]
TrustBots = Annotated[
    bool, typer.Option("--trust-bots", help="Run bots that are no samples even where nothing isolates them.")
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", metavar="N", min=1, max=256, help="Tables that play side by side; by cores if not given."),
]
Secret = Annotated[
    str | None,
    typer.Option(metavar="HEX", help="Secret that the decks come from, 64 hex digits; random if not given."),
]
LeagueFolder = Annotated[Path, typer.Argument(metavar="DIR", help="The league's folder.")]
Night = Annotated[
    int | None, typer.Option("--night", metavar="N", min=1, help="A single night; without it, the season.")
]


def as_typed(sandbox: SandboxWish, *, trust: bool) -> str:
    """The options of these names as they are typed, each after a space; empty where neither was given."""
    wish = "" if sandbox is SandboxWish.AUTO else f" --sandbox {sandbox.value}"
    return wish + (" --trust-bots" if trust else "")
