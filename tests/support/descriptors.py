"""Descriptors of this process: which are open, and a time in which no more can be."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress


def open_descriptors() -> set[tuple[str, str]]:
    """The number of each and what it stands for; Linux only.

    Not how many: others' threads and what was collected late may close some of those that were open before.
    """
    found: set[tuple[str, str]] = set()
    for number in os.listdir("/proc/self/fd"):  # noqa: PTH208 - a path would be made for each
        with suppress(FileNotFoundError):  # the listing's own, or one that was closed meanwhile
            found.add((number, os.readlink(f"/proc/self/fd/{number}")))  # noqa: PTH115
    return found


@contextmanager
def no_more_descriptors() -> Iterator[None]:
    """Opening anything fails with EMFILE meanwhile."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
