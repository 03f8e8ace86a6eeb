"""Whatever a bot's process sends over its socket, as messages or as mere bytes: a fault of that bot, or an answer."""

import asyncio
from random import Random
from types import TracebackType

from referee.model import FaultKind
from referee.players.grpc_player import BotLink
from referee.ports import Answer, Failure
from tests.property.test_fuzz_wire import DECK, bot_message, near_reply
from tests.support.bot_process import BotProcess
from tests.support.bot_sources import wire_bot
from tests.support.fuzz import mutated_bytes, wire_message
from treelings import Clock, GameStart, ProtocolError, State, View, codec

GAMES = 48
CONNECTIONS = 24
CLOCK = Clock(startup_ms=60_000)
FIRST = View.of(State.deal(DECK, 2), (), limit_ms=60_000, bank_ms=60_000)


class LastingBot(BotProcess):
    """Lives on when it is ended for a fault, so that one process is enough for all that is tried on it."""

    async def stop(self) -> bytes:
        self.stops += 1
        return b""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await super().stop()
        await super().__aexit__(kind, error, trace)


async def first_turn(bot: BotProcess, game: int) -> Answer | Failure:
    """What comes of the start of a game and of its first query."""
    link = BotLink(bot)
    try:
        player = link.player()
        failure = await player.start(GameStart(str(game), 0, 2, "start", CLOCK))
        return failure or await player.ask(FIRST)
    finally:
        await link.close()


def is_right(start: bytes, reply: bytes) -> bool:
    try:
        codec.read_ready(codec.decode_bot(start))
        codec.read_reply(codec.decode_bot(reply), FIRST.turn)
    except ProtocolError:
        return False
    return True


def messages(rng: Random) -> tuple[bytes, bytes]:
    """What a bot answers to the start of a game and to its first query: noise, or nearly right."""
    ready = codec.ready_message().SerializeToString()
    start = rng.choice((ready, ready, ready, mutated_bytes(rng, ready), wire_message(rng)))
    return start, rng.choice((near_reply, near_reply, bot_message, wire_message, lambda rng: rng.randbytes(50)))(rng)


async def test_any_messages_on_a_real_socket_are_an_answer_or_a_fault() -> None:
    sent = [messages(Random(game)) for game in range(GAMES)]
    play = f"""
    sent = {sent!r}
    game = None
    for data in requests:
        if game is None:
            game = int(RefereeMessage.FromString(data).start.game)
            yield sent[game][0]
        else:
            yield sent[game][1]
    """
    async with LastingBot(wire_bot(play)) as bot:
        outcomes = [await first_turn(bot, game) for game in range(GAMES)]
    for (start, reply), outcome in zip(sent, outcomes, strict=True):
        if is_right(start, reply):
            assert isinstance(outcome, Answer)
            assert 1 <= len(outcome.text) <= codec.LONGEST_MOVE
        else:
            assert isinstance(outcome, Failure)
            assert outcome.kind in (FaultKind.STARTUP, FaultKind.PROTOCOL)
    kinds = {outcome.kind if isinstance(outcome, Failure) else None for outcome in outcomes}
    assert kinds == {None, FaultKind.STARTUP, FaultKind.PROTOCOL}


def noise(rng: Random) -> bytes:
    """Bytes for a client of HTTP/2: frames of any kinds, with or without the settings that a server begins with."""
    settings = b"\0\0\0\4\0\0\0\0\0"
    frames = b""
    for _ in range(rng.randint(0, 5)):
        body = rng.randbytes(rng.choice((0, 1, 4, 8, 40)))
        length = rng.choice((len(body), len(body), len(body) + 1, 2**24 - 1))
        frames += length.to_bytes(3, "big") + bytes((rng.randrange(12), rng.randrange(256)))
        frames += rng.choice((0, 1, 1, 2, 2**31 - 1, 2**32 - 1)).to_bytes(4, "big") + body
    text = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"
    return rng.choice((settings + frames, settings + frames, frames, rng.randbytes(300), text, b""))


async def test_any_bytes_on_a_real_socket_are_a_fault() -> None:
    sent = [noise(Random(number)) for number in range(CONNECTIONS)]
    source = f"""
import os, socket
from itertools import cycle
server = socket.socket(socket.AF_UNIX)
server.bind(os.environ["TREELINGS_SOCKET"])
server.listen(100)
for data in cycle({sent!r}):
    peer, _ = server.accept()
    try:
        peer.recv(4096)
        peer.sendall(data)
        peer.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    peer.close()
"""
    async with LastingBot(source) as bot:
        outcomes = await asyncio.gather(*(first_turn(bot, game) for game in range(CONNECTIONS)))
        assert bot.stops == CONNECTIONS
    for outcome in outcomes:
        assert isinstance(outcome, Failure)
        assert outcome.kind is FaultKind.STARTUP
