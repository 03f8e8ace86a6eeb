"""Replacing a published folder as a whole, so that no reader ever sees half a site."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from filecmp import cmp
from pathlib import Path
from shutil import copyfile
from typing import Final

from referee.durable import sync
from referee.errors import NO_ROOM, RefereeError, UsageError
from referee.sitefile import FORMAT, NAME
from referee.work_folder import work_folder

_LEFTOVER: Final = ".treelings-publish-"
_OURS: Final = re.compile(
    r"(index|night-\d+)\.html|feed\.xml|league\.json|standings\.(json|csv)|style\.css|(sort|viewer)\.js"
    r"|(forest|firefly)\.svg|badges|bots|matches|records"
)


class Fresh:
    """The site in the making. A file that is the same in the old site is that file, not a second one.

    Names are relative to the site, with "/" between folder and file.
    """

    def __init__(self, folder: Path, old: Path) -> None:
        self._folder = folder
        self._old = old

    def write(self, name: str, content: str | bytes) -> None:
        """Give the site a file; text is written as UTF-8."""
        raw = content.encode() if isinstance(content, str) else content
        old = self._old / name
        if not (_is_file(old) and old.stat().st_size == len(raw) and old.read_bytes() == raw and self._link(name)):
            self._path(name).write_bytes(raw)

    def write_parts(self, name: str, parts: Iterable[str]) -> None:
        """Give the site a long file, whose parts are not kept in memory."""
        path, old = self._path(name), self._old / name
        with path.open("w", encoding="utf-8", newline="") as file:
            file.writelines(parts)
        if _is_file(old) and cmp(old, path, shallow=False):
            path.unlink()
            if not self._link(name):
                copyfile(old, path)

    def keep(self, name: str, ending: str) -> bool:
        """Take over the file of the old site if it is there and ends with this text."""
        old, wanted = self._old / name, ending.encode()
        if not _is_file(old):
            return False
        with old.open("rb") as file:
            file.seek(max(0, old.stat().st_size - len(wanted)))
            if file.read() != wanted:
                return False
        return self._link(name)

    def _path(self, name: str) -> Path:
        path = self._folder / name
        path.parent.mkdir(exist_ok=True)
        return path

    def _link(self, name: str) -> bool:
        """Whether it could be done: not every file system has links."""
        try:
            self._path(name).hardlink_to(self._old / name)
        except OSError:
            return False
        return True


@contextmanager
def replacing(site: Path) -> Iterator[Fresh]:
    """A fresh site to write into; it becomes `site` when the block ends well, else it is removed.

    Its nights with their commitments are on the disk then, also if the power fails; all else can be published again.

    `site` may be missing, empty, or hold a treelings site and nothing besides. What a killed run left
    beside it is removed first. Raises UsageError for any other folder, and RefereeError if it cannot be written.
    """
    site = site.resolve()
    try:
        _check_replaceable(site)
        site.parent.mkdir(parents=True, exist_ok=True)
        with work_folder(site.parent, f"{_LEFTOVER}{site.name}-") as work:
            fresh = work / "new"
            fresh.mkdir()
            yield Fresh(fresh, site)
            _swap(fresh, site, work / "old")
    except OSError as error:
        wanted = (
            "make room there"
            if error.errno in NO_ROOM
            else "choose a folder that can be written and is not mounted itself"
        )
        raise RefereeError(f"{site}: cannot publish there: {error}; {wanted}") from error


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _swap(fresh: Path, site: Path, old: Path) -> None:
    for written in (fresh / NAME, fresh):
        sync(written)
    if site.exists():
        site.rename(old)
    try:
        fresh.rename(site)
    except OSError:
        if old.exists():
            old.rename(site)
        raise
    sync(site.parent)


def _check_replaceable(site: Path) -> None:
    if not site.exists():
        return
    if not site.is_dir():
        raise UsageError(f"{site}: expected a folder to publish to, got a file")
    entries = sorted(entry.name for entry in site.iterdir())
    if entries and not _is_site(site / NAME):
        raise UsageError(
            f"{site}: is not empty and holds no treelings site (no {NAME} of ours); "
            "publish to another folder or empty this one"
        )
    foreign = [name for name in entries if not _OURS.fullmatch(name)]
    if foreign:
        raise UsageError(
            f"{site}: holds {foreign[0]!r}, which is no part of a site and would be lost; "
            "move it away or publish to another folder"
        )


def _is_site(mark: Path) -> bool:
    try:
        content = json.loads(mark.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and content.get("format") == FORMAT
