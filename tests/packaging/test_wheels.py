"""Both wheels, built and installed into a clean venv: they carry all that is needed and work without a checkout."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT, build_wheel


def _run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheels(kit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    build_wheel(ROOT, folder)
    shutil.copy(kit, folder)
    return folder


@pytest.fixture(scope="module")
def clean(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A venv that holds the two wheels and what they ask for, nothing else."""
    folder = tmp_path_factory.mktemp("clean")
    _run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    _run(
        folder / "venv/bin/pip", "install", "--quiet", "-c", ROOT / "constraints.txt", *sorted(wheels.glob("*.whl")),
        cwd=folder,
    )  # fmt: skip
    return folder


def test_the_kit_depends_on_grpcio_and_protobuf_alone(wheels: Path) -> None:
    (wheel,) = wheels.glob("treelings-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith("METADATA"))
        text = archive.read(metadata).decode()
    needs = [
        line.split()[1].split(">")[0].split("<")[0]
        for line in text.splitlines()
        if line.startswith("Requires-Dist") and "extra ==" not in line
    ]
    assert needs == ["grpcio", "protobuf"]


@pytest.mark.parametrize("pattern", ["treelings-*.whl", "treelings_referee-*.whl"])
def test_each_wheel_carries_licence_readme_and_types(wheels: Path, pattern: str) -> None:
    (wheel,) = wheels.glob(pattern)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith("METADATA"))
        assert "# " in archive.read(metadata).decode()
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert any(name.endswith("py.typed") for name in names)


def test_the_kit_alone_plays_a_game_and_loads_no_grpc(wheels: Path, tmp_path: Path) -> None:
    (wheel,) = wheels.glob("treelings-*.whl")
    _run(sys.executable, "-m", "venv", "venv", cwd=tmp_path)
    _run(tmp_path / "venv/bin/pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel, cwd=tmp_path)
    code = (
        "import random, sys, treelings\n"
        "state = treelings.State.deal(treelings.derive_deck(bytes(32), 'demo/0'), 2)\n"
        "state.playout(random.Random(1))\n"
        "assert state.over and 'grpc' not in sys.modules and 'google' not in sys.modules\n"
        "from treelings import server\n"
    )
    _run(tmp_path / "venv/bin/python", "-W", "error", "-c", code, cwd=tmp_path)


def test_the_referee_plays_the_sample_bots_without_a_checkout(clean: Path) -> None:
    treelings = clean / "venv/bin/treelings"
    assert "Tournaments for bots" in _run(treelings, "--help", cwd=clean)
    shown = _run(
        treelings, "match", "random", "greedy", "--deals", "1", "--sandbox", "process", "--records", "games.jsonl",
        cwd=clean,
    )  # fmt: skip
    assert "greedy" in shown
    assert "verified: 2 games" in _run(treelings, "verify", "games.jsonl", cwd=clean)


def test_a_new_bot_can_be_made_and_checked_without_a_checkout(clean: Path) -> None:
    treelings = clean / "venv/bin/treelings"
    made = _run(treelings, "new", "mybot", cwd=clean)
    assert [line[4:] for line in made.splitlines()[1:5]] == ["README.md", "bot.py", "bot.toml", "test_bot.py"]
    _run(clean / "venv/bin/python", "-m", "unittest", cwd=clean / "mybot")
    assert "ready to play" in _run(
        treelings, "check", "mybot", "--seats", "2", "--sandbox", "process", "--trust-bots", cwd=clean
    )


def test_the_referee_runs_a_whole_league_without_a_checkout(clean: Path) -> None:
    treelings = clean / "venv/bin/treelings"
    _run(treelings, "league", "init", "night", cwd=clean)
    settings = clean / "night/league.toml"
    settings.write_text(settings.read_text().replace("deals = 10", "deals = 1"))
    _run(treelings, "league", "add", "night", "random", "greedy", "neighbour", cwd=clean)
    assert "complete" in _run(treelings, "league", "run", "night", "--sandbox", "process", cwd=clean)
    _run(treelings, "league", "reveal", "night", cwd=clean)
    _run(treelings, "league", "publish", "night", cwd=clean)
    assert "verified: 6 games, 3 decks, standings identical" in _run(treelings, "verify", "night/site", cwd=clean)
