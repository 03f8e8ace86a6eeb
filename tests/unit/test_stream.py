"""Waiting for a bot's answer: whoever else cancels that is heeded."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable

import pytest

from referee.players.connection import Connection
from referee.players.overload import Watch
from referee.players.stream import Stream
from referee.players.wait import TooLate, Wait
from referee.ports import CpuTimes


def untold() -> CpuTimes | None:
    return None


class Silence:
    """A bot that says nothing, and what happens `meanwhile`, as soon as its time is over."""

    def __init__(self) -> None:
        ours, self._bot = socket.socketpair()
        ours.setblocking(False)
        self.meanwhile: Callable[[], object] = object
        self.connection = Connection(ours, 1_000)
        now = asyncio.get_running_loop().time
        self.wait = Wait(Watch(untold, 1.0, untold), now, self._late, lambda: False)
        self.stream = Stream(self.connection, "/x", str, self.wait)

    def _late(self) -> None:
        self.meanwhile()

    def close(self) -> None:
        self.wait.put_away()
        self.connection.close()
        self._bot.close()


@pytest.fixture
async def silence() -> AsyncIterator[Silence]:
    found = Silence()
    yield found
    found.close()


async def test_an_answer_that_does_not_come_is_too_late(silence: Silence) -> None:
    assert isinstance(await silence.stream.answer(100), TooLate)


async def test_who_is_cancelled_just_as_the_time_of_an_answer_is_over_is_cancelled(silence: Silence) -> None:
    asking = asyncio.create_task(silence.stream.answer(100))
    silence.meanwhile = asking.cancel
    with pytest.raises(asyncio.CancelledError):
        await asking
