"""The fair event loop: what its process stands still is no time, and a wait lasts as long as it is to."""

import asyncio
import time

from referee.loop import FairLoop, run


async def stand_still_while_two_things_happen() -> tuple[float, list[str]]:
    """What passes of the loop's time while it is held up for two seconds, and whether a wait of one ended."""
    loop, told = asyncio.get_running_loop(), list[str]()
    begun = loop.time()
    ending = loop.call_later(1, told.append, "over")
    time.sleep(2)  # noqa: ASYNC251 - nobody else gets to run
    passed = loop.time() - begun
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    ending.cancel()
    return passed, told


def test_what_its_process_stands_still_passes_of_no_wait() -> None:
    passed, told = run(stand_still_while_two_things_happen(), fair=True)
    assert (passed < 0.5, told) == (True, [])


def test_a_wait_lasts_at_least_as_long_as_it_is_to() -> None:
    begun = time.monotonic()
    run(asyncio.sleep(0.3), fair=True)
    assert time.monotonic() - begun >= 0.299  # a loop may ring so much before its time


def test_who_waits_for_nothing_wakes_when_something_comes() -> None:
    async def told_by_a_thread() -> str:
        return await asyncio.to_thread(str, "came")

    with asyncio.Runner(loop_factory=FairLoop) as runner:
        assert runner.run(told_by_a_thread()) == "came"
