"""Plays one case in a process of its own, so that its memory, processor time and output are its own too.

`python -m tests.adversarial.alone KIND FILE` writes the outcome there, as JSON.
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
    with tempfile.TemporaryDirectory(prefix="outcome-") as folder:
        written = Path(folder) / "outcome.json"
        command = [sys.executable, "-m", "tests.adversarial.alone", kind, str(written)]
        try:
            done = subprocess.run(command, capture_output=True, cwd=_ROOT, timeout=_PATIENCE_S, check=False)
        except subprocess.TimeoutExpired as error:
            said = (error.stderr or b"").decode("utf-8", "replace")
            return Outcome(voids=[f"the referee hung for {_PATIENCE_S} s"], stderr=said)
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        if done.returncode != 0 or not written.exists():
            return Outcome(voids=[f"the referee ended with {done.returncode}"], stderr=said[-3_000:])
        outcome = Outcome.of(json.loads(written.read_text(encoding="utf-8")))
    outcome.stderr = said
    return outcome


def main() -> None:
    """Play the case that is named on the command line."""
    # Here, since whoever only starts such processes need not load what they need.
    from referee.loop import run
    from tests.adversarial.arena import play

    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        outcome = run(play(load(sys.argv[1]), Path(folder)))
    Path(sys.argv[2]).write_text(json.dumps(dataclasses.asdict(outcome)), encoding="utf-8")


if __name__ == "__main__":
    main()
