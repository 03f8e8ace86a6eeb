"""What a query costs beside its bare transport, and what of it the relay and resting cost: python -m bench.query.

The referee plays a game with two sample bots: state, view, codec, stream, timer, judging, clock, relay, and bots that
rest off turn where the sandbox can hold them. Then it plays the same with bots that it keeps awake. Then the very same
bytes go to the same two processes over bare `grpc.aio` streams, written and read in turn and not looked at: through a
relay, and straight; and once more, through the relay, as generated messages, as a plain client would send them, which
has gRPC write and read them and looks at the move. Timed is from the first query of a game to the last answer. Games
alternate between the five ways in one run; figures are medians over the rounds. Bots run in containers where an engine
can be had, else as plain processes.
"""

import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import referee.players  # noqa: F401 - before grpc, whose verbosity it sets

# isort: split
import grpc.aio

from referee.clock import SeatClock
from referee.game import play_game
from referee.limits import Limits
from referee.loop import run
from referee.model import GameRecord, GameSpec, SeatHolder
from referee.players.dial import dial
from referee.players.grpc_player import OPTIONS, BotLink
from referee.players.relay import Relay
from referee.ports import Answer, Failure, Player, RunningBot
from referee.records import states
from referee.sandbox.choose import choose_sandbox
from referee.submissions import find_bot, inspect
from treelings import Clock, GameEnd, GameStart, Move, View, codec, derive_deck
from treelings.v1.game_pb2 import BotMessage, RefereeMessage

DEALS = 10
ROUNDS = 8  # of all deals
CLOCK = Clock()


def measure() -> dict[str, float]:
    """What a move takes each way, and how the ways compare.

    referee_us_per_move       as it is played
    bare_us_per_move          over a bare stream, straight to the bot
    referee_vs_bare           of bots kept awake against a bare stream, both through a relay; goal: at most 1.3
    referee_vs_bare_messages  the same with generated messages
    relay_ms_a_move           of a bare stream through a relay, more than straight; goal: at most 0.15
    rest_ms_a_move            of bots that rest off turn, more than of bots kept awake
    all_vs_bare               as it is played, against a bare stream straight to the bot
    """
    return run(_measure())


async def _measure() -> dict[str, float]:
    sandbox, note = choose_sandbox(
        "auto", league="bench", limits=Limits(), report=lambda line: print(line, file=sys.stderr)
    )
    if note:
        print(note, file=sys.stderr)
    await sandbox.open()
    try:
        submission = inspect(find_bot("random"))
        bots = [await sandbox.start(submission, "bench") for _ in range(2)]
        return await _rounds(bots)
    finally:
        await sandbox.close()


async def _rounds(bots: Sequence[RunningBot]) -> dict[str, float]:
    links = [BotLink(bot) for bot in bots]
    awake = [_Awake(bot) for bot in bots]
    # Waits for the bots, and lets both sides fill their tables of moves, which the ways after the first would find so.
    for number in range(DEALS):
        await _referee(links, number, _Watch())
    relays = [await _relay(bot) for bot in bots]
    relayed = [grpc.aio.insecure_channel(relay.target, options=OPTIONS) for relay in relays]
    for relay, channel in zip(relays, relayed, strict=True):
        channel.get_state(try_to_connect=True)
        await relay.join()
    straight = [grpc.aio.insecure_channel(f"unix:{bot.address}", options=OPTIONS) for bot in bots]
    rounds = []
    for number in range(DEALS * ROUNDS):
        for relay in relays:
            relay.new_game()
        watch = _Watch()
        record = await _referee(links, number % DEALS, watch)
        watch_awake = _Watch()
        await _referee(awake, number % DEALS, watch_awake)
        sent = _sent(record)
        moves = len(record.moves)
        rounds.append(
            _Round(
                played=watch.seconds / moves,
                awake=watch_awake.seconds / moves,
                relayed=await _bare(relayed, sent) / moves,
                straight=await _bare(straight, sent) / moves,
                messages=await _bare_messages(relayed, sent) / moves,
            )
        )
    for relay in relays:
        relay.close()
    for channel in (*relayed, *straight):
        await channel.close(None)
    for link in (*awake, *links):
        await link.close()
    return {
        "referee_us_per_move": median(each.played for each in rounds) * 1e6,
        "bare_us_per_move": median(each.straight for each in rounds) * 1e6,
        "referee_vs_bare": median(each.awake / each.relayed for each in rounds),
        "referee_vs_bare_messages": median(each.awake / each.messages for each in rounds),
        "relay_ms_a_move": median(each.relayed - each.straight for each in rounds) * 1e3,
        "rest_ms_a_move": median(each.played - each.awake for each in rounds) * 1e3,
        "all_vs_bare": median(each.played / each.straight for each in rounds),
    }


@dataclass
class _Round:
    """Seconds that a move took each way."""

    played: float
    awake: float
    relayed: float
    straight: float
    messages: float


class _Awake(BotLink):
    """The way to a bot that is never held."""

    def rest(self) -> None:
        pass


async def _relay(bot: RunningBot) -> Relay:
    reached = await dial(bot)
    assert isinstance(reached, socket.socket), reached
    return Relay(reached, bot.limits.sent_bytes)


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
class _Sent:
    """What the referee sent in a game: each seat's start, the queries in order with their seats, the end."""

    starts: list[RefereeMessage]
    queries: list[tuple[int, RefereeMessage]]
    end: RefereeMessage


def _sent(record: GameRecord) -> _Sent:
    starts = [codec.start_message(GameStart(record.id, seat, 2, record.refill, CLOCK)) for seat in range(2)]
    queries = []
    clocks = [SeatClock(CLOCK) for _ in range(2)]
    history: list[Move] = []
    told = [0, 0]
    for state, played in zip(states(record), record.moves, strict=False):
        clock = clocks[played.seat]
        view = View.of(state, tuple(history), limit_ms=clock.limit_ms, bank_ms=int(clock.bank_ms))
        queries.append((played.seat, codec.query_message(view, told[played.seat])))
        told[played.seat] = len(history)
        clock.charge(played.ms)
        history.append(state.parse(played.move))
    end = GameEnd(record.ended, record.ranks, record.scores or ())
    return _Sent(starts, queries, codec.end_message(end))


async def _bare(channels: Sequence[grpc.aio.Channel], sent: _Sent) -> float:
    """Seconds from the first query to the last answer, as bytes."""
    calls = [channel.stream_stream(codec.PATH, bytes, bytes)(None) for channel in channels]
    for call, start in zip(calls, sent.starts, strict=True):
        await call.write(start.SerializeToString())
        await call.read()
    queries = [(seat, query.SerializeToString()) for seat, query in sent.queries]
    began = perf_counter()
    for seat, query in queries:
        await calls[seat].write(query)
        await calls[seat].read()
    seconds = perf_counter() - began
    for call in calls:
        await call.write(sent.end.SerializeToString())
        await call.done_writing()
        await call.read()
    return seconds


async def _bare_messages(channels: Sequence[grpc.aio.Channel], sent: _Sent) -> float:
    """Seconds from the first query to the last answer, as generated messages."""
    calls = [
        channel.stream_stream(codec.PATH, RefereeMessage.SerializeToString, BotMessage.FromString)(None)
        for channel in channels
    ]
    for call, start in zip(calls, sent.starts, strict=True):
        await call.write(start)
        await call.read()
    began = perf_counter()
    for seat, query in sent.queries:
        await calls[seat].write(query)
        answer = await calls[seat].read()
        assert isinstance(answer, BotMessage)
        assert answer.reply.move
    seconds = perf_counter() - began
    for call in calls:
        await call.write(sent.end)
        await call.done_writing()
        await call.read()
    return seconds


def main() -> None:
    """Print the figures."""
    for name, figure in measure().items():
        print(f"{name:24} {figure:10.2f}")


if __name__ == "__main__":
    main()
