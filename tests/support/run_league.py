"""`python -m tests.support.run_league FOLDER SANDBOX`: run a league, telling every game as it is done."""

import sys
from pathlib import Path

from referee.league import League
from referee.loop import run
from referee.model import GameRecord, VoidGame
from referee.sandbox.docker import DockerSandbox
from referee.sandbox.process import ProcessSandbox


class Aloud:
    """A progress that prints each game's id on a line of its own."""

    def begin(self, done: int, total: int) -> None:
        print(f"begin {done} of {total}", flush=True)

    def game_done(self, record: GameRecord) -> None:
        print(record.id, flush=True)

    def game_void(self, void: VoidGame) -> None:
        print(f"void {void}", flush=True)


if __name__ == "__main__":
    with League.open(Path(sys.argv[1])) as league:
        sandbox = ProcessSandbox() if sys.argv[2] == "process" else DockerSandbox(league=league.name)
        run(league.run(sandbox, progress=Aloud(), jobs=2))
