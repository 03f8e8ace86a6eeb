"""Plays a few turns with one real bot over its link, as a table would."""

import asyncio

from referee.limits import Limits
from referee.players.grpc_player import BotLink
from referee.ports import Answer, Failure, RunningBot
from tests.support.bot_process import BotProcess
from treelings import Clock, GameStart, Move, State, View, derive_deck

CLOCK = Clock(startup_ms=60_000, move_ms=60_000, bank_ms=600_000, increment_ms=100)
"""Far more time than an honest bot needs, however busy the machine."""

QUICK = CLOCK._replace(move_ms=150)
"""For bots that never answer."""

DECK = derive_deck(bytes(32), "demo/0")
START = GameStart("demo/0/r0", 0, 2, "start", CLOCK)
VIEW = View.of(State.deal(DECK, 2), limit_ms=CLOCK.move_ms, bank_ms=4_200)
"""What seat 0 sees first."""


def link_to(bot: RunningBot, *, ahead_s: float = 60.0) -> BotLink:
    """The way to a bot, on the clock of the event loop that runs: where that is fair, so are its waits."""
    return BotLink(bot, asyncio.get_running_loop().time, ahead_s=ahead_s)


async def play_some(link: BotLink, clock: Clock = CLOCK, turns: int = 3, game: str = "demo/0/r0") -> Answer | Failure:
    """The bot's last answer, or its first failure, as seat 0 of two; the other seat plays by itself."""
    player = link.player()
    failure = await player.start(GameStart(game, 0, 2, "start", clock))
    if failure is not None:
        return failure
    state = State.deal(DECK, 2)
    history: list[Move] = []
    for _ in range(turns):
        answer = await player.ask(View.of(state, tuple(history), limit_ms=clock.move_ms, bank_ms=4_200))
        if isinstance(answer, Failure):
            return answer
        for move in (state.legal_moves()[0], None):
            history.append(move or state.legal_moves()[0])
            state.play(history[-1])
    return answer


async def failure_of(
    source: str, clock: Clock = CLOCK, *, out_of_memory: bool = False, limits: Limits | None = None
) -> Failure:
    """How a bot of this source text fails; it has to."""
    async with BotProcess(source, out_of_memory=out_of_memory) as bot:
        bot.limits = limits or bot.limits
        link = link_to(bot)
        try:
            outcome = await play_some(link, clock)
        finally:
            await link.close()
    assert isinstance(outcome, Failure), outcome
    assert outcome.detail.isprintable()
    return outcome
