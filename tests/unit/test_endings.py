"""Why a stream broke: a process that is about to end is waited for, also where the machine stands still meanwhile."""

import asyncio
from pathlib import Path

from referee.model import FaultKind, Submission
from referee.players.endings import explain
from referee.ports import BotState
from tests.support.players import FakeBot
from tests.support.virtual_time import VirtualLoop, run_virtually

LONG_S = 5.0
BOT = Submission("bot", "Tests", "sha256:" + "0" * 64, Path("/nowhere"), ("python", "bot.py"), "python")


class Ending(FakeBot):
    """Is seen to have ended at the fourth look, right before which the machine stands still."""

    looks = 0

    async def state(self) -> BotState:
        self.looks += 1
        if self.looks == 3:
            loop = asyncio.get_running_loop()
            assert isinstance(loop, VirtualLoop)
            loop.stand_still(LONG_S)
        return BotState(self.looks < 4, None if self.looks < 4 else 3)


def test_a_process_that_could_not_end_because_the_machine_stood_still_has_crashed_all_the_same() -> None:
    kind, detail = run_virtually(explain(Ending(BOT), "it went on"))
    assert (kind, detail) == (FaultKind.CRASH, "the bot ended with exit code 3 (it logged nothing)")


def test_a_process_that_goes_on_has_broken_the_protocol() -> None:
    assert run_virtually(explain(FakeBot(BOT), "it went on")) == (FaultKind.PROTOCOL, "it went on")
