"""The positions that a bot is put back into."""

from dataclasses import replace

import pytest

from referee.cli.second_opinion import positions
from referee.errors import UsageError
from referee.model import Fault, FaultKind, GameRecord
from referee.trial import view_at
from tests.support.records import forfeited, record
from treelings import Clock

CLOCK = Clock()


def taking(game: GameRecord, ms: float) -> GameRecord:
    """The same game, but each move of seat 0 took so long."""
    moves = (replace(move, ms=ms) if move.seat == 0 else move for move in game.moves)
    return replace(game, moves=tuple(moves))


def test_a_seat_is_asked_again_what_it_was_asked_with_the_clock_that_it_had() -> None:
    game = taking(record(), 500.0)
    found = positions(game, 0, CLOCK)
    turns = [turn for turn, move in enumerate(game.moves) if move.seat == 0]
    assert [each.view for each in found] == [view_at(game, turn, CLOCK) for turn in turns]
    assert [str(each.played) for each in found] == [game.moves[turn].move for turn in turns]
    assert found[2].view.bank_ms == 20_000 - 2 * 400


@pytest.mark.parametrize("ms", [1_001.0, 60_000.0, 1e9])
def test_times_that_the_clock_does_not_allow_tell_of_another_one_so_it_is_full_each_time(ms: float) -> None:
    found = positions(taking(record(), ms), 0, CLOCK)
    assert {(each.view.limit_ms, each.view.bank_ms) for each in found} == {(1_000, 20_000)}


def test_the_turn_of_a_forfeit_is_asked_too_and_the_referees_moves_are_not() -> None:
    game = forfeited(3, 1)
    (fault,) = game.faults
    found = positions(game, fault.seat, CLOCK)
    assert [each.view.turn for each in found] == [*range(fault.seat, fault.turn, 3), fault.turn]
    assert [each.played is None for each in found] == [False] * (len(found) - 1) + [True]


def test_a_seat_that_was_never_asked_has_no_positions() -> None:
    game = replace(record(), moves=(), faults=(Fault(0, 0, FaultKind.STARTUP, "no main"),))
    with pytest.raises(UsageError, match="seat 0 was never asked"):
        positions(game, 0, CLOCK)
