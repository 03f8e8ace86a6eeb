"""Bots in containers play on the core in machine code, by the same rules; where it cannot be had, everybody is told."""

import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from docker import APIClient

import treelings as kit
from referee.sandbox.engine import find_image
from referee.sandbox.image import PLAIN
from referee.sandbox.runtimes import wanted_image
from tests.support.command import treelings

pytestmark = pytest.mark.docker

PLAYED = r"""
import hashlib, random, sys
from treelings import State, derive_deck
import treelings.cards, treelings.moves, treelings.offers, treelings.rules

digest = hashlib.sha256()
for game in range(60):
    rng = random.Random(game)
    state = State.deal(derive_deck(bytes(32), f"game/{game}"), 2 + game % 4, ("start", "end")[game % 2])
    while not state.over:
        legal = state.legal_moves()
        end = state.copy()
        end.playout(rng)
        digest.update(repr((legal, state.rows, state.market, state.scoring(), end.rows, end.scores())).encode())
        state.play(legal[int(rng.random() * len(legal))])
    digest.update(repr((state.turn, state.scores())).encode())
names = ("cards", "moves", "offers", "rules")
print(*sorted({sys.modules[f"treelings.{name}"].__file__.rpartition(".")[2] for name in names}), digest.hexdigest())
"""


def test_the_same_games_are_played_in_a_container_on_machine_code_as_here_on_the_sources(
    engine: APIClient, runtime_image: str
) -> None:
    container = engine.create_container(runtime_image, entrypoint=["python", "-c", PLAYED], network_disabled=True)["Id"]
    try:
        engine.start(container)
        engine.wait(container, timeout=600)
        there = engine.logs(container).decode().split()
    finally:
        engine.remove_container(container, force=True)
    here = subprocess.run([sys.executable, "-c", PLAYED], capture_output=True, text=True, check=True).stdout.split()

    assert (there[0], here[0]) == ("so", "py")
    assert there[1] == here[1]


@pytest.fixture
def another_kit(engine: APIClient, tmp_path: Path) -> Iterator[Path]:
    """A folder to import a kit from whose rules run and do not compile; what is built of it is removed."""
    shutil.copytree(Path(kit.__file__).parent, tmp_path / "treelings")
    with (tmp_path / "treelings/rules.py").open("a") as rules:
        rules.write(f"_NUMBER: int = '{secrets.token_hex(8)}'\n")
    before = _images(engine)
    yield tmp_path
    for name in _images(engine) - before:
        if name.endswith(PLAIN):
            engine.remove_image(name)


@pytest.mark.usefixtures("runtime_image")
def test_where_the_core_cannot_be_compiled_bots_play_on_its_sources_and_everybody_is_told(
    engine: APIClient, another_kit: Path
) -> None:
    around = {"PYTHONPATH": str(another_kit)}
    built = treelings("image", "build", cwd=another_kit, env=around)
    again = treelings("image", "build", cwd=another_kit, env=around)
    examined = treelings("doctor", cwd=another_kit, env=around)

    assert built.code == again.code == 0
    name = built.out.removeprefix("runtime image: ").strip()
    assert name.endswith(PLAIN)
    assert name != wanted_image() + PLAIN
    image = find_image(engine, name)
    assert image is not None
    assert image["Config"]["Labels"]["treelings.says"].endswith("core plain")
    said = " ".join(built.err.split())
    assert "the kit's core is plain Python in these bots' image" in said
    assert "rules.py" in said
    assert again.out == built.out
    assert "`treelings image build --force` tries to compile it again" in " ".join(again.err.split())
    assert "built" not in again.err
    (line,) = [line for line in examined.out.splitlines() if name in line]
    assert line.startswith("! runtime image")


def _images(engine: APIClient) -> set[str]:
    return {tag for image in engine.images() for tag in image["RepoTags"] or []}
