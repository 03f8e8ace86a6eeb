"""Bots rest while it is not their turn: when each is held, when it is let go, and what if that fails."""

import asyncio
from contextlib import suppress

import pytest

from referee.errors import Overloaded, SandboxError
from referee.model import FaultKind
from referee.players.grpc_player import BotLink, GrpcPlayer
from referee.ports import Answer, CpuTimes, Failure
from tests.support.bot_process import BotProcess
from tests.support.bot_sources import kit_bot
from tests.support.playing import CLOCK, START, VIEW, link_to, play_some
from tests.support.sandboxed import PATIENCE_S
from treelings import GameEnd

VOID = GameEnd("void", (), ())


class WatchedBot(BotProcess):
    """Remembers whether it rested when it was looked at."""

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.resting_when_looked_at: list[bool] = []

    def cpu_times(self) -> CpuTimes | None:
        self.resting_when_looked_at.append(self.resting)
        return None


async def started(link: BotLink) -> GrpcPlayer:
    player = link.player()
    assert await player.start(START) is None
    return player


async def at_rest(bot: BotProcess) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not bot.resting:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.001)


async def test_a_bot_rests_from_its_readiness_to_its_first_query_and_from_each_answer_to_the_next_query() -> None:
    async with BotProcess(kit_bot()) as bot:
        link = link_to(bot)
        player = await started(link)
        assert bot.resting
        before = bot.rests
        assert isinstance(await player.ask(VIEW), Answer)
        assert bot.resting
        assert bot.rests == before + 1
        await link.close()


async def test_a_bot_whose_limit_is_tight_is_looked_at_while_it_still_rests_and_gains_nothing_by_it() -> None:
    async with WatchedBot(kit_bot()) as bot:
        link = link_to(bot)
        player = await started(link)
        bot.resting_when_looked_at.clear()
        with suppress(Overloaded):  # a busy machine's bot may need more time than that
            await player.ask(VIEW._replace(limit_ms=200))
        assert bot.resting_when_looked_at[0]
        await link.close()


async def test_a_bot_is_awake_from_the_end_of_a_game_to_its_readiness_for_the_next() -> None:
    async with BotProcess(kit_bot()) as bot:
        link = link_to(bot)
        for _ in range(2):
            player = await started(link)
            assert bot.resting
            await player.end(VOID)
            assert not bot.resting
            assert await link.left_in_order(60_000)
            assert not bot.resting
        assert (await bot.log_tail()).count("the end: void") == 2
        await link.close()


async def test_a_bot_whose_game_is_hung_up_is_let_go_to_notice() -> None:
    async with BotProcess(kit_bot()) as bot:
        link = link_to(bot)
        await started(link)
        assert bot.resting
        assert await link.left_in_order(60_000)
        assert not bot.resting
        await link.close()


async def test_a_bot_that_was_started_ahead_rests_as_soon_as_it_listens_until_its_first_game() -> None:
    async with BotProcess(kit_bot()) as bot:
        link = link_to(bot)
        await at_rest(bot)
        assert isinstance(await play_some(link), Answer)
        await link.close()


async def test_a_bot_that_was_started_ahead_and_does_not_listen_rests_in_the_end_and_loses_none_of_its_time() -> None:
    async with BotProcess("import time; time.sleep(60)") as bot:
        link = link_to(bot, ahead_s=0.02)
        await at_rest(bot)
        failure = await play_some(link, CLOCK._replace(startup_ms=300))
        await link.close()
    assert isinstance(failure, Failure)
    assert failure.kind is FaultKind.STARTUP
    assert failure.detail.startswith("expected the bot to listen on its socket within 300 ms: it is not there")


async def test_the_processor_time_of_a_move_is_what_was_used_from_its_query_to_its_answer() -> None:
    async with BotProcess(kit_bot()) as bot:
        link = link_to(bot)
        player = await started(link)
        bot.cpu_ms = [10.0, 12.5001234]
        answer = await player.ask(VIEW)
        await link.close()
    assert isinstance(answer, Answer)
    assert answer.cpu_ms == 2.5


@pytest.mark.parametrize("readings", [[], [10.0]])
async def test_the_processor_time_of_a_move_is_unknown_where_it_cannot_be_read(readings: list[float]) -> None:
    async with BotProcess(kit_bot()) as bot:
        link = link_to(bot)
        player = await started(link)
        bot.cpu_ms = readings
        answer = await player.ask(VIEW)
        await link.close()
    assert isinstance(answer, Answer)
    assert answer.cpu_ms is None


UNWILLING = SandboxError("the freezer is broken")


async def test_a_bot_that_cannot_be_held_or_let_go_is_nobodys_fault() -> None:
    async with BotProcess(kit_bot()) as bot:
        link = link_to(bot)
        player = link.player()
        bot.unwilling = UNWILLING
        with pytest.raises(SandboxError, match="the freezer is broken"):
            await player.start(START)
        bot.unwilling = None
        await link.close()
    async with BotProcess(kit_bot()) as bot:
        link = link_to(bot)
        player = await started(link)
        bot.unwilling = UNWILLING
        with pytest.raises(SandboxError, match="the freezer is broken"):
            await player.ask(VIEW)
        with pytest.raises(SandboxError, match="the freezer is broken"):
            await player.end(VOID)
        bot.unwilling = None
        await link.close()


async def test_a_failure_to_hold_a_bot_that_was_started_ahead_is_told_at_its_first_game() -> None:
    async with BotProcess("import time; time.sleep(60)") as bot:
        bot.unwilling = UNWILLING
        link = link_to(bot, ahead_s=0.0)
        await asyncio.sleep(0.05)
        bot.unwilling = None
        with pytest.raises(SandboxError, match="the freezer is broken"):
            await link.player().start(START)
        await link.close()


async def test_a_bot_that_cannot_be_let_go_is_ended_all_the_same_and_its_failure_told_once() -> None:
    async with BotProcess(kit_bot()) as bot:
        link = link_to(bot)
        await started(link)
        bot.unwilling = UNWILLING
        with pytest.raises(SandboxError, match="the freezer is broken"):
            await link.close()
        assert not (await bot.state()).running
        assert await link.close() == b""


async def test_a_bot_at_rest_is_ended_at_once() -> None:
    async with BotProcess(kit_bot("def end(self, result): pass")) as bot:
        link = link_to(bot)
        await at_rest(bot)
        await link.close()
        assert not (await bot.state()).running
