"""Lines that are typed or come through a pipe."""

import asyncio
import os
import threading
from collections.abc import Iterator

import pytest

from referee.cli.keyboard import Keyboard

PATIENCE_S = 60.0


@pytest.fixture
def pipe() -> Iterator[tuple[Keyboard, int]]:
    """A keyboard, and where to write what is typed."""
    read, write = os.pipe()
    yield Keyboard(read), write
    for thread in threading.enumerate():
        if thread.name == "keyboard":
            thread.join(PATIENCE_S)  # else it could read what others open next, which is likely to have this number
    os.close(read)


async def lines(keyboard: Keyboard) -> list[str]:
    found = []
    while (line := await keyboard.line()) is not None:
        found.append(line)
    return found


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (b"", []),
        (b"1\n", ["1"]),
        (b"1\n\n R<R \n", ["1", "", " R<R "]),
        (b"1\n2", ["1", "2"]),  # the input ended in mid-line
        ("Ä\n".encode(), ["Ä"]),
        (b"\xff\n", [r"\xff"]),
    ],
)
async def test_lines_come_one_by_one_until_the_input_ends(
    pipe: tuple[Keyboard, int], typed: bytes, expected: list[str]
) -> None:
    keyboard, write = pipe
    os.write(write, typed)
    os.close(write)
    assert await lines(keyboard) == expected
    assert await keyboard.line() is None  # and stays ended


async def test_a_line_that_comes_in_pieces_is_one(pipe: tuple[Keyboard, int]) -> None:
    keyboard, write = pipe
    waiting = asyncio.create_task(keyboard.line())
    for piece in (b"*<B", b"P>G", b"\n"):
        os.write(write, piece)
        await asyncio.sleep(0)  # the loop goes on meanwhile
    assert await waiting == "*<BP>G"
    os.close(write)


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("length", [1_001, 4_096, 8_000, 50_000])
async def test_a_line_is_cut_to_what_a_person_may_type(pipe: tuple[Keyboard, int], length: int, end: bytes) -> None:
    keyboard, write = pipe
    waiting = asyncio.create_task(lines(keyboard))
    await asyncio.to_thread(os.write, write, b"x" * length + end)
    os.close(write)
    assert [len(line) for line in await waiting] == [1_000]


async def test_whoever_waits_for_a_line_can_be_called_off(pipe: tuple[Keyboard, int]) -> None:
    keyboard, write = pipe
    waiting = asyncio.create_task(keyboard.line())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    os.close(write)


async def test_an_input_that_is_none_has_ended() -> None:
    assert await Keyboard(-1).line() is None
