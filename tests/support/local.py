"""Games between Bot classes in this process: no sockets, no clocks that run."""

import importlib.util
import math
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from treelings import Bot, Clock, GameEnd, GameStart, Move, Refill, State, View, derive_deck

SAMPLE_BOTS = Path(__file__).parents[2] / "sample_bots"
SECRET = bytes(range(32))


def sample_bot(name: str) -> type[Bot]:
    """The class that the sample bot of this name serves."""
    module_name = f"sample_bot_{name}"
    if module_name not in sys.modules:
        spec = importlib.util.spec_from_file_location(module_name, SAMPLE_BOTS / name / "bot.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        spec.loader.exec_module(module)
    module = sys.modules[module_name]
    (bot,) = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Bot) and value.__module__ == module_name
    ]
    return bot


def play(
    bots: Sequence[type[Bot]],
    deck: str,
    refill: Refill = "start",
    *,
    game: str = "local",
    clock: Clock = Clock(),  # noqa: B008  # frozen
) -> tuple[State, tuple[Move, ...]]:
    """One game, seat by seat; raises IllegalMove if a bot plays an illegal move. The final state and the moves."""
    players = [bot() for bot in bots]
    for seat, player in enumerate(players):
        player.start(GameStart(game, seat, len(players), refill, clock))
    state = State.deal(deck, len(players), refill)
    history: tuple[Move, ...] = ()
    while not state.over:
        view = View.of(state, history, limit_ms=min(clock.move_ms, clock.bank_ms), bank_ms=clock.bank_ms)
        move = players[state.seat].choose(view)
        state.play(move)
        history = (*history, move)
    scores = state.scores()
    ranks = tuple(1 + sum(other > score for other in scores) for score in scores)
    for player in players:
        player.end(GameEnd("festival", ranks, scores))
    return state, history


def points(scores: Sequence[int], seat: int) -> float:
    """Points of a game (records.md, Points): 1 for each other seat ranked behind, 0.5 for an equal one, as a mean."""
    others = [score for at, score in enumerate(scores) if at != seat]
    return sum((scores[seat] > other) + 0.5 * (scores[seat] == other) for other in others) / len(others)


@dataclass(frozen=True)
class Result:
    """A bot's mean points over deals, each deal played in every rotation, and the standard error of that mean."""

    score: float
    standard_error: float

    def __str__(self) -> str:
        return f"{100 * self.score:.1f} % +- {196 * self.standard_error:.1f}"


def summary(samples: Sequence[float]) -> Result:
    """The result of a bot's mean points on each of some deals."""
    return Result(statistics.fmean(samples), statistics.stdev(samples) / math.sqrt(len(samples)))


def compete(
    deals: Iterable[int], bot: type[Bot], others: Sequence[type[Bot]], refill: Refill = "start", clock: Clock = Clock(),  # noqa: B008
) -> list[float]:  # fmt: skip
    """The bot's mean points on each of these deals."""
    table = [bot, *others]
    samples = []
    for deal in deals:
        deck = derive_deck(SECRET, f"order/{deal}")
        games = []
        for rotation in range(len(table)):
            seats = [table[(seat - rotation) % len(table)] for seat in range(len(table))]
            state, _ = play(seats, deck, refill, game=f"order/{deal}/r{rotation}", clock=clock)
            games.append(points(state.scores(), rotation))
        samples.append(statistics.fmean(games))
    return samples
