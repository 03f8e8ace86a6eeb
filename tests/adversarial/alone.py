"""Plays one case in a process of its own, so that its memory, processor time and output are its own too.

`python -m tests.adversarial.alone KIND` prints the outcome as JSON.
"""

import dataclasses
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.support.hostile import Outcome, load

_ROOT: Final = Path(__file__).parents[2]
_PATIENCE_S: Final = 120


def play_alone(kind: str) -> Outcome:
    """The outcome of a kind's case. A referee that dies or hangs has void games, with what it printed."""
    command = [sys.executable, "-m", "tests.adversarial.alone", kind]
    try:
        done = subprocess.run(command, capture_output=True, cwd=_ROOT, timeout=_PATIENCE_S, check=False)
    except subprocess.TimeoutExpired as error:
        said = (error.stderr or b"").decode("utf-8", "replace")
        return Outcome(voids=[f"the referee hung for {_PATIENCE_S} s"], stderr=said)
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode != 0:
        return Outcome(voids=[f"the referee ended with {done.returncode}"], stderr=said[-3_000:])
    outcome = Outcome.of(json.loads(done.stdout))
    outcome.stderr = said
    return outcome


def main() -> None:
    """Play the case that is named on the command line."""
    # Here, since whoever only starts such processes need not load what they need.
    from referee.loop import run
    from tests.adversarial.arena import play

    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        outcome = run(play(load(sys.argv[1]), Path(folder)))
    json.dump(dataclasses.asdict(outcome), sys.stdout)


if __name__ == "__main__":
    main()
