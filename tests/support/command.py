"""The `treelings` command as a user runs it: a process of its own, its exit code and its words."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from referee.cli.app import app

NO_ENGINE = {"DOCKER_HOST": "unix:///nonexistent/docker.sock"}
"""Environment of a machine on which no Docker engine answers."""


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


def help_of(*command: str) -> str:
    """What a command says of itself; in this process, since nothing else is of interest there."""
    done = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    return done.output


def treelings(*arguments: str | Path, cwd: Path, env: dict[str, str] | None = None, typed: str = "") -> Done:
    """Run the command to its end, with what is typed as its input; never a traceback, whatever it is given."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "referee.cli", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100", **(env or {})},
        input=typed,
        capture_output=True,
        text=True,
        timeout=600,  # never reached by a machine that merely has much to do
        check=False,
    )
    # At the start of a line: further in, it may be quoted from a bot's log.
    assert "\nTraceback" not in f"\n{done.stderr}", done.stderr
    return Done(done.returncode, done.stdout, done.stderr)
