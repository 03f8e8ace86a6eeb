"""Packages for the Python of an image, fetched by pip on this machine, since no container reaches a network."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from referee.errors import SandboxError
from referee.text import printable

_PIP_TIMEOUT_S: Final = 600
_WHEELS: Final = ("manylinux2014", "manylinux_2_28", "manylinux_2_34")


def fetch_wheels(
    folder: Path, requirements: Sequence[str], python: str, machine: str, *options: str
) -> Iterator[tuple[str, bytes]]:
    """Install wheels for a version of Python ("3.11") and a machine ("x86_64") into a folder: paths in it, contents.

    `options` are more of pip's. Raises SandboxError if they cannot be had.
    """
    command = [
        sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-compile",
        "--target", str(folder), "--only-binary", ":all:", "--implementation", "cp", "--python-version", python,
        *(f"--platform={wheel}_{machine}" for wheel in _WHEELS), *options, *requirements,
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PIP_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise SandboxError(f"pip: not done after {_PIP_TIMEOUT_S} s; is the package index reachable?") from error
    if done.returncode != 0:
        said = printable(done.stderr.decode("utf-8", "replace").strip(), 600)
        raise SandboxError(f"pip cannot get {' and '.join(requirements)} for Python {python}: {said}")
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield path.relative_to(folder).as_posix(), path.read_bytes()
