"""The corners of the protocol that have to do with the wire: connections, headers, what is unknown or no message."""

import asyncio
from contextlib import suppress
from typing import Final

from referee.clock import SeatClock
from referee.conformance.decks import dealt
from referee.conformance.desk import Desk
from referee.conformance.table import any_move, start
from referee.conformance.talk import Ended, Late, Line, Wrong
from referee.conformance.tap import ACK, PING, SETTINGS, Frames
from referee.limits import Limits
from referee.players import connect
from referee.players.attached import AttachedBot, attached_submission
from referee.players.http2 import LONGEST_HEADERS, LONGEST_MESSAGE
from referee.ports import Failure, Player
from treelings import GameEnd, GameStart, IllegalMove, Move, NotationError, State, View, codec
from treelings.bot import LONGEST_COMMENT
from treelings.cards import MAX_PLAYERS, MIN_PLAYERS
from treelings.rules import REFILLS
from treelings.v1.game_pb2 import RefereeMessage

_GREETING: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes.fromhex("000000 04 00 00000000")
_PING: Final = bytes.fromhex("000008 06 00 00000000") + b"treeling"
_TLS_ALERT: Final = b"\x15\x03"
_SHOWN_BYTES: Final = 16
_REFUSED_MS: Final = 500
_SMALL_WINDOW: Final = ("grpc.http2.lookahead_bytes", 8)
_NO_PROBES: Final = ("grpc.http2.bdp_probe", 0)  # these would widen the window
# Field 15 as a number and 500 to 502 of every other kind: no message has such.
_UNKNOWN: Final = bytes.fromhex("7801 a21f0474657374 a91f0000000000000000 b51f00000000")
_NO_VALUE: Final = 99
_OTHER_PROTOCOL: Final = codec.PROTOCOL + 1


async def connects(desk: Desk) -> str:
    """HTTP/2 without TLS; a connection that says nothing and goes; a ping that is answered."""
    for _ in range(2):
        _, writer = await _connection(desk)
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
    reader, writer = await _connection(desk)
    frames, greeting_ms, first = Frames(), desk.pace.greeting_ms, b""
    nothing = "the end of the connection, as of a bot that waits for TLS"
    try:
        writer.write(_GREETING + _PING)
        async with asyncio.timeout(greeting_ms / 1000):
            while not frames.ping_answers and (data := await reader.read(1024)):
                frames.feed(data)
                first = first or data
    except TimeoutError:
        nothing = f"nothing within {greeting_ms:,} ms"
    except OSError:
        pass
    finally:
        writer.close()
    sent = "the client's preface of HTTP/2 without TLS, SETTINGS and a PING"
    if not frames.kinds or frames.kinds[0] != (SETTINGS, 0):
        raise Wrong("SETTINGS as the first frame", _speech(first) if first else nothing, sent)
    if (PING, ACK) not in frames.kinds:
        raise Wrong(f"the answer to the PING within {greeting_ms:,} ms", "none", sent)
    return "HTTP/2 without TLS; a caller who hangs up at once does no harm"


def _speech(first: bytes) -> str:
    """What a peer speaks that is not HTTP/2, by its first bytes."""
    if first.startswith(b"HTTP/1"):
        return "an answer in HTTP/1"
    if first.startswith(_TLS_ALERT):
        return "an alert of TLS, which a bot is to do without"
    return f"bytes that begin with {first[:_SHOWN_BYTES]!r}"


async def small_windows(desk: Desk) -> str:
    """Messages in small pieces, as a window lets them through."""
    line = await Line.open(desk.address, (_SMALL_WINDOW, _NO_PROBES))
    try:
        table = await desk.table(2, 0, line=line, name="small windows")
        await table.begin()
        await table.play(5)
        await table.close()
    except Late as late:
        first = line.tap.frames.first_data
        if first <= _SMALL_WINDOW[1]:
            raise
        # gRPC says nothing of it, and is deaf to the stream from then on.
        expected = f"DATA of at most {_SMALL_WINDOW[1]} bytes, all that the stream's window has room for"
        raise Wrong(expected, f"a frame of {first:,}", late.sent) from None
    finally:
        await desk.hang_up(line)
    return f"answers through a window of {_SMALL_WINDOW[1]} bytes"


async def headers(desk: Desk) -> str:
    """Headers that the bot does not know, and what its own come to."""
    line = await desk.line()
    talk = line.talk(metadata=(("x-treelings-unknown", "to be ignored"), ("x-treelings-unknown-bin", b"\0")))
    table = await desk.table(2, 0, talk=talk, name="headers")
    await table.begin()
    await table.play(1)
    came = await table.over(desk.patience_ms)
    if isinstance(came, Ended) and came.code == "RESOURCE_EXHAUSTED":
        raise talk.got(f"headers and trailers of at most {LONGEST_HEADERS:,} bytes", came)
    if not isinstance(came, Ended):
        talk.cancel()
        return "ignored unknown ones"
    size = await talk.metadata_bytes()
    return (
        f"ignored unknown ones; its own come to {size:,} bytes"
        if size
        else "ignored unknown ones; sent none of its own"
    )


async def unknown_fields(desk: Desk) -> str:
    """Fields that a later version of the protocol may add."""

    def add(message: RefereeMessage) -> None:
        kind = message.WhichOneof("message")
        assert kind is not None
        getattr(message, kind).MergeFromString(_UNKNOWN)
        message.MergeFromString(_UNKNOWN)

    table = await desk.table(3, 0, alter=add, name="unknown fields")
    await table.begin()
    await table.play(2)
    await table.end(desk.patience_ms)
    return "ignored them in Start, Query and End"


async def unknown_values(desk: Desk) -> str:
    """A refill and an outcome that the bot cannot know: it may give up that game, and no other."""

    def refill(message: RefereeMessage) -> None:
        message.start.refill = _NO_VALUE  # type: ignore[assignment] # enums of proto3 are open

    def outcome(message: RefereeMessage) -> None:
        if message.HasField("end"):
            message.end.outcome = _NO_VALUE  # type: ignore[assignment] # likewise

    table = await desk.table(2, 0, alter=refill, name="unknown refill")
    await table.start()
    await table.talk.comes(desk.patience_ms)
    table.talk.cancel()
    await desk.still_plays("after a Start with a refill that it cannot know")
    table = await desk.table(2, 0, alter=outcome, name="unknown outcome")
    await table.begin()
    await table.play(1)
    came = await table.over(desk.patience_ms)
    if not isinstance(came, Ended):
        raise table.talk.got("the end of the stream, whatever its status, and no message", came)
    await desk.still_plays("after an End with an outcome that it cannot know")
    return "gave up no more than that game"


async def other_protocol(desk: Desk) -> str:
    """A Start of another version: to be refused, or answered with the version that the bot speaks."""

    def other(message: RefereeMessage) -> None:
        message.start.protocol = _OTHER_PROTOCOL

    table = await desk.table(2, 0, alter=other, name="another protocol")
    await table.start()
    came = await table.talk.receive(desk.patience_ms)
    spoken = codec.decode_bot(came).ready.protocol if isinstance(came, bytes) else None
    if came is None or spoken not in (None, codec.PROTOCOL) or (isinstance(came, Ended) and came.code == "OK"):
        raise table.talk.got(f"a status that is not OK, or Ready of protocol {codec.PROTOCOL}", came)
    table.talk.cancel()
    await desk.still_plays("after a Start of another protocol")
    return "refused it" if spoken is None else f"answered that it speaks protocol {spoken}"


async def no_messages(desk: Desk) -> str:
    """What is no message, or not the one whose turn it is: never answered, and the next game is played."""
    for what, data in (("an empty message for a Start", b""), ("bytes that are no message", b"\xff\xff\xff\xff")):
        talk = (await desk.line()).talk()
        await talk.send(data)
        await talk.refusal(desk.pace.silence_ms)
        talk.cancel()
        await desk.still_plays(f"after {what}")
    table = await desk.table(2, 0, name="no start")
    await table.ask()
    await table.talk.refusal(desk.pace.silence_ms)
    table.talk.cancel()
    await desk.still_plays("after a Query before Start")
    return "answered none of them, and played on"


async def other_methods(desk: Desk) -> str:
    """Calls of what the service does not have."""
    line = await desk.line()
    for path in (f"/{codec.SERVICE}/Watch", f"/treelings.v2.Bot/{codec.METHOD}"):
        talk = line.talk(path)
        table = await desk.table(2, 0, talk=talk, name="another method")
        # Refused before a message is sent: gRPC forgets a status that crosses a message of ours.
        if not await talk.comes(min(_REFUSED_MS, desk.patience_ms)):
            await table.start()
        came = await talk.receive(desk.patience_ms)
        if not isinstance(came, Ended) or came.code != "UNIMPLEMENTED":
            raise talk.got(f"status UNIMPLEMENTED for {path}", came)
    return "UNIMPLEMENTED"


async def stands_still(desk: Desk) -> str:
    """A game that stands still, as each does while others think; and no pings in it."""
    await desk.hang_up()  # a server may ping on a connection whose streams were broken off: no match breaks any off
    line = await desk.line()
    table = await desk.table(2, 0, name="standing still")
    await table.begin()
    await table.play(3)
    came = await table.talk.receive(desk.pace.idle_ms)
    if came is not None:
        raise table.talk.got("a bot that waits for its next turn", came)
    await table.play()
    await table.close("festival")
    if pings := line.tap.frames.pings:
        got = f"{pings:,} in {table.state.turn} moves and {desk.pace.idle_ms:,} ms in which it was not asked anything"
        raise Wrong("no PING frames: neither keep-alive nor probes of the bandwidth", got, table.talk.sent)
    return f"waited {desk.pace.idle_ms:,} ms, and sent no pings"


async def as_in_a_match(desk: Desk) -> str:
    """Two games as a match plays them, by the very code that does. Raises SandboxError."""
    await desk.hang_up()
    bot = AttachedBot(attached_submission("bot"), desk.address)
    link = connect(bot, now=asyncio.get_running_loop().time)
    moves = 0
    try:
        for players, refill in zip((MIN_PLAYERS, MAX_PLAYERS), REFILLS, strict=True):
            game = start(players, players - 1, refill, desk.pace.clock, "as in a match")
            moves += await _played(link.player(), game, dealt(players))
            if not await link.left_in_order(desk.patience_ms):
                got = "one that ended the stream or the connection in another way, or not at all"
                raise Wrong("a bot that ends the stream with status OK and can play the next game", got)
    finally:
        await link.close()
    return f"2 games, {moves} moves"


async def _played(player: Player, game: GameStart, deck: str) -> int:
    """The moves of a whole game. Raises Wrong, SandboxError."""
    state, history, clock = State.deal(deck, game.players, game.refill), list[Move](), SeatClock(game.clock)
    failure = await player.start(game)
    while failure is None and not state.over:
        move = any_move(state)
        if state.seat == game.seat:
            view = View.of(state, tuple(history), limit_ms=clock.limit_ms, bank_ms=int(clock.bank_ms))
            answer = await player.ask(view)
            if isinstance(answer, Failure):
                failure = answer
                break
            try:
                move = state.parse(answer.text)
            except (IllegalMove, NotationError) as error:
                raise Wrong("a legal move", str(error)) from None
            clock.charge(answer.ms)
        history.append(move)
        state.play(move)
    if failure is not None:
        raise Wrong("a game without a fault", f"{failure.kind}: {failure.detail}")
    await player.end(GameEnd("void", (), ()))
    return state.turn


async def sizes(desk: Desk) -> str:
    """What the bot has sent in all games, against what it may."""
    await desk.hang_up()
    measures, budget = desk.measures, Limits().sent_bytes
    if measures.game > budget:
        raise Wrong(f"at most {budget:,} bytes in a game, HTTP/2's own included", f"{measures.game:,}")
    if measures.comment > LONGEST_COMMENT:
        raise Wrong(f"comments of at most {LONGEST_COMMENT} characters", f"one of {measures.comment:,}: it gets cut")
    return (
        f"largest message {measures.message:,} of {LONGEST_MESSAGE:,} bytes, "
        f"most in a game {measures.game:,} of {budget:,}"
    )


async def _connection(desk: Desk) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    try:
        async with asyncio.timeout(desk.pace.greeting_ms / 1000):
            return await asyncio.open_connection(*desk.address)
    except TimeoutError:
        got = "no answer"
    except OSError as error:
        got = error.strerror or str(error)
    raise Wrong("a bot that listens", got)
