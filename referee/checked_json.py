"""Read files and JSON that strangers wrote: strict, bounded, and with errors that name the place.

Errors are RecordError: where, which key, what was expected, what came.
"""

import json
import math
from collections import Counter
from pathlib import Path
from typing import Annotated, BinaryIO, Final, NoReturn, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from referee.errors import RecordError
from referee.text import printable

MAX_NAME: Final = 40
"""Characters of a bot's name: the 32 of a submission, and what a match appends to tell its seats apart ("-2")."""

_MAX_DIGITS: Final = 1_000
_SHOWN: Final = 60
_Model = TypeVar("_Model", bound=BaseModel)


class Wire(BaseModel):
    """A JSON object with known keys; unknown ones are kept in `model_extra`."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)


def _no_separator(name: str) -> str:
    if "-vs-" in name:
        raise ValueError("a bot's name has no '-vs-' in it")
    return name


BotName = Annotated[str, Field(max_length=MAX_NAME, pattern=r"^[a-z0-9][a-z0-9_-]*$"), AfterValidator(_no_separator)]
Version = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
LeagueName = Annotated[str, Field(max_length=100)]


def open_file(path: Path) -> BinaryIO:
    """The file, open for reading. Raises RecordError naming what is there instead.

    A pipe or a device in its place would be waited for, or read, without end.
    """
    try:
        if path.is_file():
            return path.open("rb")
        got = "something else" if path.exists() else "none"
    except OSError as error:
        raise RecordError(f"{printable(path.name, _SHOWN)}: cannot be read: {error.strerror}") from None
    raise RecordError(f"{printable(str(path), 4 * _SHOWN)}: expected a file, got {got}")


def read(model: type[_Model], text: str, where: str) -> _Model:
    """The object that the text holds. Raises RecordError; `where` names the text, e.g. "line 3"."""
    try:
        value = json.loads(
            text, parse_int=_short, parse_float=_finite, parse_constant=_refuse_constant,
            object_pairs_hook=_without_repeats,
        )  # fmt: skip
    except RecursionError:
        raise RecordError(f"{where}: expected a JSON object, got one nested too deeply") from None
    except ValueError as error:
        raise RecordError(f"{where}: expected a JSON object, got {_reason(error)}") from None
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise RecordError(f"{where}: {_first(error)}") from None


def dump(value: object) -> str:
    """The value as one line of JSON: compact, ASCII, keys as given. Raises RecordError."""
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"expected values that JSON can hold, got {printable(str(error), 200)}") from None


def _short(text: str) -> int:
    if len(text) > _MAX_DIGITS:  # whatever Python's own limit is set to: millions of digits take minutes
        raise ValueError(f"a number of {len(text):,} digits")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"a number that is not finite: {printable(text, _SHOWN)}")
    return number


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"a number that is not finite: {text}")


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {printable(repr(twice), _SHOWN)} twice in one object")
    return found


def _reason(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"text that is no JSON at character {error.pos + 1}: {error.msg}"
    return printable(str(error), 200)


def _first(error: ValidationError) -> str:
    """The first of a validation's errors in words: key, expected, got."""
    found = error.errors(include_url=False, include_context=False)[0]
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in found["loc"]).lstrip(".")
    key = f"key {printable(path, 2 * _SHOWN)}: " if path else ""
    if found["type"] == "missing":
        return f"{key}expected it to be there, got an object without it"
    wanted = found["msg"].removeprefix("Value error, ")
    wanted = wanted.removeprefix("Input should be ") if wanted.startswith("Input should be ") else wanted
    return f"{key}expected: {printable(wanted, 200)}; got {printable(_shown(found['input']), _SHOWN)}"


def _shown(value: object) -> str:
    if isinstance(value, int) and abs(value) >= 10**_SHOWN:
        return "a number of too many digits"
    if isinstance(value, (list, dict)):
        return f"{'a list' if isinstance(value, list) else 'an object'} with {len(value)} entries"
    return json.dumps(value)
