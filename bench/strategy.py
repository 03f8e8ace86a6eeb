"""What pays in Treelings, found by playing: python -m bench.strategy [STUDY…] plays the studies, or all of them, anew.

The figures go to bench/strategy.json and into the tables of docs/strategy.md. Every deck follows from one public
secret and every bot draws its lots from the game's name, so a study gives the same figures each time. A deal with
all its rotations is one sample; intervals are those that hold the true value 95 times in a hundred.
"""

import random
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from math import ceil, sqrt
from typing import Final, NamedTuple

from bench import strategy_bots as bots
from bench.strategy_page import Cell, Study, load, save
from referee.strength import mean_interval, student
from tests.support.local import SECRET, compete, play, points, sample_bot
from treelings import Bot, Clock, State, derive_deck

DEALS: Final = 1_000
FEW_DEALS: Final = 30
"""For bots that think for long: `rollout` and `mcts`."""
SEAT_DEALS: Final = 1_500
LUCK_DEALS: Final = 1_000

PATIENT: Final = Clock(move_ms=10**9, bank_ms=10**9)
"""So much time that a bot stops where it has seen enough, which is at the same place on every machine."""

_THINKERS: Final = ("rollout", "mcts")
_DRAWS: Final = 20_000
_PERCENT: Final = "%"


Play = Iterator[tuple[str, Callable[[], tuple[Cell, ...]]]]
"""The rows of a study: a label, and how its cells are found."""


class Plan(NamedTuple):
    """A study to play: what its table tells, the heads of its columns, and its rows."""

    title: str
    heads: tuple[str, ...]
    rows: Callable[[], Play]


# --- how strong the sample bots are, and how much is luck ------------------------------------------------------------


def _ladder() -> Play:
    names = ("random", "greedy", "neighbour", *_THINKERS)
    for weaker, stronger in pairwise(names):
        deals = FEW_DEALS if stronger in _THINKERS else DEALS
        yield f"`{stronger}` against `{weaker}`", _duel(sample_bot(stronger), sample_bot(weaker), deals)
    yield "`mcts` against `neighbour`", _duel(sample_bot("mcts"), sample_bot("neighbour"), FEW_DEALS)
    yield "the forecaster against `neighbour`", _duel(bots.forecaster(), sample_bot("neighbour"), DEALS)
    yield "the forecaster against `rollout`", _duel(bots.forecaster(), sample_bot("rollout"), FEW_DEALS)


def _luck() -> Play:
    greedy, neighbour, forecaster = sample_bot("greedy"), sample_bot("neighbour"), bots.forecaster()
    yield "`greedy` against `random`", lambda: _matches(greedy, sample_bot("random"))
    yield "`neighbour` against `greedy`", lambda: _matches(neighbour, greedy)
    yield "the forecaster against `neighbour`", lambda: _matches(forecaster, neighbour)


def _matches(bot: type[Bot], other: type[Bot]) -> tuple[Cell, ...]:
    """The score, how often a match of so many deals is won, and the deals that it takes to tell."""
    samples = compete(range(LUCK_DEALS), bot, [other], clock=PATIENT)
    rng = random.Random(2026)
    won = [_share(_win(rng.choices(samples, k=deals)) for _ in range(_DRAWS)) for deals in (1, 3, 10, 30)]
    needed = (student(float("inf")) * statistics.stdev(samples) / (statistics.fmean(samples) - 0.5)) ** 2
    return _percent(samples), *(Cell(share, None, None, _PERCENT) for share in won), Cell(ceil(needed), None, None, "")


def _win(samples: Sequence[float]) -> float:
    mean = statistics.fmean(samples)
    return (mean > 0.5) + 0.5 * (mean == 0.5)


def _same_side() -> Play:
    for name, bot in (("`random`", sample_bot("random")), ("the forecaster", bots.forecaster())):
        yield f"{name} against itself", lambda bot=bot: _swapped(bot)  # type: ignore[misc] # bound now


def _swapped(bot: type[Bot]) -> tuple[Cell, ...]:
    """How often the same seat wins both games of a deal, as a share of those in which each game has a winner."""
    same = []
    for deal in range(LUCK_DEALS):
        first, second = (_final([bot] * 2, "swap", deal, again).scores() for again in ("a", "b"))
        if first[0] != first[1] and second[0] != second[1]:
            same.append(float((first[0] > first[1]) == (second[0] > second[1])))
    return (_percent(same),)


# --- habits ------------------------------------------------------------------------------------------------------


def _columns() -> Play:
    yield "opens as few as it can", _habit(bots.no_more_columns_than(0))
    for most in (3, 4, 5):
        yield f"opens none beyond {most} if it can", _habit(bots.no_more_columns_than(most))
    yield "opens as many as it can", _habit(bots.as_many_columns_as_there_are)


def _placing() -> Play:
    yield "places new columns by lot", _habit(bots.ends_by_lot)
    yield "leaves the singles where it can", _habit(bots.never_singles)
    yield "takes two or more singles wherever they lie", _habit(bots.always_singles)


def _habit(habit: bots.Habit) -> Callable[[], tuple[Cell, ...]]:
    return _duel(bots.forecaster(habit), bots.forecaster(), DEALS)


def _aims() -> Play:
    aims = {
        "any move": lambda state, seat: 0.0,
        "the most cards": bots.cards,
        "the tallest column": bots.tallest,
        "the most points now": bots.points_now,
        "the most points to hope for": bots.own_hopes,
        "the largest lead to hope for (the forecaster)": bots.lead,
    }
    greedy = sample_bot("greedy")
    for label, aim in aims.items():
        yield label, _duel(bots.one_move_ahead(aim), greedy, DEALS)


def _hindering() -> Play:
    for players in (2, 3, 4, 5):
        yield (
            f"{players} seats",
            lambda players=players: tuple(  # type: ignore[misc] # bound now
                _percent(
                    compete(range(DEALS // players), bots.one_move_ahead(aim), [bots.forecaster()] * (players - 1))
                )
                for aim in (bots.own_hopes, bots.others_hopes)
            ),
        )


def _duel(bot: type[Bot], other: type[Bot], deals: int) -> Callable[[], tuple[Cell, ...]]:
    return lambda: (_percent(compete(range(deals), bot, [other], clock=PATIENT)),)


# --- seats, and what becomes of columns ------------------------------------------------------------------------------


def _seats() -> Play:
    for players in (2, 3, 4, 5):
        yield f"{players} seats", lambda players=players: _by_seat(players, bots.forecaster())  # type: ignore[misc]


def _by_seat(players: int, bot: type[Bot]) -> tuple[Cell, ...]:
    """The score of each seat where all play alike, and nothing where there is no such seat."""
    finals = [_final([bot] * players, "seats", deal).scores() for deal in range(SEAT_DEALS)]
    return tuple(
        _percent([points(scores, seat) for scores in finals]) if seat < players else Cell(None, None, None, "")
        for seat in range(5)
    )


def _neighbours() -> Play:
    for label, low, high in _LEADS:
        yield (
            label,
            lambda low=low, high=high: tuple(  # type: ignore[misc] # bound now
                _ratio(_scoring(range(low, high + 1), own=own)) for own in (False, True)
            ),
        )


_FAR: Final = 18
_LEADS: Final = (
    ("3 cards or more lower", -_FAR, -3),
    ("1 or 2 lower", -2, -1),
    ("as high", 0, 0),
    ("1 or 2 higher", 1, 2),
    ("3 or more higher", 3, _FAR),
)


def _scoring(leads: range, *, own: bool) -> Iterator[tuple[int, int]]:
    """Of each deal: how many columns of these leads at half-time score in the end, and how many there are.

    own  of columns that stand inside a row, ahead of the taller one beside it; else of columns at an end of a row,
         ahead of that of the next seat
    """
    for half, final in _halves():
        rows = [list(zip(half.rows[seat], half.heights(seat), strict=True)) for seat in range(half.players)]
        fate = [dict(zip(row, scoring, strict=True)) for row, scoring in zip(final.rows, final.scoring(), strict=True)]
        fates = []
        for seat, row in enumerate(rows):
            left, right = rows[(seat + 1) % half.players][-1][1], rows[seat - 1][0][1]
            beside = [left, *(height for _, height in row), right]
            for at, (guild, height) in enumerate(row):
                inside = 0 < at < len(row) - 1
                foreign = [beside[0]] * (at == 0) + [beside[-1]] * (at == len(row) - 1)
                if inside is own and height - max([beside[at], beside[at + 2]] if own else foreign) in leads:
                    fates.append(fate[seat][guild])
        yield sum(fates), len(fates)


_played: list[tuple[State, State]] = []


def _halves() -> Iterable[tuple[State, State]]:
    """Games of three forecasters: each when half of the cards above the firefly are gone, and at its end."""
    if not _played:
        for deal in range(DEALS):
            deck = derive_deck(SECRET, f"halves/{deal}")
            final, moves = play([bots.forecaster()] * 3, deck, game=f"halves/{deal}")
            half = State.deal(deck, 3)
            above = half.above_firefly
            for move in moves:
                if half.above_firefly <= above / 2:
                    break
                half.play(move)
            _played.append((half, final))
    return _played


# --- figures ---------------------------------------------------------------------------------------------------------


def _final(table: Sequence[type[Bot]], name: str, deal: int, again: str = "") -> State:
    return play(table, derive_deck(SECRET, f"{name}/{deal}"), game=f"{name}/{deal}{again}")[0]


def _share(values: Iterable[float]) -> float:
    return 100 * statistics.fmean(values)


def _percent(samples: Sequence[float]) -> Cell:
    """The mean of samples from 0 to 1."""
    found = mean_interval(samples, bounds=(0.0, 1.0))
    assert found.low is not None  # scores have bounds
    assert found.high is not None
    return Cell(100 * found.mean, 100 * (found.high - found.low) / 2, len(samples), _PERCENT)


def _ratio(samples: Iterable[tuple[int, int]]) -> Cell:
    """The share of all things of all deals; what a deal holds varies, so the error is that of a ratio."""
    some = [(part, whole) for part, whole in samples if whole]
    parts, wholes = (sum(column) for column in zip(*some, strict=True))
    share = parts / wholes
    error = sqrt(sum((part - share * whole) ** 2 for part, whole in some) * len(some) / (len(some) - 1)) / wholes
    return Cell(100 * share, 100 * student(len(some) - 1) * error, len(some), _PERCENT)


# --- the studies -----------------------------------------------------------------------------------------------------

_AGAINST: Final = "score against a forecaster without the habit"

STUDIES: Final = {
    "ladder": Plan("Two seats, each deal from both", ("bots", "score of the first"), _ladder),
    "luck": Plan(
        "Two seats, each deal from both; matches drawn from these deals by lot",
        ("bots", "score of the first", "wins 1 deal", "3 deals", "10 deals", "30 deals", "deals until it shows"),
        _luck,
    ),
    "sides": Plan(
        "Two seats, each deal played twice by the same bots with other lots; games with equal points left out",
        ("bots", "one seat wins both games"),
        _same_side,
    ),
    "seats": Plan("All seats taken by forecasters", ("table", *(f"seat {seat}" for seat in range(5))), _seats),
    "aims": Plan("Two seats, each deal from both", ("takes what gives", "score against `greedy`"), _aims),
    "columns": Plan("Two seats, each deal from both", ("habit", _AGAINST), _columns),
    "placing": Plan("Two seats, each deal from both", ("habit", _AGAINST), _placing),
    "hindering": Plan(
        "One such bot among forecasters, each deal from every seat",
        ("table", "thinks of its own points only", "thinks of the others' points only"),
        _hindering,
    ),
    "neighbours": Plan(
        "Three forecasters; half-time is when half of the cards above the firefly are gone",
        ("at half-time the column is", "outer, than the neighbour's beside it", "inner, than the taller one beside it"),
        _neighbours,
    ),
}


def main(wanted: Sequence[str]) -> int:
    """Play these studies, or all, and write down what they find; 2 for a name that none has."""
    unknown = [name for name in wanted if name not in STUDIES]
    if unknown:
        print(f"no such study: {', '.join(unknown)}; there are: {', '.join(STUDIES)}", file=sys.stderr)
        return 2
    for name in wanted or STUDIES:
        plan = STUDIES[name]
        rows = {}
        for label, find in plan.rows():
            rows[label] = find()
            print(f"{name}: {label}: {', '.join(map(str, rows[label]))}", flush=True)
        found = {**load(), name: Study(plan.title, plan.heads, rows)}
        save({each: found[each] for each in STUDIES if each in found})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
