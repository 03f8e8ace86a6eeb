"""Bots on bare gRPC, or less: an honest one, and others that each get one thing of docs/protocol.md wrong."""

import asyncio
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import ClassVar, TypeAlias

import grpc.aio
from google.protobuf.unknown_fields import UnknownFieldSet

from treelings import codec
from treelings.v1.game_pb2 import REFILL_END, REFILL_START, BotMessage, Query, RefereeMessage, Start

HostPort = tuple[str, int]
Context: TypeAlias = "grpc.aio.ServicerContext[RefereeMessage, BotMessage]"

NO_PINGS = (("grpc.http2.bdp_probe", 0), ("grpc.keepalive_time_ms", 2**31 - 1), ("grpc.so_reuseport", 0))
FOR_EVER_S = 60.0


def ready(protocol: int = codec.PROTOCOL) -> BotMessage:
    message = BotMessage()
    message.ready.protocol = protocol
    return message


def reply(turn: int, move: str, comment: str = "") -> BotMessage:
    message = BotMessage()
    message.reply.turn, message.reply.move, message.reply.comment = turn, move, comment
    return message


class Honest:
    """Plays the first legal move; whoever gets something wrong overrides the method that it gets wrong."""

    options: ClassVar[tuple[tuple[str, int], ...]] = NO_PINGS
    method = codec.METHOD

    async def play(self, requests: AsyncIterator[RefereeMessage], context: Context) -> AsyncIterator[BotMessage]:
        started = False
        async for message in requests:
            kind = message.WhichOneof("message")
            if kind == "start" and not started:
                started = True
                answers = await self.start(message.start, context)
            elif kind == "query" and started:
                answers = await self.query(message.query, context)
            elif kind == "end" and started:
                for answer in await self.end(message, context):
                    yield answer
                return
            else:
                await self.astray(kind, context)
                answers = ()
            for answer in answers:
                yield answer

    async def start(self, start: Start, context: Context) -> tuple[BotMessage, ...]:
        if start.protocol != codec.PROTOCOL or start.refill not in (REFILL_START, REFILL_END):
            await refuse(context, "what game is this?")
        return (ready(),)

    async def query(self, query: Query, context: Context) -> tuple[BotMessage, ...]:
        return (reply(query.turn, query.legal[0]),)

    async def end(self, message: RefereeMessage, context: Context) -> tuple[BotMessage, ...]:
        return ()

    async def astray(self, kind: str | None, context: Context) -> None:
        await refuse(context, f"expected another message than {kind}")


async def refuse(context: Context, why: str, code: grpc.StatusCode = grpc.StatusCode.INVALID_ARGUMENT) -> None:
    await context.abort(code, why)


class SpeaksFirst(Honest):
    async def play(self, requests: AsyncIterator[RefereeMessage], context: Context) -> AsyncIterator[BotMessage]:
        yield ready()
        async for answer in super().play(requests, context):
            yield answer


class ReadyTwice(Honest):
    async def start(self, start: Start, context: Context) -> tuple[BotMessage, ...]:
        return ready(), ready()


class AnotherVersion(Honest):
    async def start(self, start: Start, context: Context) -> tuple[BotMessage, ...]:
        return (ready(2),)


class NeverReady(Honest):
    async def start(self, start: Start, context: Context) -> tuple[BotMessage, ...]:
        await asyncio.sleep(FOR_EVER_S)
        return ()


class RepliesTwice(Honest):
    async def query(self, query: Query, context: Context) -> tuple[BotMessage, ...]:
        return reply(query.turn, query.legal[0]), reply(query.turn, query.legal[-1])


class CountsFromOne(Honest):
    async def query(self, query: Query, context: Context) -> tuple[BotMessage, ...]:
        return (reply(query.turn + 1, query.legal[0]),)


class SaysNothingInIt(Honest):
    async def query(self, query: Query, context: Context) -> tuple[BotMessage, ...]:
        return (BotMessage(),)


class EscapesInItsStatus(Honest):
    async def query(self, query: Query, context: Context) -> tuple[BotMessage, ...]:
        await refuse(context, "\x1b[2J" + "x" * 5_000)
        return ()


class FarTooLong(Honest):
    async def query(self, query: Query, context: Context) -> tuple[BotMessage, ...]:
        return (reply(query.turn, query.legal[0], "x" * 20_000),)


class KnowsNoTableOf(Honest):
    """Sends no move at tables of one size."""

    def __init__(self, players: int) -> None:
        self.players = players

    async def query(self, query: Query, context: Context) -> tuple[BotMessage, ...]:
        lost = len(query.row_sizes) == self.players
        return (reply(query.turn, "R<R>R" if lost else query.legal[0]),)


class OneRefill(Honest):
    async def start(self, start: Start, context: Context) -> tuple[BotMessage, ...]:
        if start.refill != REFILL_START:
            await refuse(context, "it is always at the start")
        return (ready(),)


class NeverPasses(Honest):
    async def query(self, query: Query, context: Context) -> tuple[BotMessage, ...]:
        most = max(range(6), key=lambda guild: query.market[guild])
        take = "ROYGBP"[most]
        return (reply(query.turn, next((move for move in query.legal if move[0] == take), take)),)


class FortyTurns(Honest):
    async def query(self, query: Query, context: Context) -> tuple[BotMessage, ...]:
        if query.turn >= 40:
            await refuse(context, "IndexError: 40", grpc.StatusCode.UNKNOWN)
        return await super().query(query, context)


class SmallBuffer(Honest):
    options = (*NO_PINGS, ("grpc.max_receive_message_length", 4 * 1024))


class TakesItsTime(Honest):
    async def query(self, query: Query, context: Context) -> tuple[BotMessage, ...]:
        await asyncio.sleep(0.8)
        return await super().query(query, context)


class AnswersTheEnd(Honest):
    async def end(self, message: RefereeMessage, context: Context) -> tuple[BotMessage, ...]:
        return (ready(),)


class FailsAtTheEnd(Honest):
    async def end(self, message: RefereeMessage, context: Context) -> tuple[BotMessage, ...]:
        await refuse(context, "no scores", grpc.StatusCode.UNKNOWN)
        return ()


class NeverLeaves(Honest):
    async def end(self, message: RefereeMessage, context: Context) -> tuple[BotMessage, ...]:
        await asyncio.sleep(FOR_EVER_S)
        return ()


class RemembersTheLastGame(Honest):
    """Counts the turns itself, and never begins again."""

    def __init__(self) -> None:
        self.history: list[str] = []

    async def query(self, query: Query, context: Context) -> tuple[BotMessage, ...]:
        self.history += query.moves
        return (reply(len(self.history), query.legal[0]),)


class BusyTillTheEnd(Honest):
    """Takes one game, and the next one after the End of it."""

    def __init__(self) -> None:
        self.busy = False

    async def start(self, start: Start, context: Context) -> tuple[BotMessage, ...]:
        if self.busy:
            await refuse(context, "there is a game", grpc.StatusCode.ALREADY_EXISTS)
        self.busy = True
        return (ready(),)

    async def end(self, message: RefereeMessage, context: Context) -> tuple[BotMessage, ...]:
        self.busy = False
        return ()


class OneDesk(Honest):
    """Has one place for a query, whichever game it is of."""

    async def query(self, query: Query, context: Context) -> tuple[BotMessage, ...]:
        self.last = query
        await asyncio.sleep(0.5)
        return await super().query(self.last, context)


class KnowsAllFields(Honest):
    async def play(self, requests: AsyncIterator[RefereeMessage], context: Context) -> AsyncIterator[BotMessage]:
        async def known() -> AsyncIterator[RefereeMessage]:
            async for message in requests:
                if len(UnknownFieldSet(message)):
                    await refuse(context, "what is field 15?")
                yield message

        async for answer in super().play(known(), context):
            yield answer


class GivesUpForGood(Honest):
    """One game that it does not understand, and it plays none any more."""

    def __init__(self) -> None:
        self.given_up = False

    async def start(self, start: Start, context: Context) -> tuple[BotMessage, ...]:
        self.given_up |= start.refill not in (REFILL_START, REFILL_END)
        if self.given_up:
            await refuse(context, "I give up")
        return (ready(),)


class AnyVersion(Honest):
    async def start(self, start: Start, context: Context) -> tuple[BotMessage, ...]:
        return (ready(start.protocol),)


class ReadyForAnything(Honest):
    async def play(self, requests: AsyncIterator[RefereeMessage], context: Context) -> AsyncIterator[BotMessage]:
        async for message in requests:
            if message.HasField("query"):
                yield reply(message.query.turn, message.query.legal[0])
            elif message.HasField("end"):
                return
            else:
                yield ready()


class AnyMethod(Honest):
    method = ""


class LongTrailers(Honest):
    async def end(self, message: RefereeMessage, context: Context) -> tuple[BotMessage, ...]:
        context.set_trailing_metadata((("x-why", "x" * 9_000),))
        return ()


class Pings(Honest):
    options = (("grpc.keepalive_time_ms", 300), ("grpc.keepalive_permit_without_calls", 1), ("grpc.so_reuseport", 0))


class ProbesTheBandwidth(Honest):
    """As gRPC's servers are unless they are told otherwise."""

    options = (("grpc.so_reuseport", 0),)


class Talkative(Honest):
    async def query(self, query: Query, context: Context) -> tuple[BotMessage, ...]:
        return (reply(query.turn, query.legal[0], "x" * 300),)


class SpendsItsBudget(Honest):
    async def query(self, query: Query, context: Context) -> tuple[BotMessage, ...]:
        return (reply(query.turn, query.legal[0], "x" * 16_000),)


@asynccontextmanager
async def listening(bot: Honest) -> AsyncIterator[HostPort]:
    """The bot, on a port of its own."""
    server = grpc.aio.server(options=bot.options)
    server.add_generic_rpc_handlers((_Handler(bot),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield "127.0.0.1", port
    finally:
        await server.stop(None)


class _Handler(grpc.GenericRpcHandler):  # type: ignore[type-arg] # generic in its stubs alone
    def __init__(self, bot: Honest) -> None:
        self._bot = bot

    def service(self, details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[RefereeMessage, BotMessage] | None":
        if self._bot.method and details.method != codec.PATH:
            return None
        return grpc.stream_stream_rpc_method_handler(
            self._bot.play,
            request_deserializer=RefereeMessage.FromString,
            response_serializer=BotMessage.SerializeToString,
        )


# Bots that write their frames themselves.

_DATA, _HEADERS, _SETTINGS, _PING = 0, 1, 4, 6
_ACK = _END_STREAM = 1
_END_HEADERS = 4
_PREFACE_BYTES = 24


@asynccontextmanager
async def by_hand(bot: "type[ByHand]") -> AsyncIterator[HostPort]:
    """The same for one that writes its frames itself."""
    server = await asyncio.start_server(lambda reader, writer: bot(reader, writer).serve(), "127.0.0.1", 0)
    try:
        yield "127.0.0.1", server.sockets[0].getsockname()[1]
    finally:
        server.close()


class ByHand:
    """HTTP/2 in as few lines as one gets away with: windows are not looked at."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._came: dict[int, bytes] = {}

    async def serve(self) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            await self.greet()
            while True:
                head = await self._reader.readexactly(9)
                payload = await self._reader.readexactly(int.from_bytes(head[:3], "big"))
                self.take(head[3], head[4], int.from_bytes(head[5:], "big"), payload)
        self._writer.close()

    async def greet(self) -> None:
        await self._reader.readexactly(_PREFACE_BYTES)
        self.send(_SETTINGS)

    def send(self, kind: int, payload: bytes = b"", flags: int = 0, stream: int = 0) -> None:
        length = struct.pack(">I", len(payload))[1:]
        self._writer.write(length + bytes((kind, flags)) + struct.pack(">I", stream) + payload)

    def take(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == _SETTINGS and not flags & _ACK:
            self.send(_SETTINGS, flags=_ACK)
        elif kind == _PING and not flags & _ACK:
            self.pinged(payload)
        elif kind == _HEADERS:
            self._came[stream] = b""
            self.send(_HEADERS, b"\x88" + _header("content-type", "application/grpc"), _END_HEADERS, stream)
        elif kind == _DATA:
            self._came[stream] += payload
            for message in self._messages(stream):
                self.answer(message, stream)

    def pinged(self, payload: bytes) -> None:
        self.send(_PING, payload, _ACK)

    def answer(self, message: RefereeMessage, stream: int) -> None:
        if message.HasField("end"):
            self.send(_HEADERS, _header("grpc-status", "0"), _END_HEADERS | _END_STREAM, stream)
            return
        query = message.query
        data = (reply(query.turn, query.legal[0]) if message.HasField("query") else ready()).SerializeToString()
        self.send(_DATA, b"\0" + struct.pack(">I", len(data)) + data, stream=stream)

    def _messages(self, stream: int) -> Iterator[RefereeMessage]:
        while len(came := self._came[stream]) >= (end := 5 + int.from_bytes(came[1:5], "big")) >= 5 <= len(came):
            self._came[stream] = came[end:]
            yield RefereeMessage.FromString(came[5:end])


class DeafToPings(ByHand):
    def pinged(self, payload: bytes) -> None:
        pass


class ClosesOldConnections(ByHand):
    """As gRPC's servers do that are given a greatest age; this one's is counted from its third answer.

    That has long arrived by then: gRPC's client forgets what the end of a connection comes too close to.
    """

    def answer(self, message: RefereeMessage, stream: int) -> None:
        super().answer(message, stream)
        if message.HasField("query") and message.query.turn >= 4:
            asyncio.get_running_loop().call_later(1.0, self._writer.close)


class WebServer(ByHand):
    SAYS = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"

    async def greet(self) -> None:
        await self._reader.readexactly(1)
        self._writer.write(self.SAYS)
        raise ConnectionError


class NeedsTls(WebServer):
    SAYS = bytes.fromhex("15 0301 0002 02 46")


class ShellServer(WebServer):
    SAYS = b"SSH-2.0-OpenSSH_9.2p1\r\n"


class SaysNothing(ByHand):
    async def greet(self) -> None:
        await self._reader.read()


class HangsUp(ByHand):
    async def greet(self) -> None:
        raise ConnectionError


def _header(name: str, value: str) -> bytes:
    return b"\0" + bytes((len(name),)) + name.encode() + bytes((len(value),)) + value.encode()
