"""Bots as they are handed in: files with a bot.toml, in a folder or an archive; checked, copied and named by digest.

Left out of a submission, silently: `__pycache__`, `__MACOSX`, and whatever has a name that begins with a dot (.git,
.venv …). A folder and an archive of it are the same version.
"""

import errno
import hashlib
import os
import re
import stat
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BeforeValidator

from referee.archives import Entry, refusal, shown, unpack
from referee.bot_command import check_command
from referee.config import Title
from referee.durable import sync, sync_tree
from referee.errors import BotFileError, SubmissionError
from referee.model import Submission
from referee.text import printable
from referee.tomlfile import Section, parse_toml
from referee.vendoring import NPM_FILE, PACKAGES, lacks_packages, packed_already, with_packages
from referee.work_folder import work_folder

BOT_FILE: Final = "bot.toml"
MAX_FILES: Final = 2_000
MAX_FOLDERS: Final = 300
MAX_BYTES: Final = 20_000_000
MAX_PATH: Final = 200

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9_]+")
_LONGEST: Final = 100  # of a text that a name is suggested for
_PART: Final = re.compile(r"@?[A-Za-z0-9_][A-Za-z0-9_.+-]{0,98}")
_PATH_RULE: Final = f"names of letters, digits and . _ + - (ASCII), paths of at most {MAX_PATH} characters"
_FRESH: Final = ".new-"
_LEFT_OUT: Final = ("__pycache__", "__MACOSX")
_FORMAT: Final = b"treelings-submission/1\n"
_KINDS: Final = {
    stat.S_IFLNK: "a link",
    stat.S_IFSOCK: "a socket",
    stat.S_IFIFO: "a pipe",
    stat.S_IFBLK: "a device",
    stat.S_IFCHR: "a device",
}


def check_name(name: str) -> str:
    """The name if a bot may bear it (model.py, Submission). Raises ValueError saying what was expected."""
    if not _is_name(name):
        like = _name_like(name)
        example = f", such as {like}" if _is_name(like) else ""
        raise ValueError(
            f'expected 1 to 32 of a-z 0-9 _ - beginning with a letter or digit, and no "-vs-" in it{example}'
        )
    return name


def _is_name(name: str) -> bool:
    # A match is named "a-vs-b": with "vs-" at a name's end, two tables could share one name, and so their deals.
    return _NAME.fullmatch(name) is not None and "-vs-" not in f"-{name}-"


def _name_like(text: str) -> str:
    """What is left of a text where a name is made of it, if anything is: "My Bot" is "my-bot"."""
    words = [word for word in _NOT_IN_NAMES.split(text[:_LONGEST].lower()) if word not in ("", "vs")]
    return "-".join(words).lstrip("_")[:32].rstrip("-")


def _check_command(command: tuple[str, ...]) -> tuple[str, ...]:
    if not 1 <= len(command) <= 32 or not all(1 <= len(part) <= 200 and part.isprintable() for part in command):
        raise ValueError('expected a list of 1 to 32 printable words, e.g. ["python", "bot.py"]')
    return command


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


class BotFile(Section):
    """bot.toml."""

    name: Annotated[str, AfterValidator(check_name)]
    author: Title
    command: Annotated[tuple[str, ...], BeforeValidator(_as_tuple), AfterValidator(_check_command)]
    runtime: Literal["python", "node", "native"]


@dataclass(frozen=True, slots=True)
class File:
    """One file of a submission; `path` is relative, with slashes."""

    path: str
    content: bytes
    executable: bool


def inspect(folder: Path) -> Submission:
    """The bot in a folder, where it is; nothing is copied. Raises SubmissionError."""
    folder = folder.resolve()
    if not folder.is_dir():
        raise SubmissionError(f"{shown(folder)}: expected a folder with a {BOT_FILE}, got something else")
    return read(folder)[0]


def unchanged(bot: Submission) -> Submission:
    """The bot, if its files still are those that were taken in. Raises SubmissionError."""
    if inspect(bot.folder).version != bot.version:
        raise SubmissionError(
            f"{bot.folder}: the files of {bot.name} were changed since they were taken in; remove this folder and "
            f"add the same version again"
        )
    return bot


def take_in(source: Path, into: Path, *, durable: bool = False) -> Submission:
    """Copy a bot's files to `into/<64 hex digits of its digest>/`, readable by all, its files writable by none.

    source   a folder, a .zip or a .tar.gz
    durable  return once the copy is on the disk, also if the power fails then

    All is checked before anything is written. The copy appears whole or not at all; one that is there already is
    kept. Raises SubmissionError naming file and reason.
    """
    submission, files = read(source.resolve())
    home = into / submission.version.removeprefix("sha256:")
    if not home.exists():
        with work_folder(into, _FRESH) as fresh:
            _write(files, fresh / home.name)
            if durable:
                sync_tree(fresh / home.name)
            try:
                (fresh / home.name).rename(home)
            except OSError as problem:
                # Somebody else may have taken the same bot in at the same time.
                if problem.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
    if durable:
        sync(into)
    kept = inspect(home)
    if kept.version != submission.version:
        raise SubmissionError(f"{home}: its files were changed since they were taken in; remove it and add again")
    return kept


def sample_bots() -> tuple[Path, ...]:
    """The folders of the sample bots that are shipped, by name."""
    return tuple(sorted(path.parent for path in _samples().glob(f"*/{BOT_FILE}")))


def sample_bot(name: str) -> Path | None:
    """The folder of the sample bot of this name, None if there is none."""
    return next((path for path in sample_bots() if path.name == name), None)


def is_sample(submission: Submission) -> bool:
    """Its files are those of a sample bot, byte for byte."""
    return submission.version in _sample_versions()


def find_bot(text: str) -> Path:
    """What is meant: the folder of that path, or else the sample bot of that name, or else the archive of that path.

    Packages of a sample bot are fetched the first time. Raises SubmissionError.
    """
    path = Path(text)
    mode = _mode(path)
    if not stat.S_ISDIR(mode) and (sample := sample_bot(text)):
        return with_packages(sample) if lacks_packages(sample) else sample
    if not mode:
        names = ", ".join(path.name for path in sample_bots())
        raise SubmissionError(
            f"{printable(text, 200)}: expected a bot's folder, its .zip or .tar.gz, or the name of a sample bot "
            f"({names}), got neither"
        )
    return path


def _mode(path: Path) -> int:
    """What is there, links followed; 0 for nothing. Raises SubmissionError where that cannot be told."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):  # the last for a NUL in it
        return 0
    except OSError as problem:
        if problem.errno == errno.ENAMETOOLONG:  # and so nothing can be there
            return 0
        raise SubmissionError(f"{shown(path)}: cannot be read: {problem.strerror}") from problem


def _sample_versions() -> frozenset[str]:
    places = (packed_already(folder) if lacks_packages(folder) else folder for folder in sample_bots())
    return frozenset(_version(place) for place in places if place is not None)


@cache
def _version(sample: Path) -> str:
    return inspect(sample).version


def _samples() -> Path:
    package = Path(__file__).parent
    inside = package / "sample_bots"  # in an installed wheel
    return inside if inside.is_dir() else package.parent / "sample_bots"  # in a checkout


def read(source: Path) -> tuple[Submission, tuple[File, ...]]:
    """The bot in a folder or an archive, and its files in order of their paths. Raises SubmissionError."""
    if source.is_dir():
        by_path, place = _in_folder(source, left_out), ""
    elif source.is_file():
        entries = unpack(source, wanted=lambda path: not left_out(path), room=MAX_BYTES)
        by_path, place = _checked(source, entries), ", at its top"
    else:
        raise SubmissionError(f"{shown(source)}: expected a folder, a .zip or a .tar.gz, got something else")
    about = _about(source, by_path[BOT_FILE].content if BOT_FILE in by_path else None, place)
    where = f"{Path(shown(source)) / BOT_FILE}: command"
    check_command(where, about.command, about.runtime, {path: file.executable for path, file in by_path.items()})
    _check_packages(source, by_path)
    files = tuple(by_path[path] for path in sorted(by_path))
    submission = Submission(about.name, about.author, _digest(files), source, about.command, about.runtime)
    return submission, files


def look_at(folder: Path) -> BotFile:
    """What bot.toml in a folder says, whatever else is there. Raises SubmissionError."""
    try:
        content = _content(folder / BOT_FILE, MAX_BYTES)
    except FileNotFoundError:
        content = None
    except OSError as problem:
        raise SubmissionError(f"{shown(folder / BOT_FILE)}: cannot be read: {problem.strerror}") from problem
    return _about(folder, content, "")


def _about(source: Path, content: bytes | None, place: str) -> BotFile:
    if content is None:
        raise BotFileError(
            f"{shown(source)}: no {BOT_FILE}; write one with name, author, command and runtime "
            f'(e.g. command = ["python", "bot.py"], runtime = "python"){place}'
        )
    return parse_toml(content, Path(shown(source)) / BOT_FILE, BotFile, BotFileError)


def _digest(files: tuple[File, ...]) -> str:
    """The version of a submission: SHA-256 over its files in order of their paths.

    Each file is `path NUL x-or-dash NUL decimal length NUL content`, after a line that names the format.
    No path holds a NUL and every length is written down, so no two submissions share an encoding.
    """
    digest = hashlib.sha256(_FORMAT)
    for file in files:
        mark = "x" if file.executable else "-"
        digest.update(f"{file.path}\0{mark}\0{len(file.content)}\0".encode("ascii"))
        digest.update(file.content)
    return f"sha256:{digest.hexdigest()}"


def left_out(path: str) -> bool:
    """Whether a file or folder of this path, relative to the bot's, is silently no part of a submission."""
    parts = path.split("/")
    # A path with ".." leads anywhere: it is to be refused, not passed over.
    return ".." not in parts and any(part.startswith(".") or part in _LEFT_OUT for part in parts)


def _in_folder(folder: Path, leave_out: Callable[[str], bool]) -> dict[str, File]:
    """The files of a folder by path, if all of it may be part of a submission."""
    with closing(_walk(folder, leave_out)) as entries:  # else a refusal would leave folders open for some time
        return _checked(folder, entries)


def _walk(folder: Path, leave_out: Callable[[str], bool]) -> Generator[Entry, None, None]:
    """Whatever a folder holds, in no set order; each folder before what is in it, so that it can be refused first."""
    waiting = [""]
    room = MAX_BYTES
    while waiting:
        below = waiting.pop()
        with os.scandir(folder / below) as entries:
            for entry in entries:
                path = f"{below}{entry.name}"
                if leave_out(path):
                    continue
                mode = entry.stat(follow_symlinks=False).st_mode
                # Whatever is no plain file is not even opened.
                content = _content(folder / path, room) if stat.S_ISREG(mode) else b""
                room -= len(content or b"")
                yield Entry(path, mode, content)
                if stat.S_ISDIR(mode):
                    waiting.append(f"{path}/")


def copy_own(folder: Path, to: Path, but: Collection[str]) -> None:
    """Copy a bot's files, but for these paths, to a folder that is not there yet. Raises SubmissionError, OSError."""
    files = _in_folder(folder, lambda path: left_out(path) or path in but)
    _write(tuple(files.values()), to)


def _checked(source: Path, entries: Iterable[Entry]) -> dict[str, File]:
    """The files among the entries by path, if all of the entries may be part of a submission."""
    try:
        return _allowed(source, entries)
    except OSError as problem:
        where = printable(str(problem.filename), 1_000) if problem.filename else shown(source)
        raise SubmissionError(f"{where}: cannot be read: {problem.strerror}") from problem


def _allowed(source: Path, entries: Iterable[Entry]) -> dict[str, File]:
    names: dict[str, str] = {}  # every path by itself in small letters
    files: dict[str, File] = {}
    folders: set[str] = set()
    for path, mode, content in ((entry.path, entry.mode, entry.content) for entry in entries):
        *above, whole = _with_folders(source, path)
        for part in (*above, whole):
            _check_path(source, part, names)
        folders.update(above)
        if stat.S_ISDIR(mode):
            folders.add(path)
        else:
            _check_kind(source, path, mode)
            if content is None:
                raise refusal(source, path, f"expected at most {MAX_BYTES:,} bytes in all, got more")
            if path in files:
                raise refusal(source, path, "expected each file once, got it twice")
            files[path] = File(path, content, bool(mode & stat.S_IXUSR))
        if len(files) > MAX_FILES or len(folders) > MAX_FOLDERS:
            raise SubmissionError(
                f"{shown(source)}: expected at most {MAX_FILES} files in {MAX_FOLDERS} folders, got more; "
                "leave out what the bot does not need to run"
            )
    if both := sorted(files.keys() & folders):
        raise refusal(source, both[0], "expected a file or a folder, got both under one name")
    return files


def _with_folders(source: Path, path: str) -> Iterator[str]:
    """The folders that a path lies in, outermost first, and itself."""
    # First of all: what is above grows with the square of the length.
    if len(path) > MAX_PATH:
        raise refusal(source, path, f"expected {_PATH_RULE}; rename it")
    parts = path.split("/")
    if ".." in parts or "" in parts:
        raise refusal(source, path, "expected a path in the bot's folder, got one that leads out of it")
    return accumulate(parts, "{}/{}".format)


def _check_path(source: Path, path: str, seen: dict[str, str]) -> None:
    if not _PART.fullmatch(path.rpartition("/")[2]):
        raise refusal(source, path, f"expected {_PATH_RULE}; rename it")
    if (twin := seen.setdefault(path.lower(), path)) != path:
        raise refusal(source, path, f"its name differs from {twin} only by case; rename one")


def _check_kind(source: Path, path: str, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise refusal(source, path, f"expected a plain file, got {_KINDS.get(stat.S_IFMT(mode), 'something else')}")
    if mode & (stat.S_ISUID | stat.S_ISGID):
        raise refusal(source, path, "expected a plain file, got a setuid or setgid one; take the bit off")


def _content(path: Path, limit: int) -> bytes | None:
    """What the file holds, None if it is more than `limit` bytes; never follows a link or waits for a pipe."""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123 - a descriptor
        content = file.read(limit + 1)
    return content if len(content) <= limit else None


def _check_packages(source: Path, files: dict[str, File]) -> None:
    """A bot cannot fetch its packages where it runs."""
    named = NPM_FILE in files and b'"dependencies"' in files[NPM_FILE].content
    if named and not any(path.startswith(f"{PACKAGES}/") for path in files):
        raise refusal(
            source, NPM_FILE, f"expected the packages that it names in {PACKAGES}, got none: run `npm ci` in the "
            "folder to try the bot, and `treelings pack` to hand it in",
        )  # fmt: skip


def _write(files: tuple[File, ...], folder: Path) -> None:
    for file in files:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        path.chmod(0o555 if file.executable else 0o444)
    for below, _, _ in os.walk(folder):
        Path(below).chmod(0o755)
