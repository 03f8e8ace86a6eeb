"""A load from outside: processes that take the cores from the referee and its bots."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_BURN: Final = """
import os, sys, time
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {int(sys.argv[1])})
ends = time.monotonic() + float(sys.argv[2])
print(flush=True)
while time.monotonic() < ends and os.getppid() == int(sys.argv[3]):
    pass
"""


@contextmanager
def outside_load(processes: int, *, at_most_s: float) -> Iterator[None]:
    """So many processes burn, spread over all cores of this machine, until the end of the block.

    None outlives `at_most_s`, nor the process that started it.
    """
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))
    burning = [
        subprocess.Popen(
            [sys.executable, "-c", _BURN, str(cores[number % len(cores)]), str(at_most_s), str(os.getpid())],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        )
        for number in range(processes)
    ]  # fmt: skip
    try:
        for process in burning:
            assert process.stdout is not None
            process.stdout.readline()  # it burns
        yield
    finally:
        for process in burning:
            process.kill()
        for process in burning:
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
