"""What commands import: `--help` next to nothing, and none of them what only others need."""

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from referee.cli.app import COMMANDS
from referee.cli.later import Later
from referee.publish import publish_site
from tests.support.records import AtHand, random_league

SHOWN = "from referee.cli.app import run; import sys; code = run(); print(code, *sys.modules, file=sys.stderr)"
LISTS = {"rich", "pydantic", "treelings", "referee.model", "referee.cli.show", "asyncio", "json", "email", "zipfile"}
PLAYS = {"grpc", "google", "docker", "requests"}
KEEPS = {"sqlalchemy", "jinja2", "numpy", "scipy"}


def imported(*arguments: str | Path, cwd: Path, code: int = 0) -> set[str]:
    """The modules that are there when a command has ended."""
    done = subprocess.run(
        [sys.executable, "-c", SHOWN, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=True
    )
    ended, *modules = done.stderr.splitlines()[-1].split(" ")
    assert ended == str(code), done.stderr
    return set(modules)


def test_the_list_of_commands_needs_none_of_them(tmp_path: Path) -> None:
    modules = imported("--help", cwd=tmp_path)
    assert not modules & (LISTS | PLAYS | KEEPS)
    assert {module for module in modules if module.startswith("referee.")} == {
        "referee.cli", "referee.cli.app", "referee.cli.later", "referee.errors",
    }  # fmt: skip


def test_the_versions_need_no_more_than_what_reads_them(tmp_path: Path) -> None:
    assert not imported("--version", cwd=tmp_path) & ((LISTS | PLAYS | KEEPS) - {"json", "email", "zipfile"})


def test_the_modules_of_all_commands_need_no_engine_and_no_database(tmp_path: Path) -> None:
    loaded = "from referee.cli.app import COMMANDS; import sys; [each.load() for each in COMMANDS]; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & (PLAYS | KEEPS | {"referee.league", "asyncio"})


def test_a_new_bot_and_a_check_of_its_files_start_nothing(tmp_path: Path) -> None:
    assert not imported("new", "mybot", cwd=tmp_path) & (PLAYS | KEEPS | {"asyncio"})
    (tmp_path / "mybot" / "bot.toml").unlink()
    assert not imported("check", "mybot", cwd=tmp_path, code=1) & (PLAYS | KEEPS)


def test_verifying_records_needs_the_rules_and_neither_engine_nor_database(tmp_path: Path) -> None:
    nights, records = random_league(Random(1), nights=1, deals=1)
    publish_site(tmp_path / "site", league="thursday", nights=nights, games=AtHand(records))
    games = tmp_path / "site" / "records" / "night-1.jsonl"
    assert not imported("verify", games, cwd=tmp_path) & (PLAYS | KEEPS)


def test_what_a_league_is_asked_needs_neither_engine_nor_pages_nor_ratings(tmp_path: Path) -> None:
    imported("league", "init", "thursday", cwd=tmp_path)
    for asked in ("status", "bots"):
        assert not imported("league", asked, "thursday", cwd=tmp_path) & (PLAYS | KEEPS - {"sqlalchemy"})


@pytest.mark.parametrize("command", COMMANDS, ids=[command.name for command in COMMANDS])
def test_a_command_is_listed_with_the_first_sentence_of_its_own_help(command: Later) -> None:
    itself = command.load()
    assert itself.name == command.name
    assert itself.get_short_help_str(1_000) == command.get_short_help_str(1_000)
