"""What is taken from a bot, on a scheduler that is simulated: ticks of one ms, cores, threads that take turns."""

import random
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from referee.players.overload import Account, taken_ms
from referee.ports import CpuTimes

WALL = 200  # ticks


@dataclass
class Thread:
    """Wants to run in some ticks; what it got."""

    ours: bool
    wants: list[bool]
    ran: int = 0
    waited: int = 0
    told: int = 0  # of what it waited: all of it, as of when it last got a core
    backlog: int = 0  # work that is left of ticks in which it did not get a core


@dataclass
class Outcome:
    """What was read at the end, and before each tick as a system tells it; what others ran."""

    times: CpuTimes
    readings: list[CpuTimes]
    foreign_ran: int


def simulate(threads: list[Thread], cores: int, quota: int | None, seed: int) -> Outcome:
    """Run all; a `quota` is what the bot may use in each 10 ticks."""
    dice = random.Random(seed)
    used = foreign = throttled = in_period = 0
    readings = []
    for tick in range(WALL):
        mine = {number: (float(t.ran), float(t.told)) for number, t in enumerate(threads) if t.ours}
        wanting = [number for number, t in enumerate(threads) if t.ours and t.backlog]
        readings.append(CpuTimes(float(used), mine, float(throttled), wanting))
        if tick % 10 == 0:
            in_period = 0
        for thread in threads:
            thread.backlog += thread.wants[tick]
        ready = [thread for thread in threads if thread.backlog]
        dice.shuffle(ready)
        running = 0
        held = False
        for thread in ready:
            may = not thread.ours or quota is None or in_period < quota
            held = held or not may
            if running < cores and may:
                running += 1
                thread.ran += 1
                thread.told = thread.waited
                thread.backlog -= 1
                used += thread.ours
                in_period += thread.ours
                foreign += not thread.ours
            else:
                thread.waited += 1
        throttled += held
    mine = {number: (float(t.ran), float(t.waited)) for number, t in enumerate(threads) if t.ours}
    return Outcome(CpuTimes(float(used), mine, float(throttled)), readings, foreign)


NOTHING = CpuTimes(0.0, {})
wants = st.lists(st.booleans(), min_size=WALL, max_size=WALL)
bursts = st.tuples(st.integers(0, WALL), st.integers(0, WALL)).map(
    lambda ends: [min(ends) <= tick < max(ends) for tick in range(WALL)]
)
own_threads = st.lists(st.one_of(wants, bursts), min_size=1, max_size=8)


@given(own_threads, st.integers(1, 4), st.one_of(st.none(), st.integers(1, 20)), st.integers(0, 9))
def test_a_bot_alone_on_its_cores_never_lost_anything(
    own: list[list[bool]], cores: int, quota: int | None, seed: int
) -> None:
    outcome = simulate([Thread(True, want) for want in own], cores, quota, seed)
    cpus = float(cores) if quota is None else quota / 10
    assert taken_ms(NOTHING, outcome.times, WALL, cpus) == 0


def accounts(outcome: Outcome, cpus: float, every: int) -> list[float]:
    """What an account says at every so many ticks."""
    account = Account(cpus)
    account.open(0.0, outcome.readings[0])
    times = range(every, WALL, every)
    return [round(account.taken_ms(tick / 1000, outcome.readings[tick])[0], 6) for tick in times]


@given(own_threads, st.integers(1, 4), st.one_of(st.none(), st.integers(1, 20)), st.integers(0, 9))
def test_nor_does_it_seem_so_while_waits_are_not_told_yet(
    own: list[list[bool]], cores: int, quota: int | None, seed: int
) -> None:
    outcome = simulate([Thread(True, want) for want in own], cores, quota, seed)
    # While a quota holds a bot, it is ready and does not run: so only between two of its periods.
    assert not any(accounts(outcome, float(cores) if quota is None else quota / 10, 10))


@given(own_threads, st.lists(bursts, min_size=1, max_size=6), st.integers(1, 4), st.integers(0, 9), st.integers(1, 20))
def test_no_bot_seems_to_have_lost_more_than_others_ran_while_waits_are_not_told_yet(
    own: list[list[bool]], others: list[list[bool]], cores: int, seed: int, every: int
) -> None:
    threads = [Thread(True, want) for want in own] + [Thread(False, want) for want in others]
    outcome = simulate(threads, cores, None, seed)
    assert all(0 <= lost <= outcome.foreign_ran for lost in accounts(outcome, float(cores), every))


@given(st.integers(1, 6), st.integers(1, 3), st.integers(0, 9))
def test_a_single_thread_that_always_wants_to_run_is_known_to_wait_although_it_is_not_told(
    burners: int, cores: int, seed: int
) -> None:
    always = [True] * WALL
    threads = [Thread(True, always)] + [Thread(False, always) for _ in range(burners)]
    outcome = simulate(threads, cores, None, seed)
    for tick, lost in enumerate(accounts(outcome, 1.0, 1), 1):
        # It is ready from the first tick on, and first seen to be before the second one.
        assert tick - 1 - outcome.readings[tick].used_ms <= lost <= tick - outcome.readings[tick].used_ms


@given(own_threads, st.lists(bursts, min_size=1, max_size=6), st.integers(1, 4), st.integers(0, 9))
def test_no_bot_lost_more_than_others_ran(
    own: list[list[bool]], others: list[list[bool]], cores: int, seed: int
) -> None:
    threads = [Thread(True, want) for want in own] + [Thread(False, want) for want in others]
    outcome = simulate(threads, cores, None, seed)
    assert 0 <= taken_ms(NOTHING, outcome.times, WALL, float(cores)) <= outcome.foreign_ran


@given(st.integers(1, 6), st.integers(1, 3), st.integers(0, 9))
def test_a_single_thread_that_always_wants_to_run_lost_all_that_it_did_not_run(
    burners: int, cores: int, seed: int
) -> None:
    always = [True] * WALL
    threads = [Thread(True, always)] + [Thread(False, always) for _ in range(burners)]
    outcome = simulate(threads, cores, None, seed)
    assert taken_ms(NOTHING, outcome.times, WALL, 1.0) == WALL - outcome.times.used_ms


@given(
    st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)), max_size=8),
    st.floats(0, 1e6), st.floats(0, 1e5), st.floats(0.1, 8),
)  # fmt: skip
def test_whatever_is_read_a_loss_lies_between_nothing_and_the_cores_of_the_bot(
    threads: list[tuple[float, float]], used: float, wall: float, cpus: float
) -> None:
    times = CpuTimes(used, dict(enumerate(threads)))
    assert 0 <= taken_ms(NOTHING, times, wall, cpus) <= max(0.0, cpus * wall - used)
