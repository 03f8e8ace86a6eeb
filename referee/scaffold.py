"""A new bot's folder, made from a template of the package: it plays at once, and one method of it is to be written."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from referee.config import check_title
from referee.errors import UsageError
from referee.submissions import check_name, sample_bot
from referee.text import printable

LANGUAGES: Final = ("python", "javascript", "cpp", "go")
"""Languages that there is a template for: the folders in `templates`."""

_TEMPLATES: Final = Path(__file__).with_name("templates")
_OF_THE_SAMPLE: Final = {"javascript": ("board.js", "bot.js", "package-lock.json", "treelings.js")}
"""Files of a template that the sample bot of that name has as well, and that are kept there alone."""

_WITHOUT_KIT: Final = ("javascript", "cpp", "go")
"""Languages whose bots speak to the referee from the .proto, which they get along."""

_COMPILED: Final = "__pycache__"  # put there by whoever installed the package
_SHOWN: Final = 80
_LONGEST_AUTHOR: Final = 64


def make_bot(name: str, *, author: str, into: Path, language: str = "python") -> tuple[Path, ...]:
    """Make the folder `into/name` and return its files; never writes over anything.

    Raises UsageError where the name or the author is none, or where something of that name is there; OSError, and then
    nothing of the folder stays.
    """
    _check(name, author)
    folder = into / name
    values = {"@NAME@": name, "@AUTHOR@": _in_quotes(author)}
    try:
        into.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as problem:
        raise UsageError(f"{into}: expected a folder to make the bot's in, got something else") from problem
    try:
        folder.mkdir()
    except FileExistsError:
        raise UsageError(f"{folder}: is there already; choose another name, or another place with --into") from None
    try:
        return _write(_parts(language), folder, values)
    except BaseException:  # half of a bot is none, and would be in the way of the next attempt
        shutil.rmtree(folder)
        raise


def _parts(language: str) -> dict[str, Path]:
    """What a bot's folder is made of: a path in it, and the file that it is a copy of."""
    template = _TEMPLATES / language
    parts = {
        path.relative_to(template).as_posix(): path
        for path in template.rglob("*")
        if path.is_file() and _COMPILED not in path.parts
    }
    if names := _OF_THE_SAMPLE.get(language):
        sample = sample_bot(language)
        assert sample is not None, f"{language}: its sample bot is not installed"
        parts |= {name: sample / name for name in names}
    if language in _WITHOUT_KIT:
        proto = _proto()
        parts |= {f"proto/{path.relative_to(proto).as_posix()}": path for path in proto.rglob("*.proto")}
    return parts


def _proto() -> Path:
    package = Path(__file__).parent
    inside = package / "proto"  # in an installed wheel
    return inside if inside.is_dir() else package.parent / "proto"  # in a checkout


def _write(parts: Mapping[str, Path], folder: Path, values: Mapping[str, str]) -> tuple[Path, ...]:
    made = []
    for path, source in sorted(parts.items()):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            target.write_text(_filled(source.read_text(encoding="utf-8"), values), encoding="utf-8")
        except OSError as problem:  # which of itself does not say where a disk is full
            raise OSError(problem.errno, problem.strerror, str(target)) from problem
        made.append(target)
    return tuple(made)


def fit_author(*wishes: str) -> str:
    """The first of these texts that can be made fit to be printed as a name; "anonymous" if none can."""
    for wish in wishes:
        words = "".join(char if char.isprintable() else " " for char in wish).split()
        if fit := " ".join(words)[:_LONGEST_AUTHOR].strip():
            return fit
    return "anonymous"


def _check(name: str, author: str) -> None:
    try:
        check_name(name)
    except ValueError as problem:
        raise UsageError(f"name of the bot: {problem}, got {printable(name, _SHOWN)!r}") from problem
    if sample_bot(name) is not None:
        raise UsageError(f"name of the bot: {name} is a sample bot; choose another, e.g. my-{name}")
    try:
        check_title(author)
    except ValueError as problem:
        raise UsageError(f"author: {problem}, got {printable(author, _SHOWN)!r}") from problem


def _in_quotes(text: str) -> str:
    """As it stands between the quotes of a string of TOML."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _filled(text: str, values: Mapping[str, str]) -> str:
    # In one pass: an author called @NAME@ stays so.
    return re.sub("|".join(values), lambda found: values[found[0]], text)
