"""The reader of documents that other tests rely on does compare."""

from pathlib import Path

import pytest

from tests.support.walkthrough import Command, File, Reader, agrees, steps

DOCUMENT = """
# Title

```python title="a/bot.py"
print(1)
```

Some words.

```console
$ cat a/bot.py
print(1)
$ echo two
two
```

```python
not_a_file()
```
"""


def test_files_and_commands_come_in_order() -> None:
    assert list(steps(DOCUMENT)) == [
        File("a/bot.py", "print(1)\n"),
        Command("cat a/bot.py", "print(1)\n"),
        Command("echo two", "two\n"),
    ]


def test_a_document_that_tells_the_truth_can_be_followed(tmp_path: Path) -> None:
    Reader(tmp_path).follow(DOCUMENT)


def test_what_is_exported_is_there_for_later_commands(tmp_path: Path) -> None:
    Reader(tmp_path).follow("```console\n$ export WORD='one two'\n$ echo $WORD\none two\n```\n")


def test_who_goes_into_a_folder_stays_there(tmp_path: Path) -> None:
    Reader(tmp_path).follow("```console\n$ mkdir a && cd a\n$ basename $PWD\na\n```\n")


@pytest.mark.parametrize("line", ["echo two; echo more", "echo three", "echo two; false"])
def test_one_that_does_not_is_found_out(line: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=line):
        Reader(tmp_path).follow(f"```console\n$ {line}\ntwo\n```\n")


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("ready after 872 of 10,000 ms", "ready after 9 of 10,000 ms", True),
        ("took 872 ms at most", "took 1,002.5 ms  at most", True),
        ("otter  1.8 / 107  0", "otter  9 / 1,007.5  0", True),
        ("otter  1.8 / 107  0", "otter  9 / 1,007.5  1", False),
        ("took 872 games", "took 873 games", False),
        ("Secret: …", "Secret: 00ff", True),
        ("first\n…\nlast", "first\nsecond\nthird\nlast", True),
        ("first\n…\nlast", "first\nlast", True),
        ("first\n…\nlast", "first\nsecond", False),
        ("one", "one\ntwo", False),
        ("", "one", False),
        ("a.c", "abc", False),
    ],
)
def test_what_is_compared(expected: str, printed: str, *, same: bool) -> None:
    assert agrees(expected, printed) is same
