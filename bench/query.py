"""What a query costs beside its bare transport, and where the rest goes: python -m bench query.

The referee plays a game with two sample bots in containers: state, view, codec, connection, timer, judging, clock, and
bots that rest off turn where the sandbox can hold them. Then it plays the same with bots that it keeps awake. Then the
very same bytes go to the same two processes, written and read in turn and not looked at: over our connection, and over
bare `grpc.aio` streams; and to two more containers, in which the same bot answers one grpcio call for each message.
Timed is from the first query of a game to the last answer. Games alternate between the ways in one run; figures are
medians over the games, all ways of one deal compared with each other. Since two processes stay as fast as they began,
some 10 % apart from the next two, several pairs play.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final

import referee.players  # noqa: F401 - before grpc, whose verbosity it sets

# isort: split
import grpc.aio

from referee.clock import SeatClock
from referee.game import play_game
from referee.limits import Limits
from referee.loop import run
from referee.model import GameRecord, GameSpec, SeatHolder
from referee.players.connection import Connection
from referee.players.grpc_player import BotLink
from referee.players.listening import wait_until_listening
from referee.ports import Answer, Failure, Player, RunningBot
from referee.records import states
from referee.sandbox.choose import choose_sandbox
from referee.submissions import find_bot, inspect
from treelings import Clock, GameEnd, GameStart, Move, View, codec, derive_deck

TITLE: Final = "a query, referee to container and back, two seats"
FIGURES: Final = {
    "played_us": ("as it is played: bookkeeping, connection, judging, bots at rest off turn, us", ""),
    "bare_us": ("bare grpc.aio stream on uvloop, same bytes, same containers, us", ""),
    "unary_us": ("one grpcio call, same bytes, same bot in the same kind of container, us", ""),
    "played_vs_bare": ("as it is played / bare grpc.aio stream", "<= 1.15"),
    "played_vs_unary": ("as it is played / one grpcio call", "<= 0.8"),
    "connection_us": ("of it: the same bytes over our connection, bots awake, us (the bot's side is in it)", ""),
    "resting_us": ("of it: to hold the bot and let it go on, us", ""),
    "view_us": ("of it: to make the view of the seat on turn, us", ""),
    "encode_us": ("of it: to make its message, us", ""),
    "judge_us": ("of it: to read the reply, parse and play its move, us", ""),
    "rest_of_it_us": ("of it: all else, clocks and processor times, us", ""),
}

DEALS: Final = 10
ROUNDS: Final = 5  # of all deals
PAIRS: Final = 7  # of processes, one after the other
CLOCK: Final = Clock()
OPTIONS: Final = (("grpc.use_local_subchannel_pool", 1), ("grpc.max_receive_message_length", 16 * 1024))
_UNARY: Final = Path(__file__).parent / "unary_bot"
_ANSWER: Final = f"/{codec.SERVICE}/Answer"


def measure() -> dict[str, float]:
    """Microseconds a move each way, and how the ways compare. Raises SandboxError where no engine is."""
    return run(_measure())


async def _measure() -> dict[str, float]:
    sandbox, _ = choose_sandbox(
        "docker", league="bench", limits=Limits(), report=lambda line: print(line, file=sys.stderr)
    )
    rounds: dict[str, list[float]] = {}
    await sandbox.open()
    try:
        for _ in range(PAIRS):
            bots = [await sandbox.start(inspect(find_bot("random")), "bench") for _ in range(2)]
            others = [await sandbox.start(inspect(_UNARY), "bench-unary") for _ in range(2)]
            for name, seconds in (await _rounds(bots, others)).items():
                rounds.setdefault(name, []).extend(seconds)
            for bot in [*bots, *others]:
                await bot.stop()
    finally:
        await sandbox.close()
    return _figures(rounds)


async def _rounds(bots: Sequence[RunningBot], others: Sequence[RunningBot]) -> dict[str, list[float]]:
    """Seconds a move of each way, or stage of it, and each game."""
    links = [BotLink(bot) for bot in bots]
    awake = [_Awake(bot) for bot in bots]
    # Waits for the bots, and lets both sides fill their tables of moves, which the ways after the first would find so.
    games = [sent(await _referee(links, number, _Watch())) for number in range(DEALS)]
    connections = [await _connection(bot) for bot in bots]
    for each in [*bots, *others]:  # those that were started ahead, too
        each.wake()
    channels = [grpc.aio.insecure_channel(f"unix:{bot.address}", options=OPTIONS) for bot in bots]
    callers = [await _channel(bot) for bot in others]
    rounds: dict[str, list[float]] = {}
    for number in range(DEALS * ROUNDS):
        watch, watch_awake = _Watch(), _Watch()
        record = await _referee(links, number % DEALS, watch)
        await _referee(awake, number % DEALS, watch_awake)
        game, moves = games[number % DEALS], len(record.moves)
        for name, seconds in (
            ("played", watch.seconds),
            ("awake", watch_awake.seconds),
            ("connection", await _over_connections(connections, game)),
            ("bare", await _bare(channels, game)),
            ("unary", _unary(callers, game)),
        ):
            rounds.setdefault(name, []).append(seconds / moves)
        for name, seconds in _stages(record).items():
            rounds.setdefault(name, []).append(seconds / moves)
    for link in (*awake, *links):
        await link.close()
    for connection in connections:
        connection.close()
    for channel in channels:
        await channel.close(None)
    for caller in callers:
        caller.close()
    return rounds


def _figures(rounds: dict[str, list[float]]) -> dict[str, float]:
    rounds["resting"] = [played - awake for played, awake in zip(rounds["played"], rounds["awake"], strict=True)]
    figures = {f"{name}_us": median(each) * 1e6 for name, each in rounds.items()}
    parts = ("connection", "resting", "view", "encode", "judge")
    figures["rest_of_it_us"] = figures["played_us"] - sum(figures[f"{name}_us"] for name in parts)
    for other in ("bare", "unary"):
        ratios = [played / each for played, each in zip(rounds["played"], rounds[other], strict=True)]
        figures[f"played_vs_{other}"] = median(ratios)
    return {name: figures[name] for name in FIGURES}


class _Awake(BotLink):
    """The way to a bot that is never held."""

    def rest(self) -> None:
        pass


async def _connection(bot: RunningBot) -> Connection:
    reached = await wait_until_listening(bot)
    assert not isinstance(reached, Failure), reached
    return Connection(reached, bot.limits.sent_bytes)


async def _channel(bot: RunningBot) -> grpc.Channel:
    bot.wake()
    reached = await wait_until_listening(bot)
    assert not isinstance(reached, Failure), reached
    reached.close()
    return grpc.insecure_channel(f"unix:{bot.address}", options=OPTIONS)


class _Watch:
    """Takes the time from a game's first query to its last answer."""

    def __init__(self) -> None:
        self._began: float | None = None
        self._answered = 0.0

    @property
    def seconds(self) -> float:
        assert self._began is not None, "no query was made"
        return self._answered - self._began

    def around(self, player: Player) -> "_Timed":
        return _Timed(player, self)

    def ask(self) -> None:
        if self._began is None:
            self._began = perf_counter()

    def answer(self) -> None:
        self._answered = perf_counter()


class _Timed:
    """A player under the watch."""

    def __init__(self, player: Player, watch: _Watch) -> None:
        self._player = player
        self._watch = watch
        self.start = player.start
        self.end = player.end

    async def ask(self, view: View) -> Answer | Failure:
        self._watch.ask()
        answer = await self._player.ask(view)
        self._watch.answer()
        return answer


async def _referee(links: Sequence[BotLink], number: int, watch: _Watch) -> GameRecord:
    deal = f"bench/{number}"
    spec = GameSpec(f"{deal}/r0", "bench", None, "a-vs-b", deal, 0, "start", ("a", "b"))
    seats = [SeatHolder(bot, "") for bot in spec.bots]
    deck = derive_deck(bytes(32), deal)
    return await play_game(spec, deck, seats, [watch.around(link.player()) for link in links], CLOCK)


@dataclass
class Sent:
    """What the referee sends in a game: each seat's start, the queries in order with their seats, the end."""

    starts: list[bytes]
    queries: list[tuple[int, bytes]]
    end: bytes


def sent(record: GameRecord) -> Sent:
    """All that it sent in this game, but for what the clocks had then."""
    starts = [codec.start_message(GameStart(record.id, seat, 2, record.refill, CLOCK)) for seat in range(2)]
    queries = []
    history: list[Move] = []
    told = [0, 0]
    for state, played in zip(states(record), record.moves, strict=False):
        view = View.of(state, tuple(history), limit_ms=CLOCK.move_ms, bank_ms=CLOCK.bank_ms)
        queries.append((played.seat, codec.query_message(view, told[played.seat]).SerializeToString()))
        told[played.seat] = len(history)
        history.append(state.parse(played.move))
    end = codec.end_message(GameEnd(record.ended, record.ranks, record.scores or ()))
    return Sent([start.SerializeToString() for start in starts], queries, end.SerializeToString())


async def _over_connections(connections: Sequence[Connection], game: Sent) -> float:
    """Seconds from the first query to the last answer."""
    calls = [connection.call(codec.PATH) for connection in connections]
    for connection, call, start in zip(connections, calls, game.starts, strict=True):
        connection.say(call, start)
        assert await call.read() is not None
    began = perf_counter()
    for seat, query in game.queries:
        connections[seat].say(calls[seat], query)
        assert await calls[seat].read() is not None
    seconds = perf_counter() - began
    for connection, call in zip(connections, calls, strict=True):
        connection.say(call, game.end)
        connection.leave(call)
        assert await call.read() is None
    return seconds


async def _bare(channels: Sequence[grpc.aio.Channel], game: Sent) -> float:
    """The same over bare streams of `grpc.aio`."""
    calls = [channel.stream_stream(codec.PATH, bytes, bytes)(None) for channel in channels]
    for call, start in zip(calls, game.starts, strict=True):
        await call.write(start)
        await call.read()
    began = perf_counter()
    for seat, query in game.queries:
        await calls[seat].write(query)
        await calls[seat].read()
    seconds = perf_counter() - began
    for call in calls:
        await call.write(game.end)
        await call.done_writing()
        await call.read()
    return seconds


def _unary(callers: Sequence[grpc.Channel], game: Sent) -> float:
    """The same, one call a message; blocking, which is the faster way with grpcio."""
    calls = [caller.unary_unary(_ANSWER, bytes, bytes) for caller in callers]
    for call, start in zip(calls, game.starts, strict=True):
        call(start)
    began = perf_counter()
    for seat, query in game.queries:
        calls[seat](query)
    return perf_counter() - began


def _stages(record: GameRecord) -> dict[str, float]:
    """Seconds that a game's moves take of the referee's own work, stage by stage."""
    taken = dict.fromkeys(("view", "encode", "judge"), 0.0)
    history: list[Move] = []
    told = [0, 0]
    for state, played in zip(states(record), record.moves, strict=False):
        clock = SeatClock(CLOCK)
        began = perf_counter()
        view = View.of(state, tuple(history), limit_ms=clock.limit_ms, bank_ms=int(clock.bank_ms))
        viewed = perf_counter()
        codec.query_message(view, told[played.seat]).SerializeToString()
        encoded = perf_counter()
        told[played.seat] = len(history)
        reply = codec.reply_message(view.turn, state.parse(played.move)).SerializeToString()
        after = state.copy()
        came = perf_counter()
        move = after.parse(codec.read_reply(codec.decode_bot(reply), view.turn).move)
        after.play(move)
        judged = perf_counter()
        history.append(move)
        for name, seconds in (("view", viewed - began), ("encode", encoded - viewed), ("judge", judged - came)):
            taken[name] += seconds
    return taken


if __name__ == "__main__":
    for name, figure in measure().items():
        print(f"{name:24} {figure:10.2f}")
