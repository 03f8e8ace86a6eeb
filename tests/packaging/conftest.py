"""The two packages as anybody builds and installs them: each built once, and installed into a clean venv of every
Python that is found here, all at the same time.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import PackageMetadata, PathDistribution
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
PINNED: Final = ROOT / "constraints.txt"
PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
THIS: Final = sysconfig.get_python_version()
PUBLISHED_AT: Final = "https://files.example/treelings"
"""Where the referee's files are said to be read; nothing is said of the kit's."""

_TIMEOUT_S: Final = 900  # never reached by a machine that merely has much to do


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """What a command prints; it must succeed. The variables are added to the environment."""
    # Compiling every module at each start took half of all the time.
    around = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        command, cwd=cwd, env=around | environment, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-4_000:]
    return done.stdout


def build_wheel(project: Path, into: Path, **environment: str) -> Path:
    """Build a project's wheel into an empty folder; the variables are added to the environment."""
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", into, project, cwd=ROOT, **environment)
    (wheel,) = into.glob("*.whl")
    return wheel


@dataclass(frozen=True, slots=True)
class Built:
    """What is published of a package: its sources, and the wheel that was built from these."""

    sdist: Path
    wheel: Path


def _build(project: Path, into: Path, **environment: str) -> Built:
    run(sys.executable, "-m", "build", "--quiet", "--outdir", into, project, cwd=into, **environment)
    (sdist,) = into.glob("*.tar.gz")
    (wheel,) = into.glob("*.whl")
    return Built(sdist, wheel)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Built]]]:
    """Both packages by their names on the way, the kit compiled."""
    with ThreadPoolExecutor(2) as both:
        yield {
            "treelings": both.submit(
                _build, ROOT / "sdk", tmp_path_factory.mktemp("kit"), TREELINGS_COMPILE="1", TREELINGS_URL=""
            ),
            "treelings-referee": both.submit(
                _build, ROOT, tmp_path_factory.mktemp("referee"), TREELINGS_URL=PUBLISHED_AT
            ),
        }


@pytest.fixture(scope="session")
def kit(built: dict[str, Future[Built]]) -> Path:
    """The kit's wheel, compiled."""
    return built["treelings"].result().wheel


def metadata(wheel: Path) -> PackageMetadata:
    """What a wheel says of itself."""
    (folder,) = (path for path in zipfile.Path(wheel).iterdir() if path.name.endswith(".dist-info"))
    return PathDistribution(folder).metadata


def pythons() -> dict[str, Path]:
    """By version, Pythons that the packages are for: the one that runs this, those on the PATH and pyenv's."""
    found = {THIS: Path(sys.executable)}
    kept = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    for version in PYTHONS:
        on_path = shutil.which(f"python{version}")
        for python in [*([Path(on_path)] if on_path else []), *sorted(kept.glob(f"{version}.*/bin/python"))]:
            # What pyenv puts on the PATH may stand for nothing.
            works = subprocess.run([python, "-c", "import venv"], capture_output=True, timeout=_TIMEOUT_S, check=False)
            if works.returncode == 0:
                found.setdefault(version, python)
    return found


@dataclass(frozen=True, slots=True)
class Installed:
    """A venv with the two packages and what they ask for; there is no pip of its own in it, as pipx has it."""

    venv: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.venv / "bin/python"

    @property
    def treelings(self) -> Path:
        """The command."""
        return self.venv / "bin/treelings"


def clean_venv(python: Path, venv: Path, *packages: Path) -> Installed:
    """Install files of packages, and from wheels alone what they ask for."""
    run(python, "-m", "venv", "--without-pip", venv, cwd=venv.parent)
    installed = Installed(venv)
    run(
        sys.executable, "-m", "pip", "--python", installed.python, "install", "--quiet", "--no-compile",
        "--only-binary", ":all:", "-c", PINNED, *packages, cwd=venv.parent,
    )  # fmt: skip
    return installed


@pytest.fixture(scope="session")
def installs(
    built: dict[str, Future[Built]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Future[Installed]]]:
    """By version of Python; another one than the wheel was compiled for builds the kit from its sources."""

    def install(version: str, python: Path) -> Installed:
        kit, referee = built["treelings"].result(), built["treelings-referee"].result()
        return clean_venv(python, folder / version, kit.wheel if version == THIS else kit.sdist, referee.wheel)

    folder = tmp_path_factory.mktemp("venvs")
    with ThreadPoolExecutor(2) as some:
        yield {version: some.submit(install, version, python) for version, python in pythons().items()}


@pytest.fixture(scope="session", autouse=True)
def _meanwhile(request: pytest.FixtureRequest) -> None:
    """Installing begins at once, where there is a test that will wait for it, and goes on while others run."""
    if any("installs" in item.fixturenames for item in request.session.items if isinstance(item, pytest.Function)):
        request.getfixturevalue("installs")


@pytest.fixture(scope="session")
def clean(installs: dict[str, Future[Installed]]) -> Installed:
    """The two packages, installed for the Python that runs the tests."""
    return installs[THIS].result()
