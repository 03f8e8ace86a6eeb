import asyncio
from collections.abc import Callable

import pytest

from referee.errors import EngineGone, SandboxError
from referee.sandbox.restless import LOOK_EVERY_S, PATIENCE_MS, TOLERATED_MS, Watch


class PutOff:
    """A call that a test makes when it wants to."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call: Callable[[], None] | None = call

    def make(self) -> None:
        assert self._call is not None, "was cancelled"
        call, self._call = self._call, None
        call()

    def cancel(self) -> None:
        self._call = None

    @property
    def waits(self) -> bool:
        return self._call is not None


class Bot:
    """A bot that uses as much processor time as the test says, and its watch."""

    def __init__(self, error: Exception | None = None) -> None:
        self.used_ms: float | None = 0.0
        self.shrunk = 0
        self._error = error
        self.calls: list[PutOff] = []
        self.look_error: Exception | None = None
        self.watch = Watch(self._look, self._shrink, self._later)

    def _look(self) -> float | None:
        if self.look_error:
            raise self.look_error
        return self.used_ms

    def _later(self, seconds: float, call: Callable[[], None]) -> PutOff:
        assert seconds == LOOK_EVERY_S
        self.calls.append(PutOff(call))
        return self.calls[-1]

    async def _shrink(self) -> None:
        self.shrunk += 1
        if self._error:
            raise self._error

    def use(self, ms: float) -> None:
        assert self.used_ms is not None
        self.used_ms += ms

    def look(self) -> None:
        self.calls[-1].make()


async def settled(bot: Bot) -> Bot:
    await bot.watch.close()
    assert not any(call.waits for call in bot.calls)
    return bot


async def test_a_bot_that_works_while_it_should_rest_gets_a_smaller_share_once() -> None:
    bot = Bot()
    bot.watch.rest()
    for _ in range(3):
        bot.use(PATIENCE_MS + TOLERATED_MS + 1)
        if bot.calls[-1].waits:
            bot.look()
    bot.watch.wake()
    bot.watch.rest()

    assert (await settled(bot)).shrunk == 1


async def test_short_rests_add_up() -> None:
    bot = Bot()
    for _ in range(6):
        bot.watch.rest()
        bot.use(TOLERATED_MS + PATIENCE_MS / 5)
        bot.watch.wake()

    assert (await settled(bot)).shrunk == 1


async def test_what_a_bot_uses_on_turn_does_not_count() -> None:
    bot = Bot()
    for _ in range(10):
        bot.use(1_000)
        bot.watch.rest()
        bot.look()
        bot.watch.wake()

    assert (await settled(bot)).shrunk == 0


async def test_the_last_of_a_turns_work_is_tolerated_however_many_turns_there_are() -> None:
    bot = Bot()
    for _ in range(1_000):
        bot.watch.rest()
        bot.use(TOLERATED_MS)
        bot.watch.wake()

    assert (await settled(bot)).shrunk == 0


async def test_resting_or_waking_twice_counts_nothing_twice() -> None:
    bot = Bot()
    bot.watch.rest()
    bot.watch.rest()
    bot.use(PATIENCE_MS)
    bot.watch.wake()
    bot.use(PATIENCE_MS)
    bot.watch.wake()

    assert len(bot.calls) == 1
    assert (await settled(bot)).shrunk == 0


async def test_a_bot_that_has_ended_is_watched_no_more() -> None:
    bot = Bot()
    bot.watch.rest()
    bot.used_ms = None
    bot.look()

    assert len(bot.calls) == 1
    bot.watch.wake()
    assert (await settled(bot)).shrunk == 0


async def test_a_look_that_fails_is_our_failure_and_told_at_the_next_turn() -> None:
    bot = Bot()
    bot.watch.rest()
    bot.look_error = SandboxError("reading a container's processor time: Input/output error")
    bot.look()

    with pytest.raises(SandboxError, match="Input/output error"):
        bot.watch.wake()
    assert (await settled(bot)).shrunk == 0


async def test_a_share_that_could_not_be_made_smaller_is_our_failure_and_told_at_the_next_turn() -> None:
    bot = Bot(EngineGone("nobody answers"))
    bot.watch.rest()
    bot.use(1_000)
    bot.look()
    await asyncio.sleep(0)

    with pytest.raises(EngineGone, match="nobody answers"):
        bot.watch.wake()
    with pytest.raises(EngineGone, match="nobody answers"):
        bot.watch.rest()
    await settled(bot)
