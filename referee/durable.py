"""Waiting until what was written is on the disk, so that it outlasts a power failure."""

import os
from pathlib import Path


def sync(path: Path) -> None:
    """Wait until the file, or which files are in the folder, is on the disk. Raises OSError."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def sync_tree(folder: Path) -> None:
    """Wait until a folder is on the disk with all that is in it; its own name is its parent's. Raises OSError."""
    for below, _, files in os.walk(folder, topdown=False):
        for name in (*files, "."):
            sync(Path(below, name))
