"""Replacing a published folder as a whole, so that no reader ever sees half a site."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from referee.errors import RefereeError, UsageError
from referee.sitefile import FORMAT, NAME
from referee.work_folder import work_folder

_LEFTOVER: Final = ".treelings-publish-"
_OURS: Final = re.compile(
    r"(index|night-\d+)\.html|league\.json|standings\.(json|csv)|style\.css|(forest|firefly)\.svg"
    r"|bots|matches|records"
)


@contextmanager
def replacing(site: Path) -> Iterator[Path]:
    """A fresh empty folder to write into; it becomes `site` when the block ends well, else it is removed.

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
            yield fresh
            _swap(fresh, site, work / "old")
    except OSError as error:
        raise RefereeError(
            f"{site}: cannot publish there: {error}; choose a folder that can be written and is not mounted itself"
        ) from error


def _swap(fresh: Path, site: Path, old: Path) -> None:
    if not site.exists():
        fresh.rename(site)
        return
    site.rename(old)
    try:
        fresh.rename(site)
    except OSError:
        old.rename(site)
        raise


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
