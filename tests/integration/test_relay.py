"""The relay between gRPC and a bot, on each event loop: what it passes, counts, cuts and leaves behind."""

import array
import asyncio
import importlib.util
import os
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from referee.errors import SandboxError
from referee.players.relay import Relay
from tests.support.descriptors import no_more_descriptors, open_descriptors

Loop = Callable[[], asyncio.AbstractEventLoop]
LOOPS: list[Loop] = [asyncio.new_event_loop]
if importlib.util.find_spec("uvloop") is not None:
    import uvloop

    LOOPS.append(uvloop.new_event_loop)

FAR_MORE = 4_000_000  # bytes, than sockets and the relay hold together


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
            assert open_descriptors() == before
        assert errors == []

    run.__name__ = run.__qualname__ = test.__name__
    return run


async def turn() -> None:
    """Let the relay do what it can do now."""
    for _ in range(10):
        await asyncio.sleep(0.001)


@dataclass
class Ends:
    """A relay and what it lies between."""

    relay: Relay
    bot: socket.socket
    grpc: socket.socket


@asynccontextmanager
async def relayed(budget_bytes: int = 1_000_000, *, abstract: bool = True) -> AsyncIterator[Ends]:
    bot, theirs = socket.socketpair()
    theirs.settimeout(0)
    relay = Relay(theirs, budget_bytes, abstract=abstract)
    with bot, called(relay) as grpc:
        await relay.join()
        bot.settimeout(0)
        yield Ends(relay, bot, grpc)
        relay.close()


def called(relay: Relay) -> socket.socket:
    """A call to a relay, as gRPC makes it."""
    grpc = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    kind, _, name = relay.target.partition(":")
    try:
        grpc.connect(f"\0{name}" if kind == "unix-abstract" else name)
    except OSError:
        grpc.close()
        raise
    grpc.settimeout(0)
    return grpc


async def received(end: socket.socket, at_most: int) -> bytes:
    """What comes, until so many bytes or the end."""
    loop = asyncio.get_running_loop()
    data = bytearray()
    while len(data) < at_most and (came := await loop.sock_recv(end, at_most - len(data))):
        data += came
    return bytes(data)


async def hung_up(end: socket.socket) -> bool:
    """Whether the other end is gone, once all that was on its way has been read."""
    try:
        return await received(end, 1) == b""
    except ConnectionResetError:
        return True


async def poured(end: socket.socket) -> bytes:
    """As much as can be sent while nobody reads at the other end."""
    data = os.urandom(FAR_MORE)
    sent = 0
    for _ in range(20):
        try:
            while sent < len(data):
                sent += end.send(data[sent:])
        except BlockingIOError:
            await turn()
    return data[:sent]


@on_each_loop
async def test_bytes_are_passed_on_both_ways_as_they_are() -> None:
    async with relayed() as ends:
        ends.grpc.sendall(b"a query \0\xff")
        assert await received(ends.bot, 10) == b"a query \0\xff"
        ends.bot.sendall(b"an answer")
        assert await received(ends.grpc, 9) == b"an answer"
        assert ends.relay.joined


@on_each_loop
async def test_who_does_not_read_holds_up_who_sends_to_it_and_nothing_is_lost() -> None:
    async with relayed(FAR_MORE) as ends:
        for source, sink in ((ends.bot, ends.grpc), (ends.grpc, ends.bot)):
            data = await poured(source)
            assert len(data) < FAR_MORE / 2
            assert await received(sink, len(data)) == data
            source.sendall(b"more")
            assert await received(sink, 4) == b"more"


@on_each_loop
async def test_one_direction_goes_on_while_the_other_is_held_up() -> None:
    async with relayed(FAR_MORE) as ends:
        await poured(ends.grpc)
        ends.bot.sendall(b"an answer")
        assert await received(ends.grpc, 9) == b"an answer"


@on_each_loop
async def test_a_bot_may_send_its_whole_budget_and_is_cut_off_with_the_next_byte() -> None:
    async with relayed(100) as ends:
        ends.bot.sendall(b"x" * 100)
        assert await received(ends.grpc, 100) == b"x" * 100
        assert not ends.relay.overspent
        ends.bot.sendall(b"y")
        assert await hung_up(ends.grpc)
        assert await hung_up(ends.bot)
        assert ends.relay.overspent
        assert not ends.relay.joined


@on_each_loop
async def test_nothing_of_what_breaks_the_budget_is_passed_on() -> None:
    async with relayed(100) as ends:
        ends.bot.sendall(b"x" * 101)
        assert await hung_up(ends.grpc)


@on_each_loop
async def test_each_game_has_the_whole_budget() -> None:
    async with relayed(100) as ends:
        for _ in range(3):
            ends.relay.new_game()
            ends.bot.sendall(b"x" * 100)
            assert await received(ends.grpc, 100) == b"x" * 100
        assert not ends.relay.overspent


@on_each_loop
async def test_what_a_bot_has_sent_is_never_less_than_before() -> None:
    async with relayed(100) as ends:
        for game in range(3):
            ends.relay.new_game()
            assert ends.relay.sent_bytes == game * 60
            ends.bot.sendall(b"x" * 60)
            await received(ends.grpc, 60)


def hand_over(bot: socket.socket, *files: int) -> None:
    """Send a byte, and open files with it."""
    bot.sendmsg([b"!"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))])


async def closed(pipe: int) -> bool:
    """Whether nobody can write to a pipe any more, within a while."""
    for _ in range(1_000):
        try:
            return os.read(pipe, 1) == b""
        except BlockingIOError:
            await asyncio.sleep(0.001)
    return False


@on_each_loop
async def test_a_bot_that_hands_over_open_files_is_cut_off_and_they_are_closed() -> None:
    for earlier in (b"", b"an answer"):
        ours, theirs = os.pipe2(os.O_NONBLOCK)
        async with relayed() as ends:
            if earlier:
                ends.bot.sendall(earlier)
                assert await received(ends.grpc, len(earlier)) == earlier
            hand_over(ends.bot, *[theirs] * 253)
            os.close(theirs)
            assert await hung_up(ends.grpc)
            assert await hung_up(ends.bot)
            assert ends.relay.offence == "expected nothing but bytes on its socket, got open files that it handed over"
        assert await closed(ours)
        os.close(ours)


@on_each_loop
async def test_files_that_lie_in_what_was_not_read_are_closed_by_a_thread() -> None:
    ours, theirs = os.pipe2(os.O_NONBLOCK)
    only_thread, busy = ThreadPoolExecutor(1), threading.Event()
    asyncio.get_running_loop().set_default_executor(only_thread)
    only_thread.submit(busy.wait)
    async with relayed() as ends:
        hand_over(ends.bot, theirs)
        os.close(theirs)
        ends.relay.close()
        with pytest.raises(BlockingIOError):
            os.read(ours, 1)
        busy.set()
        assert await closed(ours)
    only_thread.shutdown()
    os.close(ours)


@on_each_loop
async def test_what_the_referee_sends_costs_a_bot_nothing() -> None:
    async with relayed(10) as ends:
        ends.grpc.sendall(b"x" * 1_000)
        assert await received(ends.bot, 1_000) == b"x" * 1_000
        ends.bot.sendall(b"0123456789")
        assert await received(ends.grpc, 10) == b"0123456789"


@on_each_loop
async def test_the_last_words_of_a_bot_that_hangs_up_arrive() -> None:
    async with relayed() as ends:
        ends.bot.sendall(b"farewell")
        ends.bot.close()
        assert await received(ends.grpc, 100) == b"farewell"
        assert not ends.relay.joined
        assert not ends.relay.overspent


@on_each_loop
async def test_the_last_words_arrive_also_where_they_were_held_up() -> None:
    async with relayed(FAR_MORE) as ends:
        data = await poured(ends.bot)
        ends.bot.close()
        await turn()
        assert await received(ends.grpc, FAR_MORE) == data


@on_each_loop
async def test_a_bot_hears_that_the_channel_was_closed() -> None:
    async with relayed() as ends:
        ends.grpc.close()
        assert await hung_up(ends.bot)
        assert not ends.relay.joined


@on_each_loop
async def test_a_bot_that_hangs_up_by_half_has_hung_up() -> None:
    async with relayed() as ends:
        ends.bot.shutdown(socket.SHUT_WR)
        assert await hung_up(ends.grpc)
        assert await hung_up(ends.bot)


@on_each_loop
async def test_a_bot_that_resets_its_connection_has_hung_up() -> None:
    async with relayed() as ends:
        ends.grpc.sendall(b"never read")
        await turn()
        ends.bot.close()
        assert await hung_up(ends.grpc)


@on_each_loop
async def test_a_bot_that_dies_while_much_is_on_its_way_to_it_has_hung_up() -> None:
    async with relayed() as ends:
        await poured(ends.grpc)
        ends.bot.close()
        assert await hung_up(ends.grpc)


@on_each_loop
async def test_a_channel_that_is_closed_while_a_bot_floods_ends_both() -> None:
    async with relayed(FAR_MORE) as ends:
        await poured(ends.bot)
        ends.grpc.close()
        assert await hung_up(ends.bot)


@on_each_loop
async def test_a_relay_that_is_closed_hangs_up_on_both_and_may_be_closed_twice() -> None:
    async with relayed() as ends:
        ends.relay.close()
        ends.relay.close()
        assert await hung_up(ends.bot)
        assert await hung_up(ends.grpc)
        assert not ends.relay.joined


@on_each_loop
async def test_a_relay_that_nobody_joined_leaves_nothing() -> None:
    for abstract in (True, False):
        bot, theirs = socket.socketpair()
        relay = Relay(theirs, 100, abstract=abstract)
        relay.close()
        bot.close()


@on_each_loop
async def test_nobody_is_taken_after_the_first_nor_can_listen_under_the_same_name() -> None:
    async with relayed() as ends:
        with pytest.raises(ConnectionRefusedError), called(ends.relay):
            pass
        name = "\0" + ends.relay.target.removeprefix("unix-abstract:")
        with socket.socket(socket.AF_UNIX) as impostor, pytest.raises(OSError, match="in use"):
            impostor.bind(name)


IMPOSTOR = """
import socket, sys
caller = socket.socket(socket.AF_UNIX)
caller.connect("\\0" + sys.argv[1].removeprefix("unix-abstract:"))
print("called", flush=True)
print(caller.recv(100) or "hung up", flush=True)
"""


@on_each_loop
async def test_a_caller_of_another_process_is_turned_away() -> None:
    bot, theirs = socket.socketpair()
    theirs.settimeout(0)
    relay = Relay(theirs, 100)
    impostor = subprocess.Popen(  # noqa: ASYNC220 - it takes a millisecond
        [sys.executable, "-c", IMPOSTOR, relay.target], stdout=subprocess.PIPE, text=True
    )
    assert impostor.stdout is not None
    with bot, impostor, impostor.stdout as said:
        assert said.readline() == "called\n"
        with called(relay) as grpc:
            await relay.join()
            assert said.readline() == "hung up\n"
            bot.sendall(b"for us alone")
            assert await received(grpc, 12) == b"for us alone"
        relay.close()


@on_each_loop
async def test_a_system_without_abstract_names_has_a_folder_until_the_relay_is_joined() -> None:
    bot, theirs = socket.socketpair()
    theirs.settimeout(0)
    relay = Relay(theirs, 100, abstract=False)
    folder = Path(relay.target.removeprefix("unix:")).parent
    assert folder.stat().st_mode & 0o777 == 0o700
    with bot, called(relay) as grpc:
        await relay.join()
        assert not folder.exists()
        bot.sendall(b"an answer")
        assert await received(grpc, 9) == b"an answer"
        relay.close()


@on_each_loop
async def test_a_socket_that_cannot_be_made_is_a_failure_of_ours() -> None:
    bot, theirs = socket.socketpair()
    with bot:
        with no_more_descriptors(), pytest.raises(SandboxError, match="cannot make a socket between gRPC and a bot"):
            Relay(theirs, 100)
        assert theirs.fileno() == -1
