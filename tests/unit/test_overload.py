"""What the machine took from a bot, and what a wait does about it: on clocks and readings that tests hand in."""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pytest

from referee.errors import Overloaded, SandboxError
from referee.players.overload import Account, Lost, Watch, allowed_ms, first_look_s, longest_ms, own_times, taken_ms
from referee.players.wait import TooLate, Wait
from referee.ports import CpuTimes
from tests.support.virtual_time import VirtualLoop, run_virtually


def cpu(used: float, *threads: tuple[float, float], throttled: float = 0.0) -> CpuTimes:
    return CpuTimes(used, dict(enumerate(threads)), throttled)


IDLE = cpu(0, (0, 0))


def test_time_ready_to_run_while_others_had_the_core_was_taken() -> None:
    assert taken_ms(IDLE, cpu(300, (300, 700)), 1000, 1.0) == 700


def test_a_bot_that_sleeps_lost_nothing() -> None:
    assert taken_ms(IDLE, cpu(2, (2, 0)), 1000, 1.0) == 0


def test_only_what_changed_between_the_readings_counts() -> None:
    assert taken_ms(cpu(500, (500, 9_000)), cpu(800, (800, 9_700)), 1000, 1.0) == 700


def test_a_thread_that_began_in_between_counts_from_its_begin() -> None:
    assert taken_ms(cpu(0), cpu(100, (100, 400)), 1000, 1.0) == 400


def test_waiting_for_siblings_is_the_bots_own_affair() -> None:
    assert taken_ms(cpu(0), cpu(1000, *[(1000 / 60, 1000 - 1000 / 60)] * 60), 1000, 1.0) == 0


def test_the_thread_that_lost_most_counts_and_not_their_sum() -> None:
    assert taken_ms(cpu(0), cpu(200, (100, 400), (100, 500)), 1000, 1.0) == 400


def test_threads_that_have_ended_ran_too() -> None:
    assert taken_ms(cpu(0), cpu(600, (100, 550)), 1000, 1.0) == 50


def test_what_the_bots_own_quota_held_back_was_not_taken() -> None:
    assert taken_ms(IDLE, cpu(500, (500, 500), throttled=500), 1000, 1.0) == 0


def test_nothing_beyond_its_cores_was_a_bots_to_lose() -> None:
    assert taken_ms(cpu(0), cpu(900, (450, 900), (450, 550)), 1000, 1.0) == 100
    assert taken_ms(IDLE, cpu(300, (300, 700)), 1000, 0.25) == 0


def test_a_loss_too_small_to_matter_prolongs_nothing() -> None:
    assert allowed_ms(100, Lost(bot_ms=5)) == 100
    assert allowed_ms(1000, Lost(bot_ms=20)) == 1000


def test_a_wait_is_prolonged_by_just_what_was_lost() -> None:
    assert allowed_ms(100, Lost(bot_ms=6)) == 106
    assert allowed_ms(1000, Lost(bot_ms=300, ours_ms=100, earlier_ms=50)) == 1450


def test_no_wait_takes_longer_than_three_limits() -> None:
    assert allowed_ms(100, Lost(bot_ms=500)) == longest_ms(100, Lost()) == 300


def test_the_words_for_a_loss_name_each_part_of_it() -> None:
    assert str(Lost(1_290.4, 20.2, 0.3)) == (
        "the machine took 1,311 ms from it (1,290 ms it was ready to run but had no core, "
        "20 ms the referee itself was held up)"
    )


def test_short_waits_are_over_before_they_are_looked_at() -> None:
    assert first_look_s(1000) == 0.02
    assert first_look_s(60_000) == 0.025


def test_where_the_limit_is_tight_waits_are_looked_at_from_their_begin() -> None:
    assert first_look_s(60) == first_look_s(250) == 0


def test_this_process_tells_of_its_threads_but_for_the_one_that_asks() -> None:
    stop = threading.Event()
    other = threading.Thread(target=stop.wait)
    other.start()
    try:
        times = own_times()
    finally:
        stop.set()
        other.join()
    assert times is not None
    assert other.native_id in times.threads
    assert threading.get_native_id() not in times.threads
    assert times.used_ms > 0


def readings(*times: CpuTimes | None) -> Callable[[], CpuTimes | None]:
    left = list(times)
    return lambda: left.pop(0)


def no_reading() -> CpuTimes | None:
    raise AssertionError("read")


def test_nothing_is_read_before_the_first_look() -> None:
    watch = Watch(no_reading, 1.0, no_reading)
    watch.begin(1.0)
    assert watch.lost(1.02) == Lost()


def test_what_may_have_been_waited_before_the_first_look_is_not_counted() -> None:
    watch = Watch(readings(IDLE, cpu(0, (0, 100))), 1.0, lambda: None)
    watch.begin(1.0)
    watch.look(1.02, 0.0)
    assert watch.lost(2.0).bot_ms == pytest.approx(80)


def test_what_held_up_a_query_and_the_longest_that_may_have_held_up_its_answer_are_lost() -> None:
    watch = Watch(lambda: None, 1.0, lambda: None)
    watch.begin(1.0)
    for late_s in (0.1, 0.004, 0.02, 0.2, 0.03):
        watch.look(2.0, late_s)
    assert watch.lost(3.0).ours_ms == pytest.approx(300)


def test_a_timer_that_rings_a_little_late_is_no_lag() -> None:
    watch = Watch(lambda: None, 1.0, lambda: None)
    watch.begin(1.0)
    for late_s in (0.005, 0.004, 0.005):
        watch.look(2.0, late_s)
    assert watch.lost(3.0) == Lost()


def test_our_lag_and_what_our_other_threads_waited_are_both_on_an_answers_way() -> None:
    watch = Watch(lambda: None, 1.0, readings(IDLE, cpu(10, (10, 250))))
    watch.begin(1.0)
    watch.look(1.02, 0.1)
    assert watch.lost(3.0) == Lost(ours_ms=350)


def test_a_bot_that_sends_more_than_an_answer_holds_us_up_itself() -> None:
    sent = iter((10_000, 14_096, 14_097))
    watch = Watch(lambda: None, 1.0, lambda: None, lambda: next(sent))
    watch.begin(1.0)
    watch.look(2.0, 0.3)
    assert watch.lost(3.0) == Lost(ours_ms=300)
    assert watch.lost(3.0) == Lost()


def test_a_new_wait_forgets_the_one_before() -> None:
    watch = Watch(lambda: IDLE, 1.0, lambda: None)
    watch.begin(1.0)
    watch.look(1.5, 0.4)
    watch.begin(2.0)
    assert not watch.looked
    assert watch.lost(2.5) == Lost()


class Starved:
    """A bot of which others take a share of all time from its begin."""

    def __init__(self, share: float) -> None:
        self._share = share

    def __call__(self) -> CpuTimes:
        wall_ms = asyncio.get_running_loop().time() * 1000
        return cpu(wall_ms * (1 - self._share), (wall_ms * (1 - self._share), wall_ms * self._share))


def untold() -> CpuTimes | None:
    return None


@dataclass
class Outcome:
    """How a wait is judged, and how often its peer was ended."""

    judged: TooLate | Lost
    ended: int


def waited(
    bot: Callable[[], CpuTimes | None], answer_after_ms: float, *,
    limit_ms: float = 100, earlier_ms: float = 0.0, stands_still: Mapping[float, float] | None = None,
    crowd: bool = False,
) -> Outcome:  # fmt: skip
    """A wait for an answer that comes after so long, on a loop of its own.

    `stands_still`: for how long our loop does nothing, by when that begins; both in milliseconds.
    """
    ended = []

    async def wait_for_it() -> TooLate | Lost:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        wait = Wait(Watch(bot, 1.0, untold), loop.time, lambda: ended.append(loop.time()), lambda: crowd)
        wait.begin(limit_ms, earlier_ms)
        for begins_ms, ms in (stands_still or {}).items():
            loop.call_later(begins_ms / 1000, loop.stand_still, ms / 1000)
        try:
            await asyncio.sleep(answer_after_ms / 1000)
        except asyncio.CancelledError:
            assert wait.over
        finally:
            wait.end()
        return wait.judge(answered=not wait.over)

    return Outcome(run_virtually(wait_for_it()), len(ended))


NEVER = 60_000.0


def test_a_failure_to_look_at_the_bot_ends_the_wait_and_is_raised() -> None:
    def unreadable() -> CpuTimes | None:
        raise SandboxError("its control group cannot be read")

    with pytest.raises(SandboxError, match="cannot be read"):
        waited(unreadable, NEVER)


def test_an_answer_within_the_limit_is_in_time_whatever_was_lost() -> None:
    outcome = waited(Starved(0.9), 99)
    assert isinstance(outcome.judged, Lost)
    assert outcome.judged.bot_ms == pytest.approx(0.9 * 99)
    assert outcome.ended == 0


def test_an_answer_before_the_first_look_is_in_time_and_nothing_is_read() -> None:
    assert waited(no_reading, 19, limit_ms=1_000) == Outcome(Lost(), 0)


def test_no_answer_within_the_limit_is_too_late_where_nothing_was_lost() -> None:
    outcome = waited(Starved(0), NEVER)
    assert isinstance(outcome.judged, TooLate)
    assert outcome.judged.ms == pytest.approx(100)
    assert outcome.ended == 1


def test_an_answer_within_what_was_taken_is_the_machines_fault_and_says_so() -> None:
    words = (
        r"answered after 130 ms of 100 ms, while the machine took 78 ms from it "
        r"\(78 ms it was ready to run but had no core\)"
    )
    with pytest.raises(Overloaded, match=words):
        waited(Starved(0.6), 130)


def test_no_answer_within_what_was_taken_is_too_late_and_all_of_it_is_told() -> None:
    outcome = waited(Starved(0.3), NEVER)
    assert isinstance(outcome.judged, TooLate)
    assert outcome.judged.ms == pytest.approx(100 / 0.7, abs=2)
    assert outcome.judged.lost.bot_ms == pytest.approx(outcome.judged.ms - 100, abs=2)
    assert outcome.ended == 1


def test_a_wait_that_is_still_owed_time_after_three_limits_is_the_machines_fault() -> None:
    with pytest.raises(Overloaded, match="no answer after 300 ms of 100 ms, while the machine took"):
        waited(Starved(0.95), NEVER)


def test_a_machine_that_tells_nothing_of_its_threads_prolongs_nothing() -> None:
    outcome = waited(untold, NEVER)
    assert isinstance(outcome.judged, TooLate)
    assert outcome.judged.ms == pytest.approx(100)


def test_what_earlier_waits_lost_prolongs_one_that_the_bank_ends() -> None:
    with pytest.raises(Overloaded, match="50 ms were lost in earlier waits"):
        waited(untold, 149, earlier_ms=50)
    outcome = waited(untold, 151, earlier_ms=50)
    assert isinstance(outcome.judged, TooLate)
    assert outcome.judged.ms == pytest.approx(150)


def test_an_answer_that_our_loop_saw_too_late_is_our_fault() -> None:
    with pytest.raises(Overloaded, match=r"130 ms of 100 ms, .* the referee itself was held up"):
        waited(untold, 50, stands_still={40: 90})


def test_a_wait_without_answer_goes_on_for_as_long_as_our_loop_stood_still() -> None:
    outcome = waited(untold, NEVER, stands_still={31: 150})  # the look that is due at 50 ms comes at 181
    assert isinstance(outcome.judged, TooLate)
    assert outcome.judged.ms == pytest.approx(231)


def test_lags_that_held_up_no_answer_do_not_add_up() -> None:
    outcome = waited(untold, NEVER, stands_still={20: 30, 60: 40})
    assert isinstance(outcome.judged, TooLate)
    assert outcome.judged.ms < 150


def test_a_wait_whose_end_we_lag_behind_gets_a_moment_more_but_only_once() -> None:
    outcome = waited(untold, NEVER, stands_still={90: 30, 130: 30})
    assert isinstance(outcome.judged, TooLate)
    assert outcome.judged.ms == pytest.approx(160)


class Told:
    """A bot that waits for a core from the first look on, which is told only when it gets one."""

    def __init__(self, gets_it_ms: float) -> None:
        self._gets_it_ms = gets_it_ms

    def __call__(self) -> CpuTimes:
        wall_ms = asyncio.get_running_loop().time() * 1000
        return cpu(0, (0, self._gets_it_ms - 5)) if wall_ms >= self._gets_it_ms else IDLE


def test_in_a_crowd_a_wait_for_a_core_that_is_not_told_yet_gets_the_time_to_be_told() -> None:
    with pytest.raises(Overloaded, match="answered after 150 ms of 100 ms, while the machine took 135 ms"):
        waited(Told(140), 150, crowd=True)
    assert isinstance(waited(Told(140), 150).judged, TooLate)


class Ready:
    """A bot that runs for a while and then is ready, but gets no core, of which the system tells nothing."""

    def __init__(self, runs_ms: float, *, sleeps: bool = False) -> None:
        self._runs_ms = runs_ms
        self._sleeps = sleeps

    def __call__(self) -> CpuTimes:
        wall_ms = asyncio.get_running_loop().time() * 1000
        ran_ms = min(wall_ms, self._runs_ms)
        return CpuTimes(ran_ms, {0: (ran_ms, 0.0)}, ready=[] if self._sleeps and wall_ms >= ran_ms else [0])


def test_who_is_ready_for_three_limits_but_never_gets_a_core_is_owed_them() -> None:
    with pytest.raises(Overloaded, match="no answer after 300 ms of 100 ms, while the machine took 200 ms"):
        waited(Ready(45), NEVER, crowd=True)


def test_an_answer_of_who_was_ready_but_had_no_core_until_then_is_the_machines_fault() -> None:
    with pytest.raises(Overloaded, match="answered after 250 ms of 100 ms, while the machine took 150 ms"):
        waited(Ready(45), 250, crowd=True)


def test_who_sleeps_instead_is_owed_nothing() -> None:
    outcome = waited(Ready(45, sleeps=True), NEVER)
    assert isinstance(outcome.judged, TooLate)
    assert outcome.judged.ms == pytest.approx(100)


def test_who_runs_all_the_time_is_owed_nothing() -> None:
    outcome = waited(Ready(NEVER), NEVER)
    assert isinstance(outcome.judged, TooLate)
    assert outcome.judged.ms == pytest.approx(100)


def test_a_thread_that_is_ready_behind_its_own_siblings_has_lost_nothing() -> None:
    account = Account(1.0)
    account.open(0.0, CpuTimes(0, {1: (0, 0), 2: (0, 0)}, ready=[1, 2]))
    for ms in (10.0, 50.0, 100.0):
        assert account.taken_ms(ms / 1000, CpuTimes(ms, {1: (ms, 0), 2: (0, 0)}, ready=[1, 2])) == (0, 0)


def test_a_wait_that_is_told_at_last_is_counted_once() -> None:
    account = Account(1.0)
    account.open(0.0, CpuTimes(0, {1: (0, 0)}))
    assert account.taken_ms(0.1, CpuTimes(0, {1: (0, 0)}, ready=[1])) == (0, 0)
    assert account.taken_ms(0.3, CpuTimes(0, {1: (0, 0)}, ready=[1])) == pytest.approx((200, 200))
    assert account.taken_ms(0.4, CpuTimes(10, {1: (10, 290)}, ready=[1])) == pytest.approx((290, 0))


def test_an_answer_while_that_is_waited_for_is_too_late_where_nothing_was_lost() -> None:
    assert isinstance(waited(Starved(0), 150, crowd=True).judged, TooLate)


@pytest.mark.parametrize(("limit_ms", "ends_ms"), [(50, 150), (1_000, 1_200)])
def test_what_is_not_told_is_waited_for_a_fifth_of_a_second_but_never_longer_than_three_limits(
    limit_ms: float, ends_ms: float
) -> None:
    outcome = waited(Starved(0), NEVER, limit_ms=limit_ms, crowd=True)
    assert isinstance(outcome.judged, TooLate)
    assert outcome.judged.ms == pytest.approx(ends_ms)


def test_an_answer_in_time_is_in_time_although_our_loop_stood_still() -> None:
    assert isinstance(waited(untold, 50, stands_still={40: 50}).judged, Lost)


def test_a_wait_that_ends_more_than_a_second_too_late_is_nobodys_fault() -> None:
    with pytest.raises(Overloaded, match="the referee stood still: a wait of 100 ms ended after 5,0"):
        waited(untold, NEVER, stands_still={90: 5_000})


async def test_who_is_cancelled_by_others_is_not_taken_for_one_whose_time_is_over() -> None:
    wait = Wait(Watch(untold, 1.0, untold), time.monotonic, lambda: None)

    async def task() -> None:
        wait.begin(60_000)
        try:
            await asyncio.sleep(60)
        finally:
            wait.end()

    running = asyncio.create_task(task())
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not wait.over
    wait.put_away()


@pytest.mark.parametrize("limits_ms", [(5_000, 50), (50, 5_000, 50)])
def test_waits_that_follow_one_another_end_each_at_its_own_limit(limits_ms: Sequence[int]) -> None:
    ended = []

    async def follow_one_another() -> TooLate | Lost:
        loop = asyncio.get_running_loop()
        wait = Wait(Watch(untold, 1.0, untold), loop.time, lambda: ended.append(loop.time()), lambda: False)
        for limit_ms in limits_ms[:-1]:
            wait.begin(limit_ms)
            await asyncio.sleep(0.01)
            wait.end()
            assert isinstance(wait.judge(answered=True), Lost)
        wait.begin(limits_ms[-1])
        with pytest.raises(asyncio.CancelledError):
            await asyncio.sleep(60)
        wait.end()
        return wait.judge(answered=False)

    judged = run_virtually(follow_one_another())
    assert isinstance(judged, TooLate)
    assert judged.ms == pytest.approx(limits_ms[-1])
    assert len(ended) == 1
