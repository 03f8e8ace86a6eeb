"""Documents that a reader follows step by step: their files are written, their commands run, their outputs compared.

A block that is fenced as ```python title="otter/bot.py" is a file. One that is fenced as ```console holds commands,
each behind "$ ", and below each what it prints on both its streams. In it "…" stands for any text, and on a line of
its own for any lines. Not compared are numbers before "ms", those of "1.8 / 107", and that a check finds a step slow:
no two machines are as fast.

`python -m tests.support.walkthrough docs/tutorial.md` follows a document and writes anew what is printed otherwise.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```(?P<kind>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_MS = re.compile(r"\d[\d,.]*(?: / \d[\d,.]*| (?:of [\d,]+ )?ms\b)")
_SLOW_STEP = re.compile(r"^! (.*\n) +→ .*more than half of its .*too late\n", re.MULTILINE)
_LOOK_AT = re.compile(r" is ready to play, with \d things? to look at \(!\)\.")
_ANY = "…"
_TYPED = "q\ny\n"  # for commands that ask: the reader leaves, and is sure


@dataclass(frozen=True, slots=True)
class File:
    """A file that the reader writes."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """What the reader types in a shell, and what the document says that it prints."""

    line: str
    output: str


def steps(document: str) -> Iterator[File | Command]:
    """What a reader of the document does, in order."""
    for block in _BLOCK.finditer(document):
        if block["title"]:
            yield File(block["title"], block["text"])
        elif block["kind"] == "console":
            for command in re.split(r"^\$ ", block["text"], flags=re.MULTILINE)[1:]:
                line, _, output = command.partition("\n")
                yield Command(line, output)


class Reader:
    """Somebody who does what a document says, in one folder and one shell."""

    def __init__(self, folder: Path) -> None:
        scripts = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._folder = folder
        self._env = {
            **os.environ,
            "PWD": str(folder),
            "PATH": scripts,
            "COLUMNS": "96",
            "USER": "ann",
            "LOGNAME": "ann",
        }
        self._env["GIT_CONFIG_GLOBAL"] = self._env["GIT_CONFIG_SYSTEM"] = os.devnull

    def write(self, file: File) -> None:
        """Write a file as the document shows it."""
        path = self._folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8")

    def run(self, command: Command) -> str:
        """Type a command and read what it prints. Raises AssertionError if it fails."""
        with tempfile.NamedTemporaryFile() as shell:  # where it is then, and what it has exported
            done = subprocess.run(
                ["bash", "-c", f"{command.line}\ncode=$?; env -0 > {shell.name}; exit $code"],
                cwd=self._env["PWD"], env=self._env, input=_TYPED,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, check=False,
            )  # fmt: skip
            assert done.returncode == 0, f"{command.line}: exit code {done.returncode}\n{done.stdout}"
            entries = Path(shell.name).read_text(encoding="utf-8").split("\0")[:-1]
        self._env = dict(entry.split("=", 1) for entry in entries)
        return done.stdout

    def follow(self, document: str) -> None:
        """Do all that it says. Raises AssertionError where a command fails or prints something else."""
        for step in steps(document):
            if isinstance(step, File):
                self.write(step)
            else:
                printed = self.run(step)
                told = f"{step.line}\nthe document says\n{step.output}\nit printed\n{printed}"
                assert agrees(step.output, printed), told


def agrees(expected: str, printed: str) -> bool:
    """Whether a command printed what a document says; how many spaces stand between words is free."""
    pattern = "".join(
        r"(?:.*\n)*" if line == _ANY else _pattern(line) + "\n" for line in map(_plain, expected.strip().splitlines())
    )
    printed = _unhurried(printed).strip()
    return re.fullmatch(pattern, "".join(f"{_plain(line)}\n" for line in printed.splitlines())) is not None


def _unhurried(printed: str) -> str:
    """What `treelings check` prints where no machine keeps a bot from its work for half of its time."""
    quick = _SLOW_STEP.sub(r"✓ \1", printed)
    return quick if quick == printed or "\n! " in quick else _LOOK_AT.sub(" is ready to play.", quick)


def _plain(line: str) -> str:
    return " ".join(_MS.sub("#", line).split())


def _pattern(line: str) -> str:
    return ".*".join(map(re.escape, line.split(_ANY)))


def _written_anew(document: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(Path(folder))
        at = 0  # all before it is written; the same command may come twice
        for step in steps(document):
            if isinstance(step, File):
                reader.write(step)
                continue
            head = f"$ {step.line}\n"
            at = document.index(head, at) + len(head)
            printed = reader.run(step)
            if not agrees(step.output, printed):
                text = "".join(f"{line.rstrip()}\n" for line in printed.strip().splitlines())
                document = document[:at] + text + document[at + len(step.output) :]
    return document


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(_written_anew(path.read_text(encoding="utf-8")), encoding="utf-8")
