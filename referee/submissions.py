"""Bots as they are handed in: a folder of files with a bot.toml, checked, copied and named by digest.

Left out of a submission, silently: `__pycache__`, and everything whose name begins with a dot (.git, .venv …).
"""

import errno
import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BeforeValidator

from referee.config import Title
from referee.errors import SubmissionError
from referee.model import Submission
from referee.text import printable
from referee.tomlfile import Section, parse_toml

BOT_FILE: Final = "bot.toml"
MAX_FILES: Final = 500
MAX_FOLDERS: Final = 100
MAX_BYTES: Final = 10_000_000
MAX_PATH: Final = 200

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}")
_PART: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")
_PATH_RULE: Final = f"names of letters, digits and . _ + - (ASCII), paths of at most {MAX_PATH} characters"
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
    # A match is named "a-vs-b": with "vs-" at a name's end, two tables could share one name, and so their deals.
    if not _NAME.fullmatch(name) or "-vs-" in f"-{name}-":
        raise ValueError('expected 1 to 32 of a-z 0-9 _ - beginning with a letter or digit, and no "-vs-" in it')
    return name


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
    runtime: Literal["python"]


@dataclass(frozen=True, slots=True)
class _File:
    """One file of a submission; `path` is relative, with slashes."""

    path: str
    content: bytes
    executable: bool


def inspect(folder: Path) -> Submission:
    """The bot in a folder, where it is; nothing is copied. Raises SubmissionError."""
    return _read(folder)[0]


def take_in(folder: Path, into: Path) -> Submission:
    """Copy a bot's files to `into/<64 hex digits of its digest>/`, readable by all, its files writable by none.

    The copy appears whole or not at all; one that is there already is kept. Raises SubmissionError.
    """
    submission, files = _read(folder)
    home = into / submission.version.removeprefix("sha256:")
    if not home.exists():
        fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=into))
        try:
            _write(files, fresh)
            fresh.rename(home)
        except BaseException as problem:
            shutil.rmtree(fresh)
            # Somebody else may have taken the same bot in at the same time.
            if not (isinstance(problem, OSError) and problem.errno in (errno.ENOTEMPTY, errno.EEXIST)):
                raise
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
    """The folder that is meant: the text as a path, or else the sample bot of that name. Raises SubmissionError."""
    folder = Path(text)
    if not folder.is_dir() and (sample := sample_bot(text)):
        return sample
    if not folder.exists():
        names = ", ".join(path.name for path in sample_bots())
        raise SubmissionError(
            f"{printable(text, 200)}: expected a bot's folder or the name of a sample bot ({names}), got neither"
        )
    return folder


@cache
def _sample_versions() -> frozenset[str]:
    return frozenset(inspect(folder).version for folder in sample_bots())


def _samples() -> Path:
    package = Path(__file__).parent
    inside = package / "sample_bots"  # in an installed wheel
    return inside if inside.is_dir() else package.parent / "sample_bots"  # in a checkout


def _read(folder: Path) -> tuple[Submission, tuple[_File, ...]]:
    folder = folder.resolve()
    if not folder.is_dir():
        raise SubmissionError(f"{folder}: expected a folder with a {BOT_FILE}, got something else")
    try:
        files = tuple(sorted(_files(folder), key=lambda file: file.path))
    except OSError as problem:
        raise SubmissionError(f"{problem.filename or folder}: cannot be read: {problem.strerror}") from problem
    by_path = {file.path: file for file in files}
    if BOT_FILE not in by_path:
        raise SubmissionError(
            f"{folder}: no {BOT_FILE}; write one with name, author, command and runtime "
            '(e.g. command = ["python", "bot.py"], runtime = "python")'
        )
    about = parse_toml(by_path[BOT_FILE].content, folder / BOT_FILE, BotFile, SubmissionError)
    _check_start(folder, about.command, by_path)
    submission = Submission(about.name, about.author, _digest(files), folder, about.command, about.runtime)
    return submission, files


def _digest(files: tuple[_File, ...]) -> str:
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


def _files(folder: Path) -> Iterator[_File]:
    """Every file of the submission, each checked before it is read, in no set order."""
    waiting = [""]
    seen: dict[str, str] = {}
    files = folders = size = 0
    while waiting:
        below = waiting.pop()
        with os.scandir(folder / below) as entries:
            for entry in entries:
                if entry.name.startswith(".") or entry.name == "__pycache__":
                    continue
                path = f"{below}{entry.name}"
                _check_path(folder, path, seen)
                mode = entry.stat(follow_symlinks=False).st_mode
                if stat.S_ISDIR(mode):
                    folders += 1
                    waiting.append(f"{path}/")
                else:
                    files += 1
                    _check_kind(folder, path, mode)
                    content = _content(folder / path, MAX_BYTES - size)
                    if content is None:
                        raise _refusal(folder, path, f"expected at most {MAX_BYTES:,} bytes in all, got more")
                    size += len(content)
                    yield _File(path, content, bool(mode & stat.S_IXUSR))
                if files > MAX_FILES or folders > MAX_FOLDERS:
                    raise SubmissionError(
                        f"{folder}: expected at most {MAX_FILES} files in {MAX_FOLDERS} folders, got more; "
                        "leave out what the bot does not need to run"
                    )


def _check_path(folder: Path, path: str, seen: dict[str, str]) -> None:
    if not _PART.fullmatch(path.rpartition("/")[2]) or len(path) > MAX_PATH:
        raise _refusal(folder, path, f"expected {_PATH_RULE}; rename it")
    if (twin := seen.setdefault(path.lower(), path)) != path:
        raise _refusal(folder, path, f"its name differs from {twin} only by case; rename one")


def _check_kind(folder: Path, path: str, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise _refusal(folder, path, f"expected a plain file, got {_KINDS.get(stat.S_IFMT(mode), 'something else')}")
    if mode & (stat.S_ISUID | stat.S_ISGID):
        raise _refusal(folder, path, "expected a plain file, got a setuid or setgid one; take the bit off")


def _content(path: Path, limit: int) -> bytes | None:
    """What the file holds, None if it is more than `limit` bytes; never follows a link or waits for a pipe."""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123 - a descriptor
        content = file.read(limit + 1)
    return content if len(content) <= limit else None


def _check_start(folder: Path, command: tuple[str, ...], files: dict[str, _File]) -> None:
    """The command starts something that is there: python with a file or module of the bot, or a file of its own."""
    where = f"{folder / BOT_FILE}: command"
    program, *rest = command
    if program.startswith("./"):
        if not (file := files.get(program[2:])):
            raise SubmissionError(f"{where}: expected a file of the bot, got {program!r}, which is not there")
        if not file.executable:
            raise SubmissionError(f"{where}: {program!r} cannot be run; make it executable (chmod +x)")
        return
    if program != "python":
        raise SubmissionError(
            f'{where}: expected "python" or a file of the bot such as "./run" first, got {printable(program, 60)!r}'
        )
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c"):
        rest = rest[2:] if rest[0] in ("-X", "-W") else rest[1:]
    wanted: tuple[str, ...]
    match rest:
        case ["-c", _, *_]:
            return
        case ["-m", module, *_]:
            base = module.replace(".", "/")
            wanted = (f"{base}.py", f"{base}/__main__.py")
        case [script, *_] if not script.startswith("-"):
            wanted = (script.removeprefix("./"),)
        case _:
            raise SubmissionError(f'{where}: expected a file for python to run, e.g. ["python", "bot.py"], got none')
    if not any(path in files for path in wanted):
        raise SubmissionError(f"{where}: expected {' or '.join(wanted)} in the folder, got no such file")


def _write(files: tuple[_File, ...], folder: Path) -> None:
    for file in files:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        path.chmod(0o555 if file.executable else 0o444)
    for below, _, _ in os.walk(folder):
        Path(below).chmod(0o755)


def _refusal(folder: Path, path: str, reason: str) -> SubmissionError:
    return SubmissionError(f"{folder}: {printable(path, MAX_PATH)}: {reason}")
