"""What is published of both packages: what they say of themselves, and that all files are in them and no others."""

import re
import subprocess
import tarfile
import zipfile
from concurrent.futures import Future
from importlib.metadata import PackageMetadata
from pathlib import Path, PurePosixPath

import pytest

from tests.packaging.conftest import PUBLISHED_AT, PYTHONS, ROOT, Built, metadata

PACKAGES = {"treelings": ROOT / "sdk", "treelings-referee": ROOT}
"""By name, the folder that each is built from."""

_MOVED = {
    "treelings": {"src": ""},
    "treelings-referee": {"sample_bots": "referee/sample_bots", "proto": "referee/proto"},
}
"""Where a wheel has what lies in other folders of the repository."""

_PUBLISHED = {
    "treelings": ("src", "LICENSE", "README.md", "hatch_build.py", "hatch_links.py", "pyproject.toml"),
    "treelings-referee": (
        "referee", "sample_bots", "proto", "sdk/hatch_links.py",
        "LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml",
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


def test_a_package_whose_files_can_be_read_somewhere_has_links_to_them(built: dict[str, Future[Built]]) -> None:
    about = metadata(built["treelings-referee"].result().wheel)
    urls = dict(url.split(", ") for url in about.get_all("Project-URL", []))
    assert urls["Changelog"] == f"{PUBLISHED_AT}/CHANGELOG.md"
    pages = [url.removeprefix(f"{PUBLISHED_AT}/") for url in (*urls.values(), *_links(_readme(about)))]
    assert len(pages) > len(urls) + 10
    assert [page for page in pages if not page.startswith("#") and not (ROOT / page).exists()] == []


def test_a_package_of_which_nothing_is_said_has_no_links_that_lead_nowhere(built: dict[str, Future[Built]]) -> None:
    about = metadata(built["treelings"].result().wheel)
    assert about.get_all("Project-URL") is None
    assert [link for link in _links(_readme(about)) if not link.startswith(("#", "https://"))] == []


@both
def test_a_package_shows_its_readme(name: str, built: dict[str, Future[Built]]) -> None:
    shown, written = _readme(metadata(built[name].result().wheel)), (PACKAGES[name] / "README.md").read_text()
    assert shown.splitlines()[0] == written.splitlines()[0]
    assert _words(shown) == _words(written)


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


def _readme(about: PackageMetadata) -> str:
    text = about.get_payload()  # type: ignore[attr-defined] # of a wheel it is a message of email
    assert isinstance(text, str)
    return text


def _links(text: str) -> list[str]:
    return re.findall(r"\]\(([^)]+)\)", text)


def _words(text: str) -> str:
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text).strip()


def _kept(folder: Path, *below: str) -> set[str]:
    """Files of a folder that the repository keeps."""
    listed = subprocess.run(["git", "ls-files", *below], cwd=folder, capture_output=True, text=True, check=True)
    return set(listed.stdout.split())


def _in_the_wheel(name: str, path: str) -> str:
    top, _, rest = path.partition("/")
    moved = _MOVED[name].get(top, top)
    return f"{moved}/{rest}" if moved else rest
