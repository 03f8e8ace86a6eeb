"""Both wheels installed into a clean venv: with them alone a bot is written and a whole league is played."""

import re
from pathlib import Path

import pytest

from referee.sandbox.runtimes import wanted_image
from referee.scaffold import LANGUAGES, make_bot
from tests.packaging.conftest import Installed, run


def test_the_kit_plays_a_game_and_loads_no_grpc(clean: Installed, tmp_path: Path) -> None:
    code = (
        "import random, sys, treelings\n"
        "state = treelings.State.deal(treelings.derive_deck(bytes(32), 'demo/0'), 2)\n"
        "state.playout(random.Random(1))\n"
        "assert state.over and 'grpc' not in sys.modules and 'google' not in sys.modules\n"
        "from treelings import server\n"
    )
    run(clean.python, "-W", "error", "-c", code, cwd=tmp_path)


def test_a_new_bot_is_the_same_as_in_a_checkout(clean: Installed, tmp_path: Path) -> None:
    for language in LANGUAGES:
        run(clean.treelings, "new", language + "-bot", "--author", "Ann", "--language", language, cwd=tmp_path)
        make_bot(language + "-bot", author="Ann", into=tmp_path / "checkout", language=language)
        made, expected = (_contents(folder / f"{language}-bot") for folder in (tmp_path, tmp_path / "checkout"))
        assert made == expected
        assert len(made) >= 4


def test_a_new_bot_can_be_tested_and_checked(clean: Installed, tmp_path: Path) -> None:
    run(clean.treelings, "new", "mybot", cwd=tmp_path)
    run(clean.python, "-m", "unittest", cwd=tmp_path / "mybot")
    said = run(
        clean.treelings, "check", "mybot", "--seats", "2", "--sandbox", "process", "--trust-bots", cwd=tmp_path
    )  # fmt: skip
    assert "ready to play" in said


def test_a_league_is_played_among_processes(clean: Installed, tmp_path: Path) -> None:
    _play_a_league(clean, "process", tmp_path)


def test_what_fetches_the_packages_of_the_image_and_of_a_bot_is_among_what_is_installed(
    clean: Installed, tmp_path: Path
) -> None:
    assert run(clean.python, "-m", "pip", "--version", cwd=tmp_path).startswith("pip ")


@pytest.mark.docker
def test_a_league_is_played_in_the_same_containers_as_from_a_checkout(clean: Installed, tmp_path: Path) -> None:
    # What was compiled for this Python does not go into the image, which has one of its own.
    assert run(clean.treelings, "image", "build", cwd=tmp_path) == f"runtime image: {wanted_image()}\n"
    _play_a_league(clean, "docker", tmp_path)


def _play_a_league(clean: Installed, sandbox: str, folder: Path) -> None:
    def treelings(*arguments: str) -> str:
        return run(clean.treelings, *arguments, cwd=folder)

    treelings("league", "init", "night")
    settings = folder / "night/league.toml"
    settings.write_text(re.sub("^deals = .*", "deals = 1", settings.read_text(), flags=re.MULTILINE))
    treelings("league", "add", "night", "random", "greedy")
    assert "complete" in treelings("league", "run", "night", "--sandbox", sandbox)
    treelings("league", "reveal", "night")
    assert "verified: 2 games, 1 decks, standings identical" in treelings("verify", "night/site")


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
