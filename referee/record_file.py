"""Adding records to a file, one a line: each line whole, or not there."""

import os
import stat
from io import FileIO
from pathlib import Path
from typing import Final

from referee.errors import RecordError
from referee.model import GameRecord
from referee.records import to_json
from referee.text import printable

_SHOWN: Final = 200


def append_record(path: Path, record: GameRecord) -> None:
    """Add a record to a `.jsonl` file, on a line of its own also where the last one has no end. Raises RecordError."""
    line = to_json(record)
    try:
        with path.open("a+b", buffering=0) as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                line = line if file.read() == b"\n" else "\n" + line
            add_line(file, line)
    except OSError as error:
        name = printable(path.name, _SHOWN)
        raise RecordError(f"{name}: the record of {record.id} cannot be written: {error.strerror}") from None


def add_line(file: FileIO, line: str) -> None:
    """Write a line at the end of a file that was opened for appending: all of it, or nothing where there is no room.

    Raises OSError.
    """
    raw = f"{line}\n".encode()
    before = os.fstat(file.fileno()).st_size
    written = 0
    try:
        while written < len(raw):
            written += file.write(raw[written:])
    except OSError:
        if written and is_plain(file):
            file.truncate(before)
        raise


def is_plain(file: FileIO) -> bool:
    """Whether it is a file on a disk, and no pipe or device: it can be cut, and lasts."""
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)
