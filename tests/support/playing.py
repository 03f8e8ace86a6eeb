"""Plays a few turns with one real bot over its link, as a table would."""

from referee.limits import Limits
from referee.players.grpc_player import BotLink
from referee.ports import Answer, Failure
from tests.support.bot_process import BotProcess
from treelings import Clock, GameStart, Move, State, View, derive_deck

CLOCK = Clock(startup_ms=10_000, move_ms=2_000, bank_ms=20_000, increment_ms=100)
QUICK = Clock(startup_ms=10_000, move_ms=150, bank_ms=20_000, increment_ms=100)
DECK = derive_deck(bytes(32), "demo/0")
START = GameStart("demo/0/r0", 0, 2, "start", CLOCK)
VIEW = View.of(State.deal(DECK, 2), limit_ms=CLOCK.move_ms, bank_ms=4_200)
"""What seat 0 sees first."""


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
        link = BotLink(bot)
        try:
            outcome = await play_some(link, clock)
        finally:
            await link.close()
    assert isinstance(outcome, Failure), outcome
    assert outcome.detail.isprintable()
    return outcome
