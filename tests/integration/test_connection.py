"""The connection to a bot, on each event loop: what it carries, counts, cuts and leaves behind."""

import array
import asyncio
import importlib.util
import os
import socket
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from frames import (
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    PING,
    RESPONSE,
    SETTINGS,
    STATUS_OK,
    WINDOW_UPDATE,
    frame,
)

from referee.players.connection import Connection
from referee.players.http2 import Call
from tests.support.descriptors import open_descriptors

Loop = Callable[[], asyncio.AbstractEventLoop]
LOOPS: list[Loop] = [asyncio.new_event_loop]
if importlib.util.find_spec("uvloop") is not None:
    import uvloop

    LOOPS.append(uvloop.new_event_loop)

FAR_MORE = 4_000_000  # bytes, than sockets hold


def on_each_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[Loop], None]:
    """Runs a test on every kind of loop: none may get to hear of an error, and no descriptor may be left."""

    @pytest.mark.parametrize("new_loop", LOOPS)
    def run(new_loop: Loop) -> None:
        errors: list[dict[str, Any]] = []
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.get_loop().set_exception_handler(lambda _, context: errors.append(context))
            runner.run(turn())  # what a loop opens for itself
            before = open_descriptors()
            runner.run(test())
            assert open_descriptors() <= before
        assert errors == []

    run.__name__ = run.__qualname__ = test.__name__
    return run


async def turn() -> None:
    """Let the connection do what it can do now."""
    for _ in range(10):
        await asyncio.sleep(0.001)


GREETING = frame(SETTINGS) + frame(WINDOW_UPDATE, (2**30).to_bytes(4, "big"))
BEGUN = GREETING + frame(HEADERS, RESPONSE, flags=END_HEADERS, stream=1)
OVER = frame(HEADERS, STATUS_OK, flags=END_HEADERS | END_STREAM, stream=1)


def message(text: bytes) -> bytes:
    return frame(DATA, b"\0" + len(text).to_bytes(4, "big") + text, stream=1)


@dataclass
class Ends:
    """A connection with its first call, and the bot's end of it."""

    connection: Connection
    call: Call
    bot: socket.socket

    async def outcome(self) -> str:
        """How the call ended."""
        async with asyncio.timeout(60):
            while await self.call.read() is not None:
                pass
        return f"{self.call.code}: {self.call.details}"


@asynccontextmanager
async def connected(budget_bytes: int = 1_000_000) -> AsyncIterator[Ends]:
    bot, theirs = socket.socketpair()
    theirs.settimeout(0)
    connection = Connection(theirs, budget_bytes)
    with bot:
        bot.settimeout(0)
        yield Ends(connection, connection.call("/a.Service/Method"), bot)
        connection.close()


async def received(end: socket.socket) -> bytes:
    """What comes until the end."""
    loop = asyncio.get_running_loop()
    data = bytearray()
    try:
        while came := await loop.sock_recv(end, 65_536):
            data += came
    except ConnectionResetError:
        pass
    return bytes(data)


@on_each_loop
async def test_messages_are_carried_both_ways() -> None:
    async with connected() as ends:
        ends.connection.say(ends.call, b"a query \0\xff")
        ends.bot.sendall(BEGUN + message(b"an answer"))
        assert await ends.call.read() == b"an answer"
        ends.connection.leave(ends.call)
        ends.bot.sendall(OVER)
        assert await ends.outcome() == "OK: "
        assert ends.connection.ready
        ends.connection.close()
        heard = await received(ends.bot)
        assert message(b"a query \0\xff") in heard
        assert frame(DATA, b"", flags=END_STREAM, stream=1) in heard


@on_each_loop
async def test_what_a_bot_does_not_read_yet_is_kept_and_nothing_is_lost() -> None:
    async with connected() as ends:
        window = b"\0\4" + (2**31 - 1).to_bytes(4, "big")
        ends.bot.sendall(frame(SETTINGS, window) + frame(WINDOW_UPDATE, (2**30).to_bytes(4, "big")))
        await turn()
        sent = os.urandom(FAR_MORE)
        ends.connection.say(ends.call, sent)
        ends.connection.leave(ends.call)
        loop, data = asyncio.get_running_loop(), bytearray()
        while len(data) < FAR_MORE:
            data += await loop.sock_recv(ends.bot, 65_536)
        assert sent[-1_000:] in data
        ends.bot.sendall(frame(HEADERS, RESPONSE, flags=END_HEADERS, stream=1) + message(b"thanks") + OVER)
        assert await ends.call.read() == b"thanks"
        assert await ends.outcome() == "OK: "


@on_each_loop
async def test_a_bot_may_send_its_whole_budget_and_is_cut_off_with_the_next_byte() -> None:
    async with connected(len(BEGUN) + 17) as ends:
        ends.bot.sendall(BEGUN + frame(PING, bytes(8)))
        await turn()
        assert ends.connection.ready
        assert ends.connection.offence == ""
        ends.bot.sendall(b"y")
        assert await ends.outcome() == "UNAVAILABLE: it hung up"
        await received(ends.bot)  # which ends
        assert ends.connection.offence == (
            f"expected at most {len(BEGUN) + 17} bytes in a game, got more (frames of gRPC's own included)"
        )
        assert not ends.connection.ready


@on_each_loop
async def test_nothing_of_what_breaks_the_budget_is_looked_at() -> None:
    async with connected(len(BEGUN)) as ends:
        ends.bot.sendall(BEGUN + message(b"an answer"))
        assert await ends.call.read() is None


@on_each_loop
async def test_each_game_has_the_whole_budget_and_what_was_sent_is_never_less_than_before() -> None:
    async with connected(len(GREETING) + 34) as ends:
        ends.bot.sendall(GREETING)
        for game in range(3):
            await turn()
            assert ends.connection.sent_bytes == len(GREETING) + 34 * game
            ends.connection.call("/a.Service/Method")
            ends.bot.sendall(frame(PING, bytes(8)) * 2)
        await turn()
        assert ends.connection.ready


def hand_over(bot: socket.socket, *files: int) -> None:
    """Send a byte, and open files with it."""
    bot.sendmsg([b"!"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))])


async def closed(pipe: int) -> bool:
    """Whether nobody can write to a pipe any more, within a while."""
    for _ in range(10_000):
        try:
            return os.read(pipe, 1) == b""
        except BlockingIOError:
            await asyncio.sleep(0.001)
    return False


@on_each_loop
async def test_a_bot_that_hands_over_open_files_is_cut_off_and_they_are_closed() -> None:
    for earlier in (b"", BEGUN):
        ours, theirs = os.pipe2(os.O_NONBLOCK)
        async with connected() as ends:
            if earlier:
                ends.bot.sendall(earlier)
                await turn()
            hand_over(ends.bot, *[theirs] * 253)
            os.close(theirs)
            assert await ends.outcome() == "UNAVAILABLE: it hung up"
            await received(ends.bot)  # which ends
            said = "expected nothing but bytes on its socket, got open files that it handed over"
            assert ends.connection.offence == said
        assert await closed(ours)
        os.close(ours)


@on_each_loop
async def test_files_that_lie_in_what_was_not_read_are_closed_by_a_thread() -> None:
    ours, theirs = os.pipe2(os.O_NONBLOCK)
    only_thread, busy = ThreadPoolExecutor(1), threading.Event()
    asyncio.get_running_loop().set_default_executor(only_thread)
    only_thread.submit(busy.wait)
    async with connected() as ends:
        hand_over(ends.bot, theirs)
        os.close(theirs)
        ends.connection.close()
        with pytest.raises(BlockingIOError):
            os.read(ours, 1)
        busy.set()
        assert await closed(ours)
    only_thread.shutdown()
    os.close(ours)


@on_each_loop
async def test_the_last_words_of_a_bot_that_hangs_up_arrive() -> None:
    async with connected() as ends:
        ends.bot.sendall(BEGUN + message(b"farewell"))
        ends.bot.close()
        assert await ends.call.read() == b"farewell"
        assert await ends.outcome() == "UNAVAILABLE: it hung up"
        assert not ends.connection.ready
        assert ends.connection.offence == ""


@on_each_loop
async def test_the_last_words_arrive_also_where_we_speak_to_who_has_hung_up() -> None:
    async with connected() as ends:
        ends.bot.sendall(BEGUN + message(b"farewell"))
        ends.bot.close()
        ends.connection.say(ends.call, b"a query")
        ends.connection.leave(ends.call)
        assert await ends.call.read() == b"farewell"


@on_each_loop
async def test_a_bot_that_hangs_up_by_half_has_hung_up() -> None:
    async with connected() as ends:
        ends.bot.shutdown(socket.SHUT_WR)
        assert await ends.outcome() == "UNAVAILABLE: it hung up"
        await received(ends.bot)  # which ends


@on_each_loop
async def test_a_bot_that_dies_while_much_is_on_its_way_to_it_has_hung_up() -> None:
    async with connected() as ends:
        window = b"\0\4" + (2**31 - 1).to_bytes(4, "big")
        ends.bot.sendall(frame(SETTINGS, window) + frame(WINDOW_UPDATE, (2**30).to_bytes(4, "big")))
        await turn()
        ends.connection.say(ends.call, bytes(FAR_MORE))
        ends.bot.close()
        assert await ends.outcome() == "UNAVAILABLE: it hung up"


@on_each_loop
async def test_what_is_no_http_2_is_not_listened_to_any_longer() -> None:
    async with connected() as ends:
        ends.bot.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        assert (await ends.outcome()).endswith(": expected frames of at most 16,384 bytes, got one of 4,740,180")
        await received(ends.bot)  # which ends


@on_each_loop
async def test_a_connection_that_is_closed_hangs_up_and_may_be_closed_twice() -> None:
    async with connected() as ends:
        ends.connection.close()
        ends.connection.close()
        await received(ends.bot)  # which ends
        assert not ends.connection.ready
        assert await ends.outcome() == "UNAVAILABLE: it was closed"
