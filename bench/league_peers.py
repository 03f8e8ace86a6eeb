"""Games a second of a league, ours against those of others, the same game and bots: python -m bench.league_peers.

Ours is a whole night in containers, twenty games a pairing: starting, playing, saving and removing included. psyleague
draws its pairings by chance and starts a game script and two bots, bare processes, for each game, as its manual has it;
beside it a script that plays twenty games between the same two processes, the best that its users could do.
kaggle-environments has no league: two processes of its play the pairings in turn, with agents behind its own HTTP
servers, bare processes that run before the time is taken. All of them play two games at a time.

A round has four bots; `python -m bench.league_peers whole` plays a single one with twelve: 1,320 games of ours, 400 of
psyleague (its games a second stay what they are), and one game a pairing of kaggle-environments.
"""

import shutil
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

from bench.peers.processes import KAGGLE_AGENT, LINES_BOT, ask, environment, running, serving
from referee.league import League
from referee.limits import Limits
from referee.loop import run
from referee.model import GameRecord, VoidGame
from referee.sandbox.choose import choose_sandbox
from referee.submissions import find_bot

TITLE: Final = "a league of fast bots against those of others, the same game and bots"
ROUNDS: Final = 7
BOTS: Final = 4
AT_ONCE: Final = 2
BATCH: Final = 20

FIGURES: Final = {
    "ours_games_per_s": ("a night of ours, bots in containers, games a second", ""),
    "psyleague_games_per_s": ("psyleague, bare processes, a script a game, games a second", ""),
    "psyleague_batch_games_per_s": ("psyleague, bare processes, a script for twenty games, games a second", ""),
    "kaggle_http_games_per_s": ("kaggle-environments, agents behind its HTTP server, games a second", ""),
    "ours_vs_psyleague": ("games a second of ours / of psyleague", ">= 2.2"),
    "ours_vs_kaggle_http": ("games a second of ours / of kaggle-environments over HTTP", ">= 10"),
    "ours_vs_psyleague_batch": ("games a second of ours / of psyleague, a script for twenty games", ""),
}


def measure() -> dict[str, float]:
    """Games a second each way, medians over the rounds, and medians of the rounds' ratios.

    Raises SandboxError where no engine is: ours are bots in containers.
    """
    with ExitStack() as stack:
        leagues = _Leagues(stack, BOTS)
        leagues.kaggle()  # starts its pools of processes
        return _figures([leagues.all(psyleague=20) for _ in range(ROUNDS)])


def whole() -> dict[str, float]:
    """The same of a single round with twelve bots."""
    with ExitStack() as stack:
        return _figures([_Leagues(stack, 12).all(psyleague=400)])


def _figures(rounds: list[dict[str, float]]) -> dict[str, float]:
    figures = {f"{name}_games_per_s": median(each[name] for each in rounds) for name in rounds[0]}
    for ratio in FIGURES:
        above, _, below = ratio.partition("_vs_")
        if below:
            figures[ratio] = median(each[above] / each[below] for each in rounds)
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

    def all(self, psyleague: int) -> dict[str, float]:
        """One of each; `psyleague` is how many games that one plays."""
        return {
            "ours": self.ours(),
            "psyleague": self.psyleague(psyleague),
            "psyleague_batch": self.psyleague(4 * psyleague, BATCH),
            "kaggle_http": self.kaggle(),
        }

    def ours(self) -> float:
        sandbox, _ = choose_sandbox("docker", league="bench", limits=Limits(), report=_to_stderr)
        with (
            TemporaryDirectory(prefix="treelings-bench-") as place,
            League.create(Path(place, "league"), "bench") as league,
        ):
            for name in self._names:
                bot = Path(place, name)
                shutil.copytree(find_bot("random"), bot, ignore=shutil.ignore_patterns("__pycache__"))
                settings = (bot / "bot.toml").read_text(encoding="utf-8")
                (bot / "bot.toml").write_text(settings.replace('"random"', f'"{name}"'), encoding="utf-8")
                league.add(bot)
            began = perf_counter()
            played = run(league.run(sandbox, progress=_Quiet(), jobs=AT_ONCE)).played
            return played / (perf_counter() - began)

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

    def kaggle(self) -> float:
        """One game a pairing."""
        halves = [self._pairings[at::AT_ONCE] for at in range(AT_ONCE)]

        def play(at: int) -> None:
            for number, agents in enumerate(halves[at]):
                ask(self._players[at], f"bench/{number} {' '.join(agents)}")

        began = perf_counter()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(play, range(AT_ONCE)))
        return len(self._pairings) / (perf_counter() - began)


class _Quiet:
    """A progress that shows nothing."""

    def begin(self, done: int, total: int) -> None:
        pass

    def game_done(self, record: GameRecord) -> None:
        pass

    def game_void(self, void: VoidGame) -> None:
        raise RuntimeError(f"a void game would make the figure a lie: {void}")


def _psyleague(place: str, *arguments: str) -> None:
    command = [sys.executable, "-m", "psyleague.psyleague", *arguments]
    subprocess.run(command, cwd=place, env=environment(), stdout=subprocess.DEVNULL, check=True)


def _psyleague_default() -> str:
    files = metadata.files("psyleague") or []
    return next(file for file in files if file.name == "psyleague.cfg").read_text()


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr)


if __name__ == "__main__":
    for name, figure in (whole() if sys.argv[1:] == ["whole"] else measure()).items():
        print(f"{name:32}{figure:10.2f}  {FIGURES[name][1]}")
