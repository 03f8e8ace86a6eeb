"""A bot made into an archive that can be handed in: built, with the packages that it names, and checked."""

import gzip
import io
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from referee.archives import MAX_ARCHIVE_BYTES
from referee.errors import SubmissionError
from referee.model import Submission
from referee.submissions import File, copy_own, look_at, read
from referee.vendoring import PACKAGES, add_packages, names_packages
from referee.work_folder import work_folder

_BUILD_TIMEOUT_S: Final = 900
ENDING: Final = ".tar.gz"


def pack(folder: Path, output: Path | None) -> tuple[Submission, Path]:
    """Write the archive of a bot (`NAME.tar.gz` here if no path is given); the same files make the same bytes.

    Where the folder of a native bot has a Makefile, `make` is run in it first: it is for authors, on their own machine.
    Raises SubmissionError saying what is amiss with the bot, OSError; what is there already is written over.
    """
    if not folder.is_dir():
        raise SubmissionError(f"{folder}: expected a bot's folder, got something else")
    about = look_at(folder)
    path = output or Path(f"{about.name}{ENDING}")
    if about.runtime == "native" and (folder / "Makefile").is_file():
        _make(folder)
    with work_folder(Path(tempfile.gettempdir()), "treelings-pack-") as work:
        copy = work / about.name
        made_anew = (PACKAGES,) if names_packages(folder, about.runtime) else ()
        copy_own(folder, copy, but=(*made_anew, *_inside(folder, path)))
        add_packages(copy, about.runtime)
        try:
            bot, files = read(copy)
        except SubmissionError as problem:
            raise type(problem)(str(problem).replace(str(copy), str(folder))) from problem
    data = archive(files)
    if len(data) > MAX_ARCHIVE_BYTES:
        raise SubmissionError(
            f"{folder}: expected an archive of at most {MAX_ARCHIVE_BYTES:,} bytes, got {len(data):,}; "
            "leave out what the bot does not need to run"
        )
    path.write_bytes(data)
    return bot, path


def archive(files: Sequence[File]) -> bytes:
    """A .tar.gz in which nothing tells when, where or by whom it was made."""
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0, filename="") as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for file in files:
            entry = tarfile.TarInfo(file.path)
            entry.size, entry.mode = len(file.content), 0o755 if file.executable else 0o644
            tar.addfile(entry, io.BytesIO(file.content))
    return buffer.getvalue()


def _inside(folder: Path, path: Path) -> tuple[str, ...]:
    """The path as one of the folder's own, if it is: the archive of the last time is no part of the next."""
    place, home = path.resolve(), folder.resolve()
    return (place.relative_to(home).as_posix(),) if place.is_relative_to(home) else ()


def _make(folder: Path) -> None:
    try:
        done = subprocess.run(["make"], cwd=folder, timeout=_BUILD_TIMEOUT_S, check=False, stdout=sys.stderr)
    except FileNotFoundError as error:
        raise SubmissionError(f"{folder}: its Makefile builds it, and make is not here: install make") from error
    except subprocess.TimeoutExpired as error:
        raise SubmissionError(f"{folder}: make has not built it after {_BUILD_TIMEOUT_S} s") from error
    if done.returncode != 0:
        raise SubmissionError(f"{folder}: make ended with {done.returncode}; what it said stands above")
