"""What `--help` shows: within 80 columns, and naming nothing that is not there."""

import re

import pytest
from typer.core import TyperGroup
from typer.testing import CliRunner

from referee.cli.app import COMMANDS, app

GROUPS = {
    command.name: tuple(group.commands) for command in COMMANDS if isinstance(group := command.load(), TyperGroup)
}
ALL = [
    (),
    *((command.name,) for command in COMMANDS),
    *((group, command) for group, commands in GROUPS.items() for command in commands),
]


def help_of(*command: str) -> str:
    shown = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "80"})
    assert shown.exit_code == 0
    return shown.output


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_help_fits_into_80_columns(command: tuple[str, ...]) -> None:
    assert [line for line in help_of(*command).splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("command", ALL, ids=" ".join)
def test_every_command_that_help_names_is_there(command: tuple[str, ...]) -> None:
    named = re.findall(r"(?<!Usage: )\btreelings ([a-z]+)(?: ([a-z]+))?", " ".join(help_of(*command).split()))
    for name, below in named:
        assert (name,) in ALL
        assert name not in GROUPS or (name, below) in ALL


def test_the_first_steps_are_told_one_a_line() -> None:
    steps = re.findall(r"^    treelings (\S+(?: (?:init|add|run|publish))?) .*  \w", help_of(), re.MULTILINE)
    assert steps == [
        "new", "check", "match", "league init", "league add", "league run", "league publish", "verify", "doctor",
    ]  # fmt: skip
