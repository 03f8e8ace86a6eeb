"""What the runtime image is made of, what is said of one that could not have all of it, and builds at once."""

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

import pytest

from referee.errors import SandboxError
from referee.sandbox.core import TOOLS
from referee.sandbox.doctor import check_image
from referee.sandbox.image import PLAIN
from referee.sandbox.runtimes import ImageStatus, build_image, one_build, wanted_image
from tests.support.engine import FakeEngine, as_client

PINNED = Path(__file__).parents[2] / "constraints.txt"


def test_the_core_is_compiled_for_bots_by_what_compiles_it_in_the_tests() -> None:
    assert set(TOOLS) - set(PINNED.read_text().split()) == set()


def test_an_image_whose_core_is_plain_is_worth_a_warning_and_how_to_mend_it() -> None:
    check = check_image(ImageStatus("python", f"a:1{PLAIN}", "python 3.11 core plain", ()))

    assert check.level == "warning"
    assert check.found == f"a:1{PLAIN} (python 3.11 core plain)"
    assert check.advice.endswith("treelings image build --force")
    assert check_image(ImageStatus("python", "a:1", "python 3.11 core compiled", (f"a:1{PLAIN}",))).level == "ok"


def test_a_build_waits_for_the_end_of_another_and_builds_nothing_that_this_has_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    engine = FakeEngine({})
    said: Queue[str] = Queue()
    with ThreadPoolExecutor(1) as thread:
        with one_build(said.put):
            waiting = thread.submit(build_image, as_client(engine), "native", report=said.put)
            assert said.get(timeout=60) == "another process builds images here: waiting for its end"
            assert not waiting.done()
            engine.says[wanted_image("native")] = "nothing"
        assert waiting.result(timeout=60) == wanted_image("native")
    assert engine.built == []
    assert said.empty()


def test_what_is_there_waits_for_no_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(line: str) -> None:
        raise AssertionError(line)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with one_build(refuse):
        build_image(as_client(FakeEngine({wanted_image("native"): "nothing"})), "native", report=refuse)
    said: list[str] = []
    build_image(as_client(engine := FakeEngine({})), "native", report=said.append)
    assert engine.built == [wanted_image("native")]
    assert said == [f"built {wanted_image('native')}"]


def test_a_build_that_cannot_hold_others_off_says_what_is_in_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (in_the_way := tmp_path / f"treelings-build-{os.geteuid()}.lock").mkdir()
    engine = FakeEngine({})

    with pytest.raises(SandboxError, match=f"^{in_the_way}: it cannot be locked .*; remove it, or set TMPDIR"):
        build_image(as_client(engine), "native", report=pytest.fail)
    assert engine.built == []
