"""The kit's wheel is compiled where that can be done, and either build plays by the same rules and says the same."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import treelings.rules
from tests.packaging.conftest import ROOT, build_wheel

RULES_TESTS = (
    "tests/unit/test_cards.py",
    "tests/unit/test_moves.py",
    "tests/unit/test_rules.py",
    "tests/unit/test_view.py",
    "tests/unit/test_codec.py",
    "tests/property/test_rules.py",
    "tests/property/test_resume.py",
    "tests/golden/test_games.py",
)
COMPILED = {"cards", "moves", "offers", "rules"}

_DOCSTRINGS = """
import importlib, inspect, json
said = {}
for name in ("cards", "moves", "offers", "rules"):
    module = importlib.import_module(f"treelings.{name}")
    for owner in [module, *(value for value in vars(module).values() if inspect.isclass(value))]:
        for key, value in vars(owner).items():
            if callable(value) or isinstance(value, (property, staticmethod)) or inspect.isdatadescriptor(value):
                if not key.startswith("__") and getattr(value, "__module__", module.__name__) == module.__name__:
                    said[f"{owner.__name__}.{key}"] = inspect.getdoc(getattr(owner, key))
print(json.dumps(said))
"""


def _run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, timeout=900, check=False
    )


@pytest.fixture(scope="module")
def compiled(kit: Path) -> Path:
    """The compiled wheel, unpacked: a folder to import from."""
    return _unpacked(kit)


@pytest.fixture(scope="module")
def pure(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel that was not to be compiled, unpacked."""
    wheel = build_wheel(ROOT / "sdk", tmp_path_factory.mktemp("wheel"), TREELINGS_COMPILE="0")
    assert wheel.name.endswith("-py3-none-any.whl")
    return _unpacked(wheel)


def _unpacked(wheel: Path) -> Path:
    folder = wheel.parent / f"{wheel.stem} unpacked"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_a_wheel_is_compiled_and_has_the_sources_too_for_any_other_python(compiled: Path, pure: Path) -> None:
    sources = {path.relative_to(pure) for path in pure.rglob("*.py*")}
    assert sources == {path.relative_to(compiled) for path in compiled.rglob("*.py*")}
    assert {path.name.split(".")[0] for path in (compiled / "treelings").glob("*.so")} == COMPILED
    assert not list(pure.rglob("*.so"))


@pytest.mark.parametrize("build", ["compiled", "pure"])
def test_the_tests_of_the_rules_pass_on_either_build(build: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(build)
    where = _run(sys.executable, "-c", "import treelings.rules as r; print(r.__file__)", PYTHONPATH=str(folder))
    assert where.stdout.startswith(f"{folder}/treelings/rules.")
    assert where.stdout.strip().endswith(".so" if build == "compiled" else ".py")
    # What failed last is for the tests outside to say.
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *RULES_TESTS)
    done = _run(*command, PYTHONPATH=str(folder))
    assert done.returncode == 0, done.stdout[-4000:]


def test_either_build_says_the_same_of_itself(compiled: Path, pure: Path) -> None:
    one, other = (
        json.loads(_run(sys.executable, "-c", _DOCSTRINGS, PYTHONPATH=str(folder)).stdout)
        for folder in (compiled, pure)
    )
    assert one == other
    assert "in canonical order" in one["State.legal_moves"]
    assert "Cards in the market" in one["State.market"]


def test_without_a_compiler_a_wheel_is_pure(tmp_path: Path) -> None:
    assert build_wheel(ROOT / "sdk", tmp_path, CC="no-such-compiler").name.endswith("-py3-none-any.whl")


def test_a_wheel_that_must_be_compiled_and_cannot_be_fails_and_says_why(tmp_path: Path) -> None:
    done = _run(
        sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", tmp_path, ROOT / "sdk",
        TREELINGS_COMPILE="1", CC="no-such-compiler",
    )  # fmt: skip
    assert done.returncode != 0
    assert "(TREELINGS_COMPILE=1), but there is no C compiler (no-such-compiler)" in done.stdout + done.stderr
    assert not list(tmp_path.iterdir())


def test_an_editable_install_runs_its_sources() -> None:
    assert treelings.rules.__file__ == str(ROOT / "sdk/src/treelings/rules.py")
