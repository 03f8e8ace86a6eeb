"""The chess clock of a seat."""

from hypothesis import given
from hypothesis import strategies as st

from referee.clock import SeatClock
from treelings import Clock


def test_a_clock_starts_with_the_bank() -> None:
    clock = SeatClock(Clock(move_ms=100, bank_ms=250))
    assert (clock.bank_ms, clock.limit_ms) == (250, 100)


def test_an_empty_bank_leaves_no_time() -> None:
    clock = SeatClock(Clock(move_ms=100, bank_ms=100, increment_ms=0))
    clock.charge(100)
    assert (clock.bank_ms, clock.limit_ms) == (0, 0)


@given(st.integers(1, 1_000), st.integers(0, 5_000), st.integers(0, 100), st.lists(st.floats(0, 1)))
def test_answers_within_the_limit_never_overdraw_the_bank(
    move_ms: int, bank_ms: int, increment_ms: int, shares: list[float]
) -> None:
    clock = SeatClock(Clock(move_ms=move_ms, bank_ms=bank_ms, increment_ms=increment_ms))
    for share in shares:
        assert 0 <= clock.limit_ms <= move_ms
        clock.charge(clock.limit_ms * share)
        assert clock.bank_ms >= 0
