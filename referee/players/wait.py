"""One task's waits, each ended on the wall clock: at its limit, or later by what the machine took from it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from referee.errors import Overloaded, SandboxError
from referee.players.overload import LATE_S, Lost, Watch, allowed_ms, crowded, first_look_s, longest_ms

_LOOK_EVERY_S: Final = 0.025
_EARLY_S: Final = 0.001  # a timer of a loop may ring so much before its time
_STANDSTILL_S: Final = 1.0  # who wakes so much too late stood still: no time was fair to anybody
_WORTH_MS: Final = 1.0  # no wait goes on for less
_TO_BE_SEEN_MS: Final = 20.0  # what came while we did not look takes a few turns of the loop to be seen
_AGAIN_MS: Final = 10.0
_CROWD_MS: Final = 200.0  # who waits for a core longer than that at once is a rare case even then


@dataclass(frozen=True, slots=True)
class TooLate:
    """Nothing came within the limit, nor within what the machine had taken from the wait; `ms` is all of it."""

    ms: float
    lost: Lost


class Wait:
    """Ends what a task waits for when its time is over, and then judges the time that it took.

    One timer of the event loop does it for all waits, since one of its own for each is far dearer. It also rings now
    and then while a wait goes on: how late it does tells of our own lag. When no wait goes on any more, it is dropped
    at its next ring.
    """

    def __init__(
        self,
        watch: Watch,
        now: Callable[[], float],
        late: Callable[[], None],
        crowd: Callable[[], bool] = crowded,
    ) -> None:
        """`late` is called as soon as a wait is over without an answer: whoever can end the peer does so.

        `crowd` tells whether somebody waits for a core now.
        """
        self._crowd = crowd
        self._watch = watch
        self._now = now
        self._late = late
        self._task: asyncio.Task[object] | None = None  # whose wait goes on
        self._timer: asyncio.TimerHandle | None = None
        self._rings = 0.0  # when the timer is to ring
        self._limit_ms = self._earlier_ms = self._took_ms = 0.0
        self._begun = self._ended = self._look_at = self._ends = 0.0
        self._patience_ms = 0.0  # how much longer yet what is not told yet may be waited for
        self._looked_again = self._stood_still = False
        self._failure: SandboxError | None = None
        self.over = False
        """Whether the wait was ended without an answer; what the task waited for has been cancelled then."""

    @property
    def cancelled(self) -> bool:
        """Whether the task was cancelled by this wait, and by nobody else, who would have to be heeded."""
        return self.over and self._task is not None and self._task.cancelling() == 1

    @property
    def took_ms(self) -> float:
        """How long the last wait was."""
        return (self._ended - self._begun) * 1000

    def begin(self, limit_ms: float, earlier_ms: float = 0.0, let_go: Callable[[], None] | None = None) -> None:
        """The current task begins to wait, `limit_ms` at most.

        earlier_ms  what earlier waits lost that drew on the same account as this limit
        let_go      begins what is waited for: after the first look, which takes longer the more threads a peer has, and
                    right before the clock starts

        Raises SandboxError, and what `let_go` raises.
        """
        first_s = first_look_s(limit_ms)
        self._begun = self._now()
        self._watch.begin(self._begun)
        if first_s == 0:
            self._watch.look(self._begun, 0.0)
        if let_go is not None:
            let_go()
        self._begun = self._now()  # what all this takes is not the bot's
        self._task = asyncio.current_task()
        self._limit_ms = limit_ms
        self._earlier_ms = earlier_ms
        self._ends = self._begun + limit_ms / 1000
        self._look_at = self._begun + (first_s or _LOOK_EVERY_S)
        self._looked_again = self._stood_still = self.over = False
        self._patience_ms = _CROWD_MS
        self._failure = None
        rings = min(self._look_at, self._ends)
        if self._timer is None or rings < self._rings:
            self._wind(rings)

    def end(self) -> None:
        """The wait has ended, with an answer or without; nothing if it has already."""
        if self._task is None:
            return
        self._ended = self._now()
        if self.over:
            self._task.uncancel()
        self._task = None

    def judge(self, *, answered: bool) -> TooLate | Lost:
        """What to think of the time that a wait took which has ended: too late, or what was lost within the limit.

        Raises Overloaded where the machine is to blame: for an answer after the limit, or for none after three limits;
        and the SandboxError with which looking at the bot failed.
        """
        if self._failure is not None:
            raise self._failure
        took_ms = self.took_ms
        if answered and took_ms <= self._limit_ms:
            return self._watch.lost(self._ended) if self._watch.looked else Lost()
        if answered:
            self._watch.look(self._ended, self._ended - max(self._rings, self._begun))
        lost = self._watch.lost(self._ended, self._earlier_ms)
        allowed = allowed_ms(self._limit_ms, lost)
        if self._stood_still:
            raise Overloaded(
                f"the referee stood still: a wait of {self._limit_ms:,.0f} ms ended after {took_ms:,.0f} ms; "
                "is the machine overloaded, or was the process stopped?"
            )
        if answered and allowed > self._limit_ms and took_ms <= allowed + _TO_BE_SEEN_MS:
            raise Overloaded(f"answered after {took_ms:,.0f} ms of {self._limit_ms:,.0f} ms, while {lost}")
        if not answered and self._owed(lost):
            raise Overloaded(f"no answer after {took_ms:,.0f} ms of {self._limit_ms:,.0f} ms, while {lost}")
        return TooLate(took_ms, lost)

    def put_away(self) -> None:
        """Leave no timer behind."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _owed(self, lost: Lost) -> bool:
        """Whether the machine still owes time to a wait that may not be longer."""
        return self._limit_ms + lost.ms + _TO_BE_SEEN_MS >= longest_ms(self._limit_ms, lost)

    def _wind(self, rings: float) -> None:
        self.put_away()
        self._rings = rings
        self._timer = asyncio.get_running_loop().call_later(rings - self._now(), self._ring)

    def _ring(self) -> None:
        self._timer = None
        if self._task is None:
            return
        try:
            self._see()
        except SandboxError as error:  # nobody hears what a timer raises
            self._failure = error
            self._give_up()

    def _see(self) -> None:
        at = self._now()
        late_s = at - max(self._rings, self._begun)
        if at >= self._ends:
            self._watch.look(at, late_s)
            if not self._goes_on(at, late_s):
                self._give_up()
                return
        elif at >= self._look_at - _EARLY_S:
            self._watch.look(at, late_s)
            self._look_at = at + _LOOK_EVERY_S
        self._wind(min(self._look_at, self._ends))

    def _give_up(self) -> None:
        assert self._task is not None
        self.over = True
        self._late()
        self._task.cancel()

    def _goes_on(self, at: float, late_s: float) -> bool:
        """Whether a wait whose time is over is owed more."""
        self._stood_still = late_s > _STANDSTILL_S
        took_ms = (at - self._begun) * 1000
        lost = self._watch.lost(at, self._earlier_ms)
        allowed = allowed_ms(self._limit_ms, lost)
        longest = longest_ms(self._limit_ms, lost)
        if self._stood_still or took_ms >= longest:
            return False
        if allowed - took_ms >= _WORTH_MS:
            self._looked_again = False
            self._patience_ms = _CROWD_MS
            more_ms = allowed - took_ms
        elif late_s > LATE_S and allowed > self._limit_ms and not self._looked_again:
            self._looked_again = True
            more_ms = _TO_BE_SEEN_MS
        elif self._watch.untold or (self._patience_ms > 0 and self._crowd()):
            # A thread's wait for a core is told when it ends, and one that is ready now may have waited for long.
            self._patience_ms -= _AGAIN_MS
            more_ms = _AGAIN_MS
        else:
            return False
        self._ends = self._begun + min(longest, took_ms + more_ms) / 1000
        self._look_at = at + _LOOK_EVERY_S
        return True
