"""Games a second of a league, ours against those of others, the same game and bots: python -m bench.league_peers.

Ours is a whole night in containers, twenty games a pairing: starting, playing, saving and removing included. psyleague
draws its pairings by chance and starts a game script and two bots, bare processes, for each game, as its manual has it;
beside it a script that plays twenty games between the same two processes, the best that its users could do.
kaggle-environments has no league: a process a core plays the pairings in turn, with agents behind its own HTTP
servers, bare processes that run before the time is taken. All of them play a game a core.

Rounds have four bots, and the peers play fewer games than ours, since their games a second stay what they are; the
league of twelve, 1,320 games of ours, is played once.
"""

import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib import metadata
from itertools import combinations
from json import loads
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

from bench.league import play_league
from bench.peers.processes import KAGGLE_AGENT, LINES_BOT, ask, environment, running, serving
from referee.run import default_jobs

TITLE: Final = "a league of fast bots against those of others, the same game and bots"
ROUNDS: Final = 7
AT_ONCE: Final = default_jobs()
BATCH: Final = 20

FIGURES: Final = {
    "ours_games_per_s": ("a night of ours, bots in containers, games a second", ""),
    "psyleague_games_per_s": ("psyleague, bare processes, a script a game, games a second", ""),
    "psyleague_batch_games_per_s": ("psyleague, bare processes, a script for twenty games, games a second", ""),
    "kaggle_http_games_per_s": ("kaggle-environments, agents behind its HTTP server, games a second", ""),
    "ours_vs_psyleague": ("games a second of ours / of psyleague", ">= 2.2"),
    "ours_vs_kaggle_http": ("games a second of ours / of kaggle-environments over HTTP", ">= 10"),
    "ours_vs_psyleague_batch": ("games a second of ours / of psyleague, a script for twenty games", ""),
    "twelve_ours_games_per_s": ("twelve bots, once: ours, games a second", ""),
    "twelve_ours_vs_psyleague": ("twelve bots, once: games a second of ours / of psyleague", ">= 2.2"),
    "twelve_ours_vs_kaggle_http": ("twelve bots, once: games a second of ours / of kaggle-environments", ">= 10"),
}


def measure() -> dict[str, float]:
    """Games a second each way, medians over the rounds, and medians of the rounds' ratios.

    Raises SandboxError where no engine is: ours are bots in containers.
    """
    with ExitStack() as stack:
        twelve = _Leagues(stack, 12)
        once = {"ours": twelve.ours(), "psyleague": twelve.psyleague(120), "kaggle_http": twelve.kaggle(12)}
    with ExitStack() as stack:
        four = _Leagues(stack, 4)
        four.kaggle(4)  # starts its pools of processes
        rounds = [
            {
                "ours": four.ours(),
                "psyleague": four.psyleague(20),
                "psyleague_batch": four.psyleague(4 * BATCH, BATCH),
                "kaggle_http": four.kaggle(4),
            }
            for _ in range(ROUNDS)
        ]
    figures = {f"{name}_games_per_s": median(each[name] for each in rounds) for name in rounds[0]}
    for peer in list(rounds[0])[1:]:
        figures[f"ours_vs_{peer}"] = median(each["ours"] / each[peer] for each in rounds)
    figures["twelve_ours_games_per_s"] = once["ours"]
    figures["twelve_ours_vs_psyleague"] = once["ours"] / once["psyleague"]
    figures["twelve_ours_vs_kaggle_http"] = once["ours"] / once["kaggle_http"]
    return figures


class _Leagues:
    """Leagues of so many copies of the sample bot `random`; each method plays one and gives games a second."""

    def __init__(self, stack: ExitStack, bots: int) -> None:
        self._stack = stack
        self._psyleagues: dict[int, str] = {}  # folders, by how many games a script plays
        self._names = [f"random{number}" for number in range(bots)]
        self._players = [stack.enter_context(running("kaggle_games")) for _ in range(AT_ONCE)]
        ports = [stack.enter_context(serving("kaggle_server", "http-server", "--port")) for _ in self._names]
        agents = [f"http://127.0.0.1:{port}?agents[]={KAGGLE_AGENT}" for port in ports]
        self._pairings = list(combinations(agents, 2))

    def ours(self) -> float:
        """A whole night, twenty games a pairing."""
        return play_league(len(self._names)).games_per_s

    def psyleague(self, games: int, batch: int = 1) -> float:
        """From the start of the first game script to the end of the last one: psyleague's own start is left out."""
        place = self._psyleagues.get(batch) or self._new_psyleague(batch)
        record = Path(place, "psyleague.games")
        record.write_text("")
        _psyleague(place, "run", "--games", str(games), "--silent")
        played = [loads(line)["test_data"] for line in record.read_text(encoding="utf-8").splitlines()]
        began: float = min(game["began"] for game in played)
        ended: float = max(game["ended"] for game in played)
        return len(played) / (ended - began)

    def _new_psyleague(self, batch: int) -> str:
        """A folder with its own settings, but for the workers and the ways to set up a bot and to play a game."""
        place = self._psyleagues[batch] = self._stack.enter_context(TemporaryDirectory(prefix="treelings-bench-"))
        settings = {
            **tomllib.loads(_psyleague_default()),
            "n_workers": AT_ONCE,
            "cmd_bot_setup": "cp %SRC% %DIR%/%NAME%.py",
            "cmd_play_game": f"{sys.executable} -m bench.peers.psyleague_game {batch} %DIR%/%P1%.py %DIR%/%P2%.py",
        }
        text = "".join(f"{name} = {value!r}\n" for name, value in settings.items())
        Path(place, "psyleague.cfg").write_text(text, encoding="utf-8")
        for name in self._names:
            _psyleague(place, "bot", "add", name, "--src", str(LINES_BOT))
        return place

    def kaggle(self, games: int) -> float:
        """One game of each of so many pairings."""
        halves = [self._pairings[at:games:AT_ONCE] for at in range(AT_ONCE)]

        def play(at: int) -> None:
            for number, agents in enumerate(halves[at]):
                ask(self._players[at], f"bench/{number} {' '.join(agents)}")

        began = perf_counter()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(play, range(AT_ONCE)))
        return games / (perf_counter() - began)


def _psyleague(place: str, *arguments: str) -> None:
    command = [sys.executable, "-m", "psyleague.psyleague", *arguments]
    subprocess.run(command, cwd=place, env=environment(), stdout=subprocess.DEVNULL, check=True)


def _psyleague_default() -> str:
    files = metadata.files("psyleague") or []
    return next(file for file in files if file.name == "psyleague.cfg").read_text()


if __name__ == "__main__":
    for name, figure in measure().items():
        print(f"{name:32}{figure:10.2f}  {FIGURES[name][1]}")
