"""Descriptors of this process: how many are open, and a time in which no more can be."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager


def open_descriptors() -> int:
    """How many are open; Linux only."""
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - a path would be made for each


@contextmanager
def no_more_descriptors() -> Iterator[None]:
    """Opening anything fails with EMFILE meanwhile."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
