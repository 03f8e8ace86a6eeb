"""The entry of the command line: runs it and turns every end into words and an exit code.

Exit codes: 0 done, 1 it failed, 2 wrong use.
"""

import gc
import os
import sys
from typing import Final, NoReturn

from referee.interruption import heed_once

COLLECT_AFTER: Final = 20_000
"""New objects: modules and records are many that stay, and looking for cycles among them took a seventh of the time."""


def main() -> NoReturn:
    """Run `treelings`; every error that is ours or the user's ends in one or two lines, never in a traceback."""
    heed_once()
    gc.set_threshold(COLLECT_AFTER)
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character shows its number, rather than ending the command.
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")
    try:
        # Here, so that Ctrl-C while modules are loaded ends in words as well.
        from referee.cli.app import run

        code = run()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        code = 1
    except OSError:  # of its own words about another error: there is no room for these either
        code = 1
    sys.exit(_written_out(code))


def _written_out(code: int) -> int:
    """The exit code, once all that was printed has gone out; 1 for 0 where it cannot, as on a full disk.

    What is left is dropped then: Python would try once more, and end with words of its own and an exit code of 120.
    """
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None: closed by whoever called
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            code = code or 1
    return code


if __name__ == "__main__":
    main()
