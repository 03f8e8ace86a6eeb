"""The packages work on every Python that they name, or at least on all of these that this machine has."""

import shutil
import sys
from concurrent.futures import Future
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement

from tests.packaging.conftest import PINNED, PYTHONS, ROOT, Built, Installed, metadata, run

_LOOK = """
import sysconfig, shutil, pathlib
import treelings.rules
headers = pathlib.Path(sysconfig.get_path("include"), "Python.h").exists()
print(treelings.rules.__file__, bool(headers and shutil.which("cc")))
"""


@pytest.mark.parametrize("version", PYTHONS)
def test_the_packages_work_on_this_python(version: str, installs: dict[str, Future[Installed]], tmp_path: Path) -> None:
    if version not in installs:
        pytest.skip(f"no Python {version} on this machine")
    installed = installs[version].result()
    rules, can_compile = run(installed.python, "-W", "error", "-c", _LOOK, cwd=tmp_path).split()
    assert rules.startswith(str(installed.venv))
    assert rules.endswith(".so" if can_compile == "True" else ".py")
    assert run(installed.treelings, "--version", cwd=tmp_path) == "treelings-referee 0.1.0, treelings 0.1.0\n"
    mine = tmp_path / "mine"
    shutil.copytree(ROOT / "sample_bots/greedy", mine)
    about = mine / "bot.toml"
    about.write_text(about.read_text().replace('"greedy"', '"mine"'))
    run(
        installed.python, "-W", "error", "-m", "referee.cli", "match", "random", "mine", "--deals", "1",
        "--sandbox", "process", "--trust-bots", "--records", "games.jsonl", cwd=tmp_path,
    )  # fmt: skip
    assert "verified: 2 games" in run(installed.treelings, "verify", "games.jsonl", cwd=tmp_path)


@pytest.mark.parametrize("version", PYTHONS)
def test_wheels_of_all_that_they_need_exist_for_a_python_that_this_machine_lacks(
    version: str, built: dict[str, Future[Built]], installs: dict[str, Future[Installed]], tmp_path: Path
) -> None:
    if version in installs:
        pytest.skip("installed above, from wheels alone")
    wanted = [need for name in built for need in _needs(built[name].result().wheel)]
    assert {"grpcio", "protobuf", "numpy", "uvloop", "pyarrow", "pettingzoo"} <= {need.name for need in wanted}
    said = run(
        sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--target", "nowhere",
        "--only-binary", ":all:", "--python-version", version, "-c", PINNED, *map(str, wanted), cwd=tmp_path,
    )  # fmt: skip
    assert "Would install" in said


def _needs(wheel: Path) -> list[Requirement]:
    """What a wheel asks for, with all extras that are not for the developers of this project."""
    needs = []
    for need in map(Requirement, metadata(wheel).get_all("Requires-Dist", [])):
        if need.name != "treelings" and (need.marker is None or _for_users(need.marker)):
            need.marker = None
            needs.append(need)
    return needs


def _for_users(marker: Marker) -> bool:
    return any(marker.evaluate({"extra": extra}) for extra in ("", "env", "fast", "parquet"))
