"""Bots that differ in one habit, so that what the habit is worth shows: each plays the move after which all looks best.

Most see the table as `mcts` does, by its rule of thumb for how every column will fare, and do no search; the pages call
that bot the forecaster. The others of its kind have a habit that it has not, and are made of it by `forecaster`.
"""

import importlib
import random
from collections.abc import Callable, Sequence

from tests.support.local import sample_bot
from treelings import Bot, GameStart, Move, State, View
from treelings.cards import CARDS, HAND_SIZE, MARKET_SIZE
from treelings.moves import SINGLES_TAKE
from treelings.rules import BELOW_FIREFLY

Worth = Callable[[State, int], float]
"""How good a position is for a seat; of equal ones one is drawn by lot."""

Habit = Callable[[State, Sequence[Move], random.Random], Sequence[Move]]
"""The moves that are considered, of those that are legal in a position; all of them if none is left."""


def one_move_ahead(worth: Worth, habit: Habit | None = None) -> type[Bot]:
    """The bot that tries each move once and keeps the one with the best position."""

    class OneMoveAhead(Bot):
        """Knows no turn but its own."""

        def start(self, game: GameStart) -> None:
            self._rng = random.Random(f"{game.game}/{game.seat}")

        def choose(self, view: View) -> Move:
            state = view.sample(self._rng)

            def value(move: Move) -> tuple[float, float]:
                after = state.copy()
                after.play(move)
                return worth(after, view.seat), self._rng.random()

            moves = habit(state, view.legal_moves, self._rng) if habit else view.legal_moves
            return max(moves or view.legal_moves, key=value)

    return OneMoveAhead


def lead(state: State, seat: int) -> float:
    """By how much the seat will beat the mean of the others, as `mcts` guesses."""
    hopes = _outlook(state)
    return hopes[seat] - (sum(hopes) - hopes[seat]) / (state.players - 1)


def own_hopes(state: State, seat: int) -> float:
    """The points that the seat may hope for, whatever the others get."""
    return _outlook(state)[seat]


def others_hopes(state: State, seat: int) -> float:
    """How little the others may hope for, whatever the seat itself gets."""
    hopes = _outlook(state)
    return hopes[seat] - sum(hopes)


def points_now(state: State, seat: int) -> float:
    """The points of the seat if the game ended here."""
    return state.scores()[seat]


def cards(state: State, seat: int) -> float:
    """The cards in the row."""
    return sum(state.heights(seat))


def tallest(state: State, seat: int) -> float:
    """The height of the tallest column, and then that of the next ones."""
    return sum(height * 100.0**-place for place, height in enumerate(sorted(state.heights(seat), reverse=True)))


def no_more_columns_than(most: int) -> Habit:
    """Opens a column only where it has fewer, or where every move opens one; then as few as it can."""

    def habit(state: State, moves: Sequence[Move], _: random.Random) -> Sequence[Move]:
        columns = len(state.rows[state.seat])
        few = [move for move in moves if columns + _new(move) <= most]
        return few or _with(moves, min(map(_new, moves)))

    return habit


def as_many_columns_as_there_are(_: State, moves: Sequence[Move], __: random.Random) -> Sequence[Move]:
    """Opens as many columns as it can."""
    return _with(moves, max(map(_new, moves)))


def no_new_columns_early(state: State, moves: Sequence[Move], _: random.Random) -> Sequence[Move]:
    """Opens as few columns as it can until half-time."""
    return moves if half_time(state) else _with(moves, min(map(_new, moves)))


def no_new_columns_late(state: State, moves: Sequence[Move], _: random.Random) -> Sequence[Move]:
    """Opens as few columns as it can after half-time."""
    return _with(moves, min(map(_new, moves))) if half_time(state) else moves


def half_time(state: State) -> bool:
    """Half of the cards that lay above the firefly at first are gone."""
    dealt = state.players * HAND_SIZE + MARKET_SIZE
    return state.above_firefly <= (CARDS - dealt - BELOW_FIREFLY) / 2


def ends_by_lot(_: State, moves: Sequence[Move], rng: random.Random) -> Sequence[Move]:
    """Has only one way to place the new columns of each take, drawn by lot."""
    takes: dict[str, list[Move]] = {}
    for move in moves:
        takes.setdefault(move.take, []).append(move)
    return [rng.choice(ways) for ways in takes.values()]


def by_the_lower_neighbour(state: State, moves: Sequence[Move], _: random.Random) -> Sequence[Move]:
    """Places new columns at that end of its row where the other player's column is lower."""
    return _at_one_end(state, moves, 1)


def by_the_taller_neighbour(state: State, moves: Sequence[Move], _: random.Random) -> Sequence[Move]:
    """Places new columns at that end of its row where the other player's column is taller."""
    return _at_one_end(state, moves, -1)


def _at_one_end(state: State, moves: Sequence[Move], sign: int) -> Sequence[Move]:
    # The next seat sits on the left, so its rightmost column is beside this seat's leftmost.
    left = state.heights((state.seat + 1) % state.players)[-1]
    right = state.heights(state.seat - 1)[0]
    lead = sign * (right - left)
    return [move for move in moves if (lead <= 0 or not move.right) and (lead >= 0 or not move.left)]


def never_singles(_: State, moves: Sequence[Move], __: random.Random) -> Sequence[Move]:
    """Leaves the singles where it can, unless there is one only."""
    return [move for move in moves if move.take != SINGLES_TAKE]


def always_singles(_: State, moves: Sequence[Move], __: random.Random) -> Sequence[Move]:
    """Takes the singles wherever there are two or more."""
    return [move for move in moves if move.take == SINGLES_TAKE]


def many_singles(state: State, moves: Sequence[Move], _: random.Random) -> Sequence[Move]:
    """Takes the singles wherever there are three or more."""
    return [move for move in moves if move.take == SINGLES_TAKE and state.market.count(1) >= 3]


def _new(move: Move) -> int:
    return len(move.left) + len(move.right)


def _with(moves: Sequence[Move], new: int) -> Sequence[Move]:
    return [move for move in moves if _new(move) == new]


def _outlook(state: State) -> list[float]:
    hopes: list[float] = importlib.import_module(_MCTS.__module__).outlook(state)
    return hopes


def forecaster(habit: Habit | None = None) -> type[Bot]:
    """The bot that goes by `lead`, with this habit."""
    return one_move_ahead(lead, habit)


_MCTS = sample_bot("mcts")
