"""Text and bytes that a hostile hand could write: nearly right, badly wrong, or mere noise.

Every mutation follows from a seed, which keeps thousands of them cheap; what was made of it is what a failing test
shows. By default a fuzz test tries the same examples in every run. `TREELINGS_FUZZ_EXAMPLES=20000 pytest
tests/property/test_fuzz_files.py` tries so many others of each test, new ones each time.
"""

import json
import os
import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Final, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

_T = TypeVar("_T")

_WISHED: Final = os.environ.get("TREELINGS_FUZZ_EXAMPLES")

LONGEST_LINE: Final = 800
"""Characters that a line of an error may have; the longest are those that quote two decks or all known keys."""

NUMBERS: Final = (
    "0", "-1", "-0", "1.5", "-0.0", "1e999", "-1e999", "1e-999", "1e308", "NaN", "Infinity", "-Infinity", "nan", "inf",
    "0x10", "1_000", "2147483648", "18446744073709551616", "9" * 400, "9" * 4_301, "-" + "9" * 20_000,
    "0." + "1" * 5_000, "0x" + "f" * 6_000, "\u0661", "１",
)  # fmt: skip
"""Numbers as JSON or TOML would write them, or as neither does."""

NOISE: Final = (
    "", "\0", "\n", "\r\n", "\x1b[2J", "\x1b]0;title\x07", "\u202e", "\u200b", "\ufeff", "\ud800", "\udfff",
    "\U0010ffff", "é", "e\u0301", "<script>alert(1)</script>", "=1+1", "'", '"', "\\", "{{ 7 * 7 }}", "../..", "-vs-",
    "\u0430", "ＡＢ", "a" * 300, "\u0300" * 300,
)  # fmt: skip
"""Text that somebody could stumble over: controls, marks, halves of characters, markup, lookalikes."""

LOOKALIKES: Final = "RОRрYУGԌBВPР＊*∗-‐–−<‹＜>›＞\u0661１ \u00a0\u200b\u0301\n\0"
"""Letters of the notation beside Cyrillic ones, full-width ones, other dashes, digits of other scripts."""


def bounded(examples: int) -> settings:
    """Settings of a fuzz test: so many examples, always the same ones, unless others are wished for."""
    slow = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
    if _WISHED is None:
        return settings(max_examples=examples, derandomize=True, deadline=None, suppress_health_check=slow)
    return settings(max_examples=int(_WISHED), deadline=None, suppress_health_check=slow)


def value_of(read: Callable[[], _T], *errors: type[Exception], lines: int = 1) -> _T | None:
    """What a reader gives, None if it refused in one of these errors and in words that are fit to be shown.

    Any other exception gets through, and so fails the test.
    """
    try:
        return read()
    except errors as refusal:
        told = str(refusal).split("\n")
    assert len(told) <= lines
    assert all(is_line(line) for line in told)
    return None


def is_line(text: str) -> bool:
    """Whether a text is fit to be shown as it is: something, printable, and bounded."""
    return text.isprintable() and 0 < len(text) <= LONGEST_LINE


def made(make: Callable[[Random], _T]) -> st.SearchStrategy[_T]:
    """What the function makes of any source of randomness."""
    return st.integers(0, 2**63).map(lambda seed: make(Random(seed)))


def mutated_bytes(rng: Random, data: bytes) -> bytes:
    """The bytes with a few of them flipped, cut off, doubled, dropped, or put in."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randint(0, len(found))
        end = min(len(found), at + rng.choice((1, 2, 8, 64)))
        match rng.randrange(5):
            case 0 if at < len(found):
                found[at] ^= 1 << rng.randrange(8)
            case 1:
                del found[at:]
            case 2:
                found[at:at] = found[at:end]
            case 3:
                found[at:end] = b""
            case _:
                found[at:at] = rng.randbytes(rng.choice((1, 2, 9, 40)))
    return bytes(found)


def mutated_text(rng: Random, text: str, alphabet: Sequence[str] = NOISE + NUMBERS) -> str:
    """The text with a few stretches of it replaced, doubled, dropped, or swapped for a piece of the alphabet."""
    for _ in range(rng.randint(1, 3)):
        at = rng.randint(0, len(text))
        end = min(len(text), at + rng.choice((0, 1, 3, 20)))
        piece = rng.choice(("", text[at:end] * 2, rng.choice(alphabet), rng.choice(alphabet)))
        text = text[:at] + piece + text[end:]
    return text


def mutated_json(rng: Random, value: object) -> str:
    """The value as JSON with one to three places of it replaced, mostly by what does not belong there."""
    value = json.loads(json.dumps(value))
    odd = {f"@{number}@": _odd_json(rng) for number in range(rng.choice((1, 1, 2, 3)))}
    for mark in odd:
        _put(rng, value, mark)
    text = json.dumps(value, separators=rng.choice(((",", ":"), (", ", ": "))))
    for mark, piece in odd.items():
        text = text.replace(f'"{mark}"', piece)
    if rng.random() < 0.2:
        text = mutated_text(rng, text)
    return text


def _put(rng: Random, value: object, mark: str) -> None:
    """Put the mark somewhere into the value: in place of an entry, or beside one."""
    while True:
        below: list[object] = []
        if isinstance(value, dict):
            below = [inner for inner in value.values() if isinstance(inner, (dict, list)) and inner]
        elif isinstance(value, list):
            below = [inner for inner in value if isinstance(inner, (dict, list)) and inner]
        if not below or rng.random() < 0.35:
            break
        value = rng.choice(below)
    if isinstance(value, dict):
        match rng.randrange(6):
            case 0:
                value[rng.choice(("", "x", "format", *NOISE))] = mark
            case 1 if value:
                del value[rng.choice(list(value))]
            case _ if value:
                value[rng.choice(list(value))] = mark
    elif isinstance(value, list):
        match rng.randrange(4):
            case 0:
                value.insert(rng.randint(0, len(value)), mark)
            case 1:
                value *= rng.choice((2, 2, 40))
            case _ if value:
                value[rng.randrange(len(value))] = mark


def _odd_json(rng: Random) -> str:
    if rng.random() < 0.5:  # what could well stand there: one oddity alone seldom gets past the first check
        return rng.choice(("0", "1", "2", "3", "null", "0.5", '"R"', '"*<BP>G"', '"P>P"', '"end"', '"forfeit"', '"x"'))
    depth = rng.choice((1, 50, 2_000, 30_000))
    return rng.choice(
        (
            "null", "true", "false", "[]", "{}", "[[1]]", '{"a":1}', '{"a":1,"a":2}', "[" * depth + "]" * depth,
            '{"a":' * depth + "1" + "}" * depth, json.dumps("x" * rng.choice((21, 301, 2_001, 70_000))),
            rng.choice(NUMBERS), rng.choice(NUMBERS), json.dumps(rng.choice(NOISE)), json.dumps(rng.choice(NOISE)),
        )
    )  # fmt: skip


def mutated_toml(rng: Random, text: str) -> str:
    """A TOML file with some of its values replaced, lines doubled or moved, or mere mutations of the text."""
    lines = text.splitlines()
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(lines))
        key = re.match(r"(?:# )?([\w.]+) = ", lines[at])
        match rng.randrange(5):
            case 0:
                lines.insert(rng.randint(0, len(lines)), lines[at])
            case 1:
                lines.insert(at, f"{_odd_key(rng)} = {_odd_toml(rng)}")
            case 2:
                lines.insert(at, rng.choice(("[{}]", "[[{}]]")).format(_odd_key(rng)))
            case _ if key:
                lines[at] = f"{key[1]} = {_odd_toml(rng)}"
    text = "\n".join(lines)
    return mutated_text(rng, text) if rng.random() < 0.2 else text


def _odd_key(rng: Random) -> str:
    deep = ".".join(["a"] * rng.choice((2, 30, 1_500)))
    known = rng.choice(("name", "seats", "sandbox", "clock", "sandbox.cpus", "clock.move_ms", "command", "author"))
    return rng.choice((deep, known, known, f"{known}.{deep}", json.dumps(rng.choice(NOISE)), '""', "k" * 2_000))


def _odd_toml(rng: Random) -> str:
    if rng.random() < 0.4:
        return rng.choice(
            ("2", "50", "1000", "0.5", "[2, 4]", '"end"', '"x"', '"0-3,5"', '"python"', '["./x"]', '["python", "x"]')
        )
    depth = rng.choice((1, 50, 900, 3_500))
    odd = rng.choice(NOISE)
    return rng.choice(
        (
            "true", "[]", "{}", "{a = 1}", "[1, 'a', 2.0]", "[" * depth + "]" * depth,
            "{a = " * depth + "1" + "}" * depth, "[" + "2," * 1_000 + "]", "1979-05-27",
            "07:32:00", "1979-05-27T07:32:00+24:00", "0b1", "0o7", '"""a\nb"""',
            rng.choice(NUMBERS), rng.choice(NUMBERS), json.dumps(odd), f"'{odd}'", json.dumps(odd * 20),
            '"tcp"', "'1-2,9'",
        )
    )  # fmt: skip


def wire_message(rng: Random, depth: int = 0) -> bytes:
    """Bytes that follow the form of protobuf more or less: any fields, of any types, nested, lying or cut short."""
    return b"".join(_field(rng, depth) for _ in range(rng.randint(0 if depth else 1, 4)))


def _field(rng: Random, depth: int) -> bytes:
    number = rng.choice((1, 1, 1, 2, 2, 2, 3, 4, 5, 9, 10, 12, 0, 15, 16, 19_000, 2**29 - 1))
    match rng.randrange(9):
        case 0 | 1:
            return varint(number << 3) + rng.choice(
                (
                    varint(rng.choice((0, 1, 2, 127, 2**31, 2**32, 2**63, 2**64 - 1))),
                    b"\xff" * rng.choice((3, 9, 10, 11)),
                )
            )
        case 2:
            return varint(number << 3 | 1) + rng.randbytes(rng.choice((8, 8, 3)))
        case 3:
            return varint(number << 3 | 5) + rng.randbytes(rng.choice((4, 4, 1)))
        case 4:
            nested = rng.choice((1, 5, 90, 120, 3_000))
            return varint(number << 3 | 3) * nested + varint(number << 3 | 4) * rng.choice((nested, nested, nested - 1))
        case 5:
            return varint(number << 3 | rng.choice((4, 6, 7)))
        case _:
            inside = rng.choice(
                (
                    rng.choice(("R", "R<R", "*<BP>G", "-", *NOISE)).encode(errors="surrogatepass"),
                    rng.randbytes(rng.choice((0, 1, 5, 200))),
                    wire_message(rng, depth + 1) if depth < 4 else b"",
                    wire_message(rng, depth + 1) if depth < 4 else b"",
                    b"R" * rng.choice((64, 65, 20_000)),
                )
            )
            length = rng.choice((len(inside), len(inside), len(inside), len(inside) + 1, 2**31, 2**63))
            return varint(number << 3 | 2) + varint(length) + inside


def tagged(number: int, content: bytes) -> bytes:
    """A field that holds bytes: text, or a message."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(number: int) -> bytes:
    """A number as protobuf writes it."""
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)
