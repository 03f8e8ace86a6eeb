"""Reading a TOML file into a pydantic model, with errors that say what to write instead."""

import difflib
import re
import tomllib
import types
from codecs import BOM_UTF8
from pathlib import Path
from typing import Final, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from referee.errors import UsageError
from referee.text import printable

MAX_TOML_BYTES: Final = 8_192
"""Enough for any file of ours; a key of 32,000 dotted parts, which 64 KiB hold, takes the parser 20 seconds."""

_SHOWN: Final = 60
_OTHER_QUOTES: Final = tuple("“”„‘’«»`")

M = TypeVar("M", bound="Section")


class Section(BaseModel):
    """A table of a TOML file: its keys are known, its values are of the right type as written."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def read_toml(path: Path, model: type[M], error: type[UsageError]) -> M:
    """The file as a model; raises `error` in one line a problem (two at most) if it is none."""
    try:
        if path.is_fifo() or path.is_char_device():
            raise error(f"{path}: expected a file, got something that can be read without end")
        with path.open("rb") as file:
            raw = file.read(MAX_TOML_BYTES + 1)
    except OSError as problem:
        raise error(f"{path}: cannot be read: {problem.strerror}") from problem
    return parse_toml(raw, path, model, error)


def parse_toml(raw: bytes, path: Path, model: type[M], error: type[UsageError]) -> M:
    """The same of bytes that were read already; `path` is only named in errors."""
    if len(raw) > MAX_TOML_BYTES:
        raise error(f"{path}: expected at most {MAX_TOML_BYTES:,} bytes, got more")
    raw = raw.removeprefix(BOM_UTF8)  # which editors on Windows put there, and no editor shows
    try:
        values = tomllib.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as problem:
        raise error(f"{path}: expected UTF-8 text, got byte 0x{raw[problem.start]:02x}") from problem
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        hint = _quotes_missing(raw.decode("utf-8"), str(problem))
        raise error(f"{path}: not TOML: {printable(str(problem), 200)}{hint}") from problem
    except ValueError as problem:  # Python's own limit, which tomllib lets pass
        raise error(f"{path}: not TOML of ours: a number of too many digits") from problem
    try:
        return model.model_validate(values)
    except ValidationError as problem:
        raise error("\n".join(_lines(path, model, problem))) from problem


def _quotes_missing(text: str, said: str) -> str:
    """A hint where the parser stopped at a word that is no value, or at quotes of another kind; empty elsewhere."""
    place = re.search(r"Invalid value \(at line (\d+), column (\d+)\)", said)
    if place is None:
        return ""
    line, column = map(int, place.groups())
    found = text.splitlines()[line - 1 : line]
    first = found[0][column - 1 : column] if found else ""
    return '; strings need quotes, as in "word"' if first.isalpha() or first in _OTHER_QUOTES else ""


def _lines(path: Path, model: type[BaseModel], problem: ValidationError) -> list[str]:
    # Two are enough to act on; a value that fits none of several types counts once.
    found = {detail["loc"][:1]: detail for detail in reversed(problem.errors())}
    # First the keys that are unknown: a misspelt one is why another is missing.
    in_order = list(reversed(found.values()))
    in_order.sort(key=lambda detail: detail["type"] != "extra_forbidden")
    lines = []
    for detail in in_order[:2]:
        key = printable(".".join(str(part) for part in detail["loc"]), _SHOWN)
        match detail["type"]:
            case "extra_forbidden":
                known = _keys(model, detail["loc"][:-1])
                lines.append(f"{path}: unknown key {key!r}; {_suggestion(str(detail['loc'][-1]), known)}")
            case "missing":
                lines.append(f"{path}: {key}: expected a value, but the key is missing")
            case "model_type":
                lines.append(f"{path}: {key}: expected a table, written as [{key}], got {_got(detail['input'])}")
            case _:
                lines.append(f"{path}: {key}: {_expected(detail['msg'])}, got {_got(detail['input'])}")
    return lines


def _expected(message: str) -> str:
    for pydantic, ours in (
        ("Value error, ", ""),
        ("Input should be ", "expected "),
        ("greater than or equal to ", "at least "),
        ("less than or equal to ", "at most "),
        ("a valid tuple", "a list"),
    ):
        message = message.replace(pydantic, ours)
    return message


def _got(value: object) -> str:
    try:
        return printable(repr(value), _SHOWN)
    except RecursionError:
        return "a value nested too deeply"
    except ValueError:  # hexadecimal digits are read without a limit, decimal ones not written
        return "a number of too many digits"


def _suggestion(key: str, known: list[str]) -> str:
    close = difflib.get_close_matches(key, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known keys: {', '.join(known)}"


def _keys(model: type[BaseModel], where: tuple[int | str, ...]) -> list[str]:
    for part in where:
        model = _section(model.model_fields[str(part)].annotation)
    return list(model.model_fields)


def _section(annotation: object) -> type[BaseModel]:
    options = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    return next(option for option in options if isinstance(option, type) and issubclass(option, BaseModel))
