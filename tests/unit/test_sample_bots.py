"""The sample bots: what they may import, that each plays legally and the same again, and who is the stronger.

The order is tested on fixed deals with bots that draw from fixed seeds, so each figure below is one number and
not a chance; `rollout` and `mcts` have a clock that stands still here, and count their tries instead.
"""

import ast
import sys
import tomllib
from concurrent.futures import ProcessPoolExecutor
from itertools import chain, cycle, islice, repeat
from multiprocessing import get_context
from typing import Any

import pytest

import treelings
from tests.support.local import SAMPLE_BOTS, Result, compete, play, sample_bot, summary
from treelings import Bot, Clock, GameStart, Refill, State, View, derive_deck

TRIES = {"rollout": "most_games", "mcts": "most_iterations"}
"""What a bot with a clock calls the most tries that it makes for a move."""
ROLLOUT_GAMES_AN_ITERATION = 1.8
"""Random games that `rollout` plays in the time of one iteration of `mcts`, by processor time."""
BY_STRENGTH = ("random", "greedy", "neighbour", "rollout", "mcts")
DECK = derive_deck(bytes(32), "demo/0")


def untimed(name: str, tries: int = 400) -> type[Bot]:
    """The bot; where it has a clock, that stands still, and the bot makes this many tries a move."""
    bot = sample_bot(name)
    if name not in TRIES:
        return bot
    return type(f"Untimed{bot.__name__}", (bot,), {TRIES[name]: tries, "now": staticmethod(lambda: 0.0)})


def test_there_are_five_sample_bots_and_one_in_another_language() -> None:
    assert {folder.name for folder in SAMPLE_BOTS.iterdir() if folder.is_dir()} == {*BY_STRENGTH, "javascript"}


@pytest.mark.parametrize("name", BY_STRENGTH)
def test_a_sample_bot_says_what_it_is_and_how_it_starts(name: str) -> None:
    assert tomllib.loads((SAMPLE_BOTS / name / "bot.toml").read_text()) == {
        "name": name,
        "author": "Treelings League",
        "command": ["python", "bot.py"],
        "runtime": "python",
    }


@pytest.mark.parametrize("name", BY_STRENGTH)
def test_a_sample_bot_needs_public_names_of_the_kit_and_the_standard_library_alone(name: str) -> None:
    tree = ast.parse((SAMPLE_BOTS / name / "bot.py").read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                assert alias.name == "treelings" or alias.name.split(".")[0] in sys.stdlib_module_names
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None
            assert node.module.split(".")[0] in sys.stdlib_module_names
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "treelings":
            assert node.attr in treelings.__all__


@pytest.mark.parametrize("refill", ["start", "end"])
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_all_of_them_play_legal_moves_to_the_end_at_any_table(players: int, refill: Refill) -> None:
    names = islice(cycle(BY_STRENGTH), players)
    state, moves = play([untimed(name, tries=20) for name in names], DECK, refill)
    assert state.over
    assert len(moves) == state.turn


@pytest.mark.parametrize("name", BY_STRENGTH)
def test_a_sample_bot_plays_a_game_of_the_same_name_the_same_again(name: str) -> None:
    bot = untimed(name, tries=20)
    games = [play([bot, bot], DECK, game=game)[1] for game in ("one", "one", "two")]
    assert games[0] == games[1]
    assert games[0] != games[2]


def samples(stronger: str, weaker: list[str], tries: tuple[int, int], deals: range) -> list[float]:
    return compete(deals, untimed(stronger, tries[0]), [untimed(name, tries[1]) for name in weaker])


def score_over(deals: int, stronger: str, weaker: list[str], tries: tuple[int, int] = (400, 400)) -> Result:
    # Two processes, since most of the time that all tests take would go here.
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        halves = (range(0, deals, 2), range(1, deals, 2))
        return summary([*chain(*pool.map(samples, repeat(stronger), repeat(weaker), repeat(tries), halves))])


@pytest.mark.parametrize(
    ("stronger", "weaker", "deals"),
    [("greedy", ["random"], 40), ("neighbour", ["greedy"], 200), ("rollout", ["neighbour"], 100),
     ("greedy", ["random"] * 3, 20), ("neighbour", ["greedy"] * 3, 120)],
)  # fmt: skip
def test_each_sample_bot_beats_the_one_before_by_three_standard_errors(
    stronger: str, weaker: list[str], deals: int
) -> None:
    result = score_over(deals, stronger, weaker)
    assert result.score - 3 * result.standard_error > 0.5, str(result)


def test_mcts_beats_rollout_by_three_standard_errors_in_the_same_time() -> None:
    iterations = 50
    result = score_over(60, "mcts", ["rollout"], (iterations, round(ROLLOUT_GAMES_AN_ITERATION * iterations)))
    assert result.score - 3 * result.standard_error > 0.5, str(result)


class Watch:
    """A clock that moves on by a fixed time whenever it is read."""

    def __init__(self, step_ms: float) -> None:
        self.reads = 0
        self._step_ms = step_ms

    def __call__(self) -> float:
        self.reads += 1
        return self.reads * self._step_ms / 1000


@pytest.mark.parametrize("name", TRIES)
@pytest.mark.parametrize("bank_ms", [20_000, 1_000, 40, 2, 0])
def test_a_bot_with_a_clock_stops_by_half_of_the_limit_however_many_moves_there_are(name: str, bank_ms: int) -> None:
    clock = Clock(move_ms=60, bank_ms=bank_ms, increment_ms=0)
    watch = Watch(step_ms=0.5)
    bot = type("Watched", (sample_bot(name),), {"now": watch, TRIES[name]: 10**9})()
    bot.start(GameStart("game", 0, 2, "start", clock))
    view = View.of(State.deal(DECK, 2), limit_ms=min(60, bank_ms), bank_ms=bank_ms)
    assert bot.choose(view) in view.legal_moves
    assert watch.reads * 0.5 <= view.limit_ms / 2 + 1


@pytest.mark.parametrize("name", TRIES)
def test_a_bot_with_a_clock_leaves_bank_for_every_turn_of_the_game(name: str) -> None:
    bot: Any = sample_bot(name)()
    clock = Clock(move_ms=1_000, bank_ms=2_000, increment_ms=10)
    bot.start(GameStart("game", 0, 2, "start", clock))
    state = State.deal(DECK, 2)
    bank = 2_000.0
    while not state.over:
        if state.seat == 0:
            view = View.of(state)._replace(limit_ms=min(1_000, int(bank)), bank_ms=int(bank))
            bank += 10 - bot.budget_ms(view)
            assert bank > 20
        state.play(state.legal_moves()[0])
