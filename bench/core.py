"""How fast the core plays, compiled and as it is, against other engines: python -m bench.core.

Contestants play random games, and each draws a move as `moves[int(random() * len(moves))]`. Counted are players'
moves alone; a game's set-up is timed with it wherever a game is played from its beginning. The compiled kit is built
as its wheel is and measured in one process with OpenSpiel and RLCard; the sources as they are run in another, with the
plain engine and python-chess. All take their turns within a round, one at a time.
"""

import os
import random
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

import treelings.rules
from bench.plain import PlainState
from treelings import State, View, derive_deck

ROUNDS: Final = 9
GAMES: Final = 200
TIMES: Final = 5  # that each deck or position is played in a round
ROLLOUTS: Final = 25  # the same of a position of hearts, which are fewer
DECKS: Final = tuple(derive_deck(bytes(32), f"bench/{number}") for number in range(GAMES))
ROOT: Final = Path(__file__).parents[1]
HEARTS_CHANCES: Final = 53  # the direction of the pass and 52 cards; all else are players' moves

TITLE = "the core: random games of two seats, moves a second"
FIGURES = {
    "rollouts_vs_hearts": (
        "compiled, playouts of dealt positions, against OpenSpiel's C++ rollouts of hearts",
        ">= 1.5",
    ),
    "stepped_vs_hearts": ("compiled, whole games stepped from Python, against its hearts stepped likewise", ">= 3"),
    "dealt_vs_hearts": ("the same two from dealt positions on, without the dealing that hearts does card by card", ""),
    "stepped_vs_uno": ("compiled, whole games stepped from Python, against RLCard's uno", ">= 35"),
    "stepped_vs_bare_uno": ("the same, against the game inside of its environment, which encodes nothing", ""),
    "source_vs_plain": ("source as it is, stepped, against a plain dataclass engine of the same rules", ">= 4"),
    "source_vs_chess": ("source as it is, stepped, against python-chess", ">= 8"),
    "source_playouts_vs_chess": ("source as it is, playouts, against python-chess", ">= 25"),
    "compiled_vs_source": ("compiled against the source as it is, stepped", ""),
    "compiled_playouts_vs_source": ("the same, playouts", ""),
    "compiled_playouts_per_s": ("compiled, playouts, moves a second", ""),
    "compiled_stepped_per_s": ("compiled, stepped from Python", ""),
    "source_playouts_per_s": ("source as it is, playouts", ""),
    "source_stepped_per_s": ("source as it is, stepped", ""),
    "hearts_rollouts_per_s": ("OpenSpiel's hearts, rollouts in C++", ""),
    "hearts_stepped_per_s": ("OpenSpiel's hearts, stepped from Python", ""),
    "uno_stepped_per_s": ("RLCard's uno, stepped", ""),
    "plain_stepped_per_s": ("the plain dataclass engine, stepped", ""),
    "chess_stepped_per_s": ("python-chess, stepped", ""),
    "compiled_sample_us": ("compiled, View.sample after ten turns, microseconds", ""),
    "source_sample_us": ("source as it is, the same", ""),
}


def measure() -> dict[str, float]:
    """Ratios and moves a second, medians over the rounds; the first round fills tables and is not counted."""
    with tempfile.TemporaryDirectory() as folder, _players(_compiled_kit(Path(folder))) as fast, _players() as source:
        if not fast("is_compiled") or source("is_compiled"):
            raise RuntimeError("expected the kit of the wheel compiled, and the kit of the checkout as it is")
        rounds = [_round(fast, source) for _ in range(ROUNDS + 1)][1:]
    return {name: median(each[name] for each in rounds) for name in FIGURES}


def _round(fast: Callable[[str], float], source: Callable[[str], float]) -> dict[str, float]:
    taken = {
        "compiled_playouts_per_s": fast("playouts"),
        "hearts_rollouts_per_s": fast("hearts_rollouts"),
        "source_playouts_per_s": source("playouts"),
        "compiled_stepped_per_s": fast("stepped"),
        "hearts_stepped_per_s": fast("hearts_stepped"),
        "uno_stepped_per_s": fast("uno_stepped"),
        "source_stepped_per_s": source("stepped"),
        "plain_stepped_per_s": source("plain_stepped"),
        "chess_stepped_per_s": source("chess_stepped"),
        "compiled_sample_us": fast("sample_us"),
        "source_sample_us": source("sample_us"),
    }
    return taken | {
        "rollouts_vs_hearts": taken["compiled_playouts_per_s"] / taken["hearts_rollouts_per_s"],
        "stepped_vs_hearts": taken["compiled_stepped_per_s"] / taken["hearts_stepped_per_s"],
        "dealt_vs_hearts": fast("dealt") / fast("hearts_dealt"),
        "stepped_vs_bare_uno": taken["compiled_stepped_per_s"] / fast("uno_bare"),
        "stepped_vs_uno": taken["compiled_stepped_per_s"] / taken["uno_stepped_per_s"],
        "source_vs_plain": taken["source_stepped_per_s"] / taken["plain_stepped_per_s"],
        "source_vs_chess": taken["source_stepped_per_s"] / taken["chess_stepped_per_s"],
        "source_playouts_vs_chess": taken["source_playouts_per_s"] / taken["chess_stepped_per_s"],
        "compiled_vs_source": taken["compiled_stepped_per_s"] / taken["source_stepped_per_s"],
        "compiled_playouts_vs_source": taken["compiled_playouts_per_s"] / taken["source_playouts_per_s"],
    }


def _compiled_kit(folder: Path) -> Path:
    """The kit's wheel, compiled and unpacked."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), str(ROOT / "sdk")]
    subprocess.run(command, env=os.environ | {"TREELINGS_COMPILE": "1"}, check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@contextmanager
def _players(kit: Path | None = None) -> Iterator[Callable[[str], float]]:
    """A process that plays what it is told by name, with this kit or else the installed one."""
    environment = os.environ | ({"PYTHONPATH": str(kit)} if kit else {})
    command = [sys.executable, "-m", "bench.core", "play"]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        wishes, answers = process.stdin, process.stdout

        def play(name: str) -> float:
            print(name, file=wishes, flush=True)
            answer = answers.readline()
            if not answer:
                raise RuntimeError(f"{name} could not be played: {' '.join(command)} ended with {process.wait()}")
            return float(answer)

        yield play
        wishes.close()


# --- In the process that plays ------------------------------------------------------------------------------------


class Players:
    """One round of each contestant: moves a second, unless its name says otherwise."""

    def __init__(self) -> None:
        self.rng = random.Random(2026)
        self.positions = [State.deal(deck, 2) for deck in DECKS]
        state = State.deal(DECKS[0], 2)
        for _ in range(10):
            state.play(state.legal_moves()[0])
        self.view = View.of(state)
        self._hearts: Any = None
        self._hearts_dealt: list[Any] = []

    def is_compiled(self) -> float:
        """1 if the kit is compiled, 0 if its sources run as they are."""
        return float(not str(treelings.rules.__file__).endswith(".py"))

    def playouts(self) -> float:
        """The core's own loop."""
        rng = self.rng
        moves = 0
        began = perf_counter()
        for position in self.positions * TIMES:
            state = position.copy()
            state.playout(rng)
            moves += state.turn
        return moves / (perf_counter() - began)

    def stepped(self) -> float:
        """Whole games from the deck."""
        random = self.rng.random
        moves = 0
        began = perf_counter()
        for deck in DECKS * TIMES:
            state = State.deal(deck, 2)
            while not state.over:
                legal = state.legal_moves()
                state.play(legal[int(random() * len(legal))])
            moves += state.turn
        return moves / (perf_counter() - began)

    def dealt(self) -> float:
        """Games from dealt positions on."""
        random = self.rng.random
        moves = 0
        began = perf_counter()
        for position in self.positions * TIMES:
            state = position.copy()
            while not state.over:
                legal = state.legal_moves()
                state.play(legal[int(random() * len(legal))])
            moves += state.turn
        return moves / (perf_counter() - began)

    def sample_us(self) -> float:
        """Microseconds of a sample, as a Monte Carlo bot takes it."""
        times = 500
        began = perf_counter()
        for _ in range(times):
            self.view.sample(self.rng)
        return (perf_counter() - began) / times * 1e6

    def hearts_rollouts(self) -> float:
        """OpenSpiel's own evaluator, which clones a position and plays it to its end, all in C++."""
        import pyspiel

        game, positions = self._dealt_hearts()
        evaluator = pyspiel.RandomRolloutEvaluator(ROLLOUTS, self.rng.randrange(2**31))
        # One simulation of its search does nothing but have the root evaluated.
        search = pyspiel.MCTSBot(game, evaluator, 2.0, 1, 1000, False, 1, False)  # noqa: FBT003
        began = perf_counter()
        for state, _ in positions:
            search.mcts_search(state)
        return sum(ROLLOUTS * moves for _, moves in positions) / (perf_counter() - began)

    def hearts_stepped(self) -> float:
        """Whole games, the dealing included, which is a move of chance for each card there."""
        random = self.rng.random
        game, _ = self._dealt_hearts()
        moves = 0
        began = perf_counter()
        for _ in range(GAMES):
            state = game.new_initial_state()
            while not state.is_terminal():
                legal = state.legal_actions()
                state.apply_action(legal[int(random() * len(legal))])
                moves += 1
            moves -= HEARTS_CHANCES
        return moves / (perf_counter() - began)

    def hearts_dealt(self) -> float:
        """Games from dealt positions on."""
        random = self.rng.random
        _, positions = self._dealt_hearts()
        began = perf_counter()
        for position, _ in positions * TIMES:
            state = position.clone()
            while not state.is_terminal():
                legal = state.legal_actions()
                state.apply_action(legal[int(random() * len(legal))])
        return TIMES * sum(moves for _, moves in positions) / (perf_counter() - began)

    def uno_stepped(self) -> float:
        """RLCard's environment, as its users step it: each step tells what the next player sees and may do."""
        import rlcard

        random = self.rng.random
        moves = 0
        environment = rlcard.make("uno", config={"seed": self.rng.randrange(2**31)})
        began = perf_counter()
        for _ in range(GAMES // 20):
            state, _ = environment.reset()
            while not environment.is_over():
                legal = list(state["legal_actions"])
                state, _ = environment.step(legal[int(random() * len(legal))])
                moves += 1
        return moves / (perf_counter() - began)

    def uno_bare(self) -> float:
        """RLCard's game inside its environment, which shows nobody anything."""
        from rlcard.games.uno import Game

        random = self.rng.random
        moves = 0
        began = perf_counter()
        for _ in range(GAMES // 20):
            game = Game()
            game.init_game()
            while not game.is_over():
                legal = game.get_legal_actions()
                game.step(legal[int(random() * len(legal))])
                moves += 1
        return moves / (perf_counter() - began)

    def plain_stepped(self) -> float:
        """The same rules, plainly written."""
        random = self.rng.random
        moves = 0
        began = perf_counter()
        for deck in DECKS[: GAMES // 10]:
            state = PlainState.deal(deck, 2)
            while not state.over:
                legal = state.legal_moves()
                state.play(legal[int(random() * len(legal))])
            moves += state.turn
        return moves / (perf_counter() - began)

    def chess_stepped(self) -> float:
        """Chess to the end of the game."""
        import chess

        random = self.rng.random
        moves = 0
        began = perf_counter()
        for _ in range(3):
            board = chess.Board()
            while not board.is_game_over():
                legal = list(board.legal_moves)
                board.push(legal[int(random() * len(legal))])
                moves += 1
        return moves / (perf_counter() - began)

    def _dealt_hearts(self) -> tuple[Any, list[tuple[Any, int]]]:
        """The game, and dealt positions of it with the moves from each to the end, which no play changes."""
        if self._hearts is None:
            import pyspiel

            self._hearts = pyspiel.load_game("hearts")
            for _ in range(GAMES // 5):
                state = self._hearts.new_initial_state()
                while state.is_chance_node():
                    state.apply_action(self.rng.choice(state.legal_actions()))
                end = state.clone()
                while not end.is_terminal():
                    end.apply_action(end.legal_actions()[0])
                assert len(state.history()) == HEARTS_CHANCES
                self._hearts_dealt.append((state, len(end.history()) - HEARTS_CHANCES))
        return self._hearts, self._hearts_dealt


def main(arguments: list[str]) -> None:
    """Print the figures; or, told to play, answer each name that comes with a figure."""
    if arguments == ["play"]:
        players = Players()
        for line in sys.stdin:
            print(getattr(players, line.strip())(), flush=True)
    else:
        for name, figure in measure().items():
            print(f"{name:30}{figure:14,.2f}  {FIGURES[name][1]}")


if __name__ == "__main__":
    main(sys.argv[1:])
