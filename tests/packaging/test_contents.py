"""What is published of both packages: what they say of themselves, and that all files are in them and no others."""

import re
import subprocess
import tarfile
import zipfile
from concurrent.futures import Future
from pathlib import Path, PurePosixPath

import pytest

from tests.packaging.conftest import PYTHONS, ROOT, Built, metadata

PACKAGES = {"treelings": ROOT / "sdk", "treelings-referee": ROOT}
"""By name, the folder that each is built from."""

_MOVED = {
    "treelings": {"src": ""},
    "treelings-referee": {"sample_bots": "referee/sample_bots", "proto": "referee/proto"},
}
"""Where a wheel has what lies in other folders of the repository."""

_PUBLISHED = {
    "treelings": ("src", "LICENSE", "README.md", "hatch_build.py", "pyproject.toml"),
    "treelings-referee": (
        "referee", "sample_bots", "proto", "LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml"
    ),
}  # fmt: skip
"""What of its folder the sources of a package hold."""

both = pytest.mark.parametrize("name", PACKAGES)


@both
def test_a_wheel_says_what_it_is(name: str, built: dict[str, Future[Built]]) -> None:
    about = metadata(built[name].result().wheel)
    assert about["Name"] == name
    assert about["License-Expression"] == "MIT"
    assert about["Requires-Python"] == f">={PYTHONS[0]}"
    classifiers = set(about.get_all("Classifier", []))
    assert {f"Programming Language :: Python :: {version}" for version in PYTHONS} <= classifiers
    assert {"Typing :: Typed", "Topic :: Games/Entertainment :: Board Games"} <= classifiers
    assert about["Description-Content-Type"] == "text/markdown"


def test_the_kit_depends_on_hpack_and_protobuf_alone(built: dict[str, Future[Built]]) -> None:
    needs = metadata(built["treelings"].result().wheel).get_all("Requires-Dist", [])
    assert [re.split("[<>=]", need)[0] for need in needs if "extra ==" not in need] == ["hpack", "protobuf"]


@both
def test_a_wheel_has_all_files_of_its_package_and_no_others(name: str, built: dict[str, Future[Built]]) -> None:
    wheel = built[name].result().wheel
    with zipfile.ZipFile(wheel) as archive:
        names = [path for path in archive.namelist() if not path.endswith(".so")]
        licence = next(archive.read(path) for path in names if path.endswith(".dist-info/licenses/LICENSE"))
    assert licence == (PACKAGES[name] / "LICENSE").read_bytes()
    packages = ("src",) if name == "treelings" else ("referee", "sample_bots", "proto")
    expected = {_in_the_wheel(name, path) for path in _kept(PACKAGES[name], *packages)}
    assert {path for path in names if ".dist-info/" not in path} == expected
    assert f"{name.removeprefix('treelings-')}/py.typed" in expected


@both
def test_the_sources_have_what_a_wheel_is_built_from_and_nothing_else(
    name: str, built: dict[str, Future[Built]]
) -> None:
    sdist = built[name].result().sdist
    with tarfile.open(sdist) as archive:
        paths = {str(PurePosixPath(*PurePosixPath(path).parts[1:])) for path in archive.getnames()}
        owners = {(entry.uname, entry.gname) for entry in archive.getmembers()}
    assert paths == {*_kept(PACKAGES[name], *_PUBLISHED[name]), "PKG-INFO", ".gitignore"}
    assert owners == {("", "")}


def _kept(folder: Path, *below: str) -> set[str]:
    """Files of a folder that the repository keeps."""
    listed = subprocess.run(["git", "ls-files", *below], cwd=folder, capture_output=True, text=True, check=True)
    return set(listed.stdout.split())


def _in_the_wheel(name: str, path: str) -> str:
    top, _, rest = path.partition("/")
    moved = _MOVED[name].get(top, top)
    return f"{moved}/{rest}" if moved else rest
