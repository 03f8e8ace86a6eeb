"""What the machine took from a wait: time in which a bot could not run, or its answer not be seen, through no doing
of its own.

All of it is a lower bound, so that a bot cannot claim what nobody took from it. What it cannot know is left out, too:
the time before the first look at a wait, which short waits never have, so that they cost nothing.
"""

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from referee.ports import CpuTimes

_NOTHING: Final[Mapping[int, float]] = MappingProxyType({})

Read = Callable[[], CpuTimes | None]
"""A reading of processor times; None where the system tells none."""

LATE_S: Final = 0.005
"""A timer that rings so late is no lag yet: clocks and timers of a loop are that coarse."""

LIMITS_AT_MOST: Final = 3
"""How many times its own length a wait may take in all."""

_SMALLEST_MS: Final = 5.0
_SMALLEST_SHARE: Final = 0.02
_FIRST_LOOK_SHARE: Final = 0.02
_TIGHT_MS: Final = 250.0
_LATEST_S: Final = 0.025
_MOST_BYTES: Final = 4096  # an answer has some hundred, all that gRPC adds included
_TASKS: Final = Path("/proc/self/task")
_LOAD: Final = Path("/proc/loadavg")


@dataclass(frozen=True, slots=True)
class Lost:
    """What was taken from a wait, in milliseconds.

    bot_ms      the bot was ready to run, but others had the cores
    ours_ms     the referee could not send, or did not look; its own threads had no core
    earlier_ms  what earlier waits lost, where they drew on the same account
    """

    bot_ms: float = 0.0
    ours_ms: float = 0.0
    earlier_ms: float = 0.0

    @property
    def ms(self) -> float:
        """All of it. Query, bot and answer follow one another, so what either side lost adds up."""
        return self.bot_ms + self.ours_ms + self.earlier_ms

    def __str__(self) -> str:
        parts = [
            f"{ms:,.0f} ms {what}"
            for ms, what in (
                (self.bot_ms, "it was ready to run but had no core"),
                (self.ours_ms, "the referee itself was held up"),
                (self.earlier_ms, "were lost in earlier waits"),
            )
            if ms >= 1
        ]
        return f"the machine took {self.ms:,.0f} ms from it ({', '.join(parts)})"


def allowed_ms(limit_ms: float, lost: Lost) -> float:
    """How long a wait of `limit_ms` may take in all, given what was lost; as it is for what is too little to matter.

    Never longer than three times what it would have been without loss, however much was lost.
    """
    if lost.ms <= max(_SMALLEST_MS, limit_ms * _SMALLEST_SHARE):
        return limit_ms
    return min(limit_ms + lost.ms, longest_ms(limit_ms, lost))


def longest_ms(limit_ms: float, lost: Lost) -> float:
    """What no wait takes longer than, whatever was lost."""
    return LIMITS_AT_MOST * (limit_ms + lost.earlier_ms)


def first_look_s(limit_ms: float) -> float:
    """How long after its begin a wait is looked at first: what others take before is not told.

    Short waits are to cost nothing, so that it is a while; but not where the limit is so tight that all may matter.
    """
    return 0.0 if limit_ms <= _TIGHT_MS else min(_LATEST_S, limit_ms / 1000 * _FIRST_LOOK_SHARE)


def taken_ms(
    before: CpuTimes, after: CpuTimes, wall_ms: float, cpus: float, untold_ms: Mapping[int, float] = _NOTHING
) -> float:
    """What others took from a group of threads in `wall_ms`, at least, in milliseconds.

    A thread that waits for a core waits for whoever has it: others, or its own siblings. These have it for as long as
    they run, so what a thread waited beyond that was taken by others, or by the group's own quota, which is known too.
    The thread that lost most counts, for the others may have waited at the same time. Nothing beyond `cpus` was ever
    the group's to lose. So threads that take turns, or that use up their quota, are owed nothing.

    untold_ms  by thread: what it has waited that the readings do not tell yet
    """
    used = after.used_ms - before.used_ms
    held = after.throttled_ms - before.throttled_ms
    worst = 0.0
    for thread, (ran, waited) in after.threads.items():
        ran_before, waited_before = before.threads.get(thread, (0.0, 0.0))
        siblings = max(0.0, used - (ran - ran_before))
        worst = max(worst, waited - waited_before + untold_ms.get(thread, 0.0) - siblings - held)
    return max(0.0, min(worst, cpus * wall_ms - used))


class Account:
    """What others took from one group of threads since its first reading."""

    def __init__(self, cpus: float) -> None:
        """`cpus`: what the group may use at once."""
        self._cpus = cpus
        self._first: tuple[float, CpuTimes] | None = None
        self._still: dict[int, tuple[float, tuple[float, float]]] = {}  # since when ready threads show these times

    def open(self, at: float, times: CpuTimes | None) -> None:
        """Begin anew with this reading, at this time in seconds; None: nothing can be told."""
        self._first = None if times is None else (at, times)
        self._still = {}
        if times is not None:
            self._untold_ms(at, times)

    def taken_ms(self, at: float, times: CpuTimes | None) -> tuple[float, float]:
        """What was taken till now, in milliseconds, at least; and how much of it the system has not told yet.

        A thread's wait for a core is told when it gets one. One that is ready at two readings, and has neither run nor
        been told to have waited between them, has waited all the time between: for others, or for its own siblings.
        """
        if self._first is None or times is None:
            return 0.0, 0.0
        since, first = self._first
        wall_ms = (at - since) * 1000
        told_ms = taken_ms(first, times, wall_ms, self._cpus)
        all_ms = taken_ms(first, times, wall_ms, self._cpus, self._untold_ms(at, times))
        return all_ms, all_ms - told_ms

    def _untold_ms(self, at: float, times: CpuTimes) -> dict[int, float]:
        """By thread that is ready: for how long its times have stood still."""
        before, self._still = self._still, {}
        for thread in times.ready:
            if figures := times.threads.get(thread):
                since, seen = before.get(thread, (at, figures))
                self._still[thread] = (since if seen == figures else at), figures
        return {thread: (at - since) * 1000 for thread, (since, _) in self._still.items()}


def own_times() -> CpuTimes | None:
    """Of this process's threads but for the one that calls, whose lag is measured otherwise.

    None where there is no Linux. Takes some 30 microseconds a thread.
    """
    threads: dict[int, tuple[float, float]] = {}
    ready: list[int] = []
    try:
        for thread in _TASKS.iterdir():
            try:
                ran, waited, _ = (thread / "schedstat").read_text(encoding="ascii").split()
                stat = (thread / "stat").read_bytes()
            except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
                continue
            threads[int(thread.name)] = (int(ran) / 1e6, int(waited) / 1e6)
            if stat.rpartition(b")")[2].split()[0] == b"R":
                ready.append(int(thread.name))
    except FileNotFoundError:
        return None
    threads.pop(threading.get_native_id(), None)
    return CpuTimes(time.process_time() * 1000, threads, ready=ready)


def crowded() -> bool:
    """Whether more threads of this machine are ready to run, now, than it has cores. False where there is no Linux."""
    try:
        running, _, _ = _LOAD.read_text(encoding="ascii").split()[3].partition("/")
    except FileNotFoundError:
        return False
    return int(running) > (os.cpu_count() or 1)


class Watch:
    """Looks at one wait after the other, and tells what was taken from the one that goes on."""

    def __init__(
        self, bot: Read, cpus: float, ours: Read = own_times, sent_bytes: Callable[[], int] = lambda: 0
    ) -> None:
        """Times that are handed in are in seconds, of one clock.

        cpus        what the bot may use at once
        sent_bytes  what it has sent to us so far: who sends more than an answer holds us up himself
        """
        self._bot = bot
        self._sent_bytes = sent_bytes
        self._sent_before = 0
        self._ours = ours
        self._of_bot = Account(cpus)
        self._of_us = Account(os.cpu_count() or 1)
        self._begun = 0.0
        self._first_lag_s = self._worst_lag_s = 0.0
        self._first: float | None = None  # when it was looked at first
        self.untold = False
        """Whether somebody waits for a core, as far as the last `lost` could see."""

    @property
    def looked(self) -> bool:
        """Whether the wait has lasted long enough to be looked at."""
        return self._first is not None

    def begin(self, at: float) -> None:
        """A wait begins."""
        self._begun = at
        self._sent_before = self._sent_bytes()
        self._first_lag_s = self._worst_lag_s = 0.0
        self._first = None
        self.untold = False

    def look(self, at: float, late_s: float) -> None:
        """The wait goes on; `late_s`: how much later than was asked for we came to look."""
        if late_s <= LATE_S:
            late_s = 0.0
        if self._first is None:
            self._first_lag_s = late_s
            self._first = at
            self._of_bot.open(at, self._bot())
            self._of_us.open(at, self._ours())
        else:
            self._worst_lag_s = max(self._worst_lag_s, late_s)

    def lost(self, at: float, earlier_ms: float = 0.0) -> Lost:
        """What was taken from the wait until now."""
        # What we lag while a bot thinks costs it nothing: only what held up its query, and then its answer, does. When
        # that will be is not known, so that it is the worst lag that counts.
        kept_busy = self._sent_bytes() - self._sent_before > _MOST_BYTES
        lag_ms = 0.0 if kept_busy else (self._first_lag_s + self._worst_lag_s) * 1000
        if self._first is None:
            return Lost(0.0, lag_ms, earlier_ms)
        bot_ms, untold_ms = self._of_bot.taken_ms(at, self._bot())
        ours_ms, ours_untold_ms = (0.0, 0.0) if kept_busy else self._of_us.taken_ms(at, self._ours())
        self.untold = untold_ms > 0 or ours_untold_ms > 0
        # What a thread waited is told when it gets its core. So up to the time before the first look may have been
        # waited then, on siblings that have stopped since.
        before_ms = (self._first - self._begun) * 1000
        return Lost(max(0.0, bot_ms - before_ms), lag_ms + ours_ms, earlier_ms)
