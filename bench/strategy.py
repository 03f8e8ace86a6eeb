"""What pays in Treelings, found by playing: python -m bench.strategy [STUDY…] plays the studies, or all of them, anew.

The figures go to bench/strategy.json and into the tables of docs/strategy.md. Every deck follows from one public
secret and every bot draws its lots from the game's name, so a study gives the same figures each time. A deal with
all its rotations is one sample; intervals are those that hold the true value 95 times in a hundred.
"""

import random
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import pairwise
from math import ceil, sqrt
from pathlib import Path
from typing import Final, NamedTuple

from bench import strategy_bots as bots
from bench.strategy_chart import chart
from bench.strategy_page import Cell, Study, load, save
from referee.strength import mean_interval, student
from tests.support import pictures
from tests.support.local import SECRET, compete, play, points, sample_bot
from treelings import Bot, Clock, State, derive_deck

DEALS: Final = 1_000
FEW_DEALS: Final = 80
"""For bots that think for long: `rollout` and `mcts`."""
SEAT_DEALS: Final = 4_000
LUCK_DEALS: Final = 1_000

PATIENT: Final = Clock(move_ms=10**9, bank_ms=10**9)
"""So much time that a bot stops where it has seen enough, which is at the same place on every machine."""

_DRAWS: Final = 20_000
_PERCENT: Final = "%"

Cells = tuple[Cell, ...]
Rows = Iterator[tuple[str, Callable[[], Cells]]]
"""The rows of a study: a label, and how its cells are found."""


class Plan(NamedTuple):
    """A study to play: what its table tells, the heads of its columns, and its rows."""

    title: str
    heads: tuple[str, ...]
    rows: Callable[[], Rows]


# --- how strong the sample bots are, and how much is luck ------------------------------------------------------------


def _ladder() -> Rows:
    for weaker, stronger in pairwise(("random", "greedy", "neighbour")):
        yield f"`{stronger}` against `{weaker}`", _duel(sample_bot(stronger), sample_bot(weaker), DEALS)
    yield "the forecaster against `neighbour`", _duel(bots.forecaster(), sample_bot("neighbour"), DEALS)


def _search() -> Rows:
    rollout, mcts = sample_bot("rollout"), sample_bot("mcts")
    yield "`rollout` against `neighbour`", _duel(rollout, sample_bot("neighbour"), FEW_DEALS)
    yield "`rollout` against the forecaster", _duel(rollout, bots.forecaster(), FEW_DEALS)
    yield "`mcts` against the forecaster", _duel(mcts, bots.forecaster(), FEW_DEALS)
    yield "`mcts` against `rollout`", _duel(mcts, rollout, FEW_DEALS)


def _luck() -> Rows:
    greedy, neighbour, forecaster = sample_bot("greedy"), sample_bot("neighbour"), bots.forecaster()
    yield "`greedy` against `random`", partial(_matches, greedy, sample_bot("random"))
    yield "`neighbour` against `greedy`", partial(_matches, neighbour, greedy)
    yield "the forecaster against `neighbour`", partial(_matches, forecaster, neighbour)


def _matches(bot: type[Bot], other: type[Bot]) -> Cells:
    """The score, how often a match of so many deals is won, and the deals that it takes to tell."""
    samples = compete(range(LUCK_DEALS), bot, [other], clock=PATIENT)
    rng = random.Random(2026)
    won = [_share(_win(rng.choices(samples, k=deals)) for _ in range(_DRAWS)) for deals in (1, 3, 10, 30)]
    needed = (student(float("inf")) * statistics.stdev(samples) / (statistics.fmean(samples) - 0.5)) ** 2
    return _percent(samples), *(Cell(share, None, None, _PERCENT) for share in won), Cell(ceil(needed), None, None, "")


def _win(samples: Sequence[float]) -> float:
    mean = statistics.fmean(samples)
    return (mean > 0.5) + 0.5 * (mean == 0.5)


def _same_side() -> Rows:
    for name, bot in (("`random`", sample_bot("random")), ("the forecaster", bots.forecaster())):
        yield f"{name} against itself", partial(_swapped, bot)


def _swapped(bot: type[Bot]) -> Cells:
    """How often the same seat wins both games of a deal, as a share of those in which each game has a winner."""
    same = []
    for deal in range(LUCK_DEALS):
        first, second = (_final([bot] * 2, "swap", deal, again).scores() for again in ("a", "b"))
        if first[0] != first[1] and second[0] != second[1]:
            same.append(float((first[0] > first[1]) == (second[0] > second[1])))
    return (_percent(same),)


# --- habits ------------------------------------------------------------------------------------------------------


def _columns() -> Rows:
    yield "opens as few as it can", _habit(bots.no_more_columns_than(0))
    for most in (3, 4, 5):
        yield f"opens none beyond {most} if it can", _habit(bots.no_more_columns_than(most))
    yield "opens as many as it can", _habit(bots.as_many_columns_as_there_are)
    yield "opens as few as it can until half-time", _habit(bots.no_new_columns_early)
    yield "opens as few as it can after half-time", _habit(bots.no_new_columns_late)


def _singles() -> Rows:
    yield "leaves the singles where it can", _habit(bots.never_singles)
    yield "takes the singles wherever there are three or more", _habit(bots.many_singles)
    yield "takes the singles wherever there are two or more", _habit(bots.always_singles)


def _placing() -> Rows:
    yield "by lot, at either end", _habit(bots.ends_by_lot)
    yield "at the end where the other's column is lower", _habit(bots.by_the_lower_neighbour)
    yield "at the end where the other's column is taller", _habit(bots.by_the_taller_neighbour)


def _habit(habit: bots.Habit) -> Callable[[], Cells]:
    return _duel(bots.forecaster(habit), bots.forecaster(), DEALS)


def _aims() -> Rows:
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


def _hindering() -> Rows:
    for players in (2, 3, 4, 5):
        yield f"{players} seats", partial(_one_sided, players)


def _one_sided(players: int) -> Cells:
    """What comes of bots that think of their own points only, and of the others' only, among forecasters."""
    others = [bots.forecaster()] * (players - 1)
    return tuple(
        _percent(compete(range(DEALS // players), bots.one_move_ahead(aim), others))
        for aim in (bots.own_hopes, bots.others_hopes)
    )


def _duel(bot: type[Bot], other: type[Bot], deals: int) -> Callable[[], Cells]:
    return lambda: (_percent(compete(range(deals), bot, [other], clock=PATIENT)),)


# --- seats, and what becomes of columns ------------------------------------------------------------------------------


def _seats() -> Rows:
    for players in (2, 3, 4, 5):
        yield f"{players} seats", partial(_by_seat, players)


def _by_seat(players: int) -> Cells:
    """The score of each seat where all play alike, and nothing where there is no such seat."""
    finals = [_final([bots.forecaster()] * players, "seats", deal).scores() for deal in range(SEAT_DEALS)]
    return tuple(
        _percent([points(scores, seat) for scores in finals]) if seat < players else Cell(None, None, None, "")
        for seat in range(5)
    )


def _neighbours() -> Rows:
    for label, low, high in _LEADS:
        yield label, partial(_fates_of_all, range(low, high + 1))


def _fates_of_all(leads: Sequence[int]) -> Cells:
    return tuple(_ratio(fates(half, final, leads, own=own) for half, final in _halves()) for own in (False, True))


_FAR: Final = 18
_LEADS: Final = (
    ("3 cards or more lower", -_FAR, -3),
    ("1 or 2 lower", -2, -1),
    ("as high", 0, 0),
    ("1 or 2 higher", 1, 2),
    ("3 or more higher", 3, _FAR),
)


def fates(half: State, final: State, leads: Sequence[int], *, own: bool) -> list[bool]:
    """Whether they score in the end, of the columns that are so many cards ahead at half-time.

    own  of columns that stand inside a row: ahead of the taller one beside it; else of columns at an end of a row:
         ahead of that of the seat beside it, or of the taller one where there is one at either side
    """
    found = []
    for seat in range(half.players):
        heights = half.heights(seat)
        fate = dict(zip(final.rows[seat], final.scoring()[seat], strict=True))
        # The next seat sits on the left, so its rightmost column is beside this seat's leftmost.
        left, right = half.heights((seat + 1) % half.players)[-1], half.heights(seat - 1)[0]
        beside = [left, *heights, right]
        last = len(heights) - 1
        for at, (guild, height) in enumerate(zip(half.rows[seat], heights, strict=True)):
            inside = 0 < at < last
            others = [beside[at], beside[at + 2]] if inside else [left] * (at == 0) + [right] * (at == last)
            if inside is own and height - max(others) in leads:
                found.append(fate[guild])
    return found


@cache
def _halves() -> list[tuple[State, State]]:
    """Games of three forecasters: each when half of the cards above the firefly are gone, and at its end."""
    played = []
    for deal in range(DEALS):
        deck = derive_deck(SECRET, f"halves/{deal}")
        final, moves = play([bots.forecaster()] * 3, deck, game=f"halves/{deal}")
        half = State.deal(deck, 3)
        for move in moves:
            if bots.half_time(half):
                break
            half.play(move)
        played.append((half, final))
    return played


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


def _ratio(samples: Iterable[Sequence[bool]]) -> Cell:
    """The share of all columns of all deals; deals have more of them or fewer, so the error is that of a ratio."""
    some = [(sum(fates), len(fates)) for fates in samples if fates]
    parts, wholes = (sum(column) for column in zip(*some, strict=True))
    share = parts / wholes
    error = sqrt(sum((part - share * whole) ** 2 for part, whole in some) * len(some) / (len(some) - 1)) / wholes
    return Cell(100 * share, 100 * student(len(some) - 1) * error, len(some), _PERCENT)


# --- the studies -----------------------------------------------------------------------------------------------------

_AGAINST: Final = "score against a forecaster without the habit"

STUDIES: Final = {
    "ladder": Plan("Two seats, each deal from both", ("bots", "score of the first"), _ladder),
    "search": Plan("Two seats, each deal from both", ("bots", "score of the first"), _search),
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
    "singles": Plan("Two seats, each deal from both", ("habit", _AGAINST), _singles),
    "placing": Plan("Two seats, each deal from both", ("places new columns", _AGAINST), _placing),
    "neighbours": Plan(
        "Three forecasters; the share of such columns that score",
        (
            "at half-time it is",
            "outer column, against the other player's",
            "inner column, against the taller beside it",
        ),
        _neighbours,
    ),
    "hindering": Plan(
        "One such bot among forecasters, each deal from every seat",
        ("table", "thinks of its own points only", "thinks of the others' points only"),
        _hindering,
    ),
}

CHARTS: Final = ("aims", "columns", "hindering", "neighbours")
"""Studies that the page shows as charts too."""


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
        if name in CHARTS:
            chart_file(name).write_text(chart(found[name]), encoding="utf-8")
    return 0


def chart_file(name: str) -> Path:
    """Where the chart of a study is kept."""
    return pictures.FOLDER / f"study-{name}.svg"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
