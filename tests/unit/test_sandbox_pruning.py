"""Images of earlier versions, which this one does not ask for: which they are, and how they go."""

import json
import tempfile
from pathlib import Path

import pytest

from referee.cli.image import remove_unused
from referee.sandbox.base import kept_names
from referee.sandbox.image import PLAIN, made_from
from referee.sandbox.pruning import remove_images, unused_images
from referee.sandbox.runtimes import RUNTIMES, wanted_image
from tests.support.command import NO_ENGINE, treelings
from tests.support.engine import FakeEngine, as_client

OLD = (
    "treelings-base-debian:bookworm-00000000",
    "treelings-base-slim:3.12-00000000",
    "treelings-compiler-debian:potato",
    "treelings-core-python:000000000000",
    "treelings-runtime-native:000000000000",
    "treelings-runtime-node:000000000000",
    "treelings-runtime-python:0.0.9-000000000000",
)
OTHERS = ("debian:bookworm", "python:3.13", "treelings-of-somebody-else:1", "registry:5000/treelings-core-python:1")
BASE_SAYS = json.dumps({"python": "3.13", "packages": "/usr/lib/python3/dist-packages"})


def engine_with(*names: str, held: tuple[str, ...] = ()) -> FakeEngine:
    return FakeEngine(dict.fromkeys(names, BASE_SAYS), held)


def present() -> set[str]:
    """All images of this version, where bases of every kind are there."""
    made = made_from(as_client(engine_with(*kept_names())))
    assert len(made) > len(kept_names())  # each base has a core
    return made | {wanted_image(runtime) for runtime in RUNTIMES}


def test_images_of_earlier_versions_are_unused_and_neither_the_present_ones_nor_those_of_others() -> None:
    engine = as_client(engine_with(*OLD, *present(), *OTHERS))
    assert unused_images(engine) == OLD


def test_an_image_that_lost_its_name_is_unused() -> None:
    assert unused_images(as_client(engine_with(*present(), "abc"))) == ("abc",)


def test_an_image_with_a_plain_core_serves_till_there_is_one_with_a_compiled_core() -> None:
    plain = wanted_image() + PLAIN
    others = present() - {wanted_image()}
    assert unused_images(as_client(engine_with(*others, plain))) == ()
    assert unused_images(as_client(engine_with(*others, plain, wanted_image()))) == (plain,)


def test_what_is_removed_is_told_and_what_bots_run_from_stays() -> None:
    first, held, *_ = OLD
    engine = engine_with(first, held, held=(held,))
    told = dict(remove_images(as_client(engine), (first, "treelings-core-python:gone-already", held)))
    assert told[first] is told["treelings-core-python:gone-already"] is None
    assert "a running container is using it" in str(told[held])
    assert set(engine.says) == {held}


def test_whoever_prunes_is_told_what_went_and_what_stays_and_why(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first, held, *_ = OLD
    engine = engine_with(first, held, *present(), held=(held,))
    assert not remove_unused(as_client(engine))
    said = capsys.readouterr()
    assert said.out == f"removed {first}\n"
    assert said.err.startswith(f"{held} stays: removing it: the Docker engine refused: a running container is using it")
    engine.held = ()
    assert remove_unused(as_client(engine))
    assert capsys.readouterr().out == f"removed {held}\n"
    assert remove_unused(as_client(engine))
    assert capsys.readouterr().out == "Nothing to remove: there are no images of earlier versions.\n"
    assert set(engine.says) == present()


def test_without_an_engine_nothing_can_be_removed(tmp_path: Path) -> None:
    done = treelings("image", "prune", cwd=tmp_path, env=NO_ENGINE)
    assert done.code == 1
    assert "the Docker engine does not answer" in done.err
