"""Real bots over real sockets: each way to misbehave gives its own kind of fault, in words, and in time."""

import asyncio
from collections.abc import Callable

import pytest

from referee.errors import Overloaded, SandboxError
from referee.game import play_game
from referee.model import FaultKind, GameSpec, SeatHolder
from referee.players.grpc_player import BotLink
from referee.players.stream import Broken, Stream
from referee.ports import Answer, Failure
from tests.support.bot_process import BotProcess
from tests.support.bot_sources import kit_bot, wire_bot
from tests.support.playing import CLOCK, DECK, QUICK, failure_of, link_to, play_some
from tests.support.sandboxed import PATIENCE_S, listening, logged
from treelings import GameEnd, GameStart, State, View


async def test_two_bots_play_games_one_after_the_other_on_the_same_processes() -> None:
    async with BotProcess(kit_bot()) as one, BotProcess(kit_bot()) as two:
        links = [link_to(one), link_to(two)]
        records = [
            await play_game(
                GameSpec(f"demo/0/r{r}", "test", None, "one-vs-two", "demo/0", r, "start", ("one", "two")),
                DECK,
                [SeatHolder("one", "v1"), SeatHolder("two", "v1")],
                [link.player() for link in links],
                CLOCK,
            )
            for r in range(3)
        ]
        for link in links:
            assert await link.left_in_order(60_000)  # to be closed gives a bot little time to hear of the end
            await link.close()
        logs = [await one.log_tail(), await two.log_tail()]
    assert [record.ended for record in records] == ["festival"] * 3
    assert all(record.faults == () for record in records)
    assert all(0 < move.ms < CLOCK.move_ms for record in records for move in record.moves)
    told = f"the end: festival {records[0].ranks} {records[0].scores}\n"
    assert logs == [told * 3, told * 3]


async def test_a_bot_that_raises_has_crashed_and_its_last_words_are_quoted_with_their_place() -> None:
    failure = await failure_of(kit_bot("def choose(self, view): raise ValueError('no \\x1b[31midea')"))
    assert failure.kind is FaultKind.CRASH
    assert failure.detail == (
        r"the bot ended with exit code 1 (last line of its log: 'ValueError: no \x1b[31midea'; at bot.py, line 15), "
        "at turn 0 (bank 4,200 ms)"
    )


async def test_a_bot_that_exits_without_a_word_has_crashed() -> None:
    source = kit_bot("def choose(self, view): return os._exit(3) if view.turn else view.legal_moves[0]")
    failure = await failure_of(source)
    assert failure.kind is FaultKind.CRASH
    assert failure.detail == "the bot ended with exit code 3 (it logged nothing), at turn 2 (bank 4,200 ms)"


async def test_a_bot_that_is_killed_has_crashed_and_the_signal_is_named() -> None:
    failure = await failure_of(kit_bot("def choose(self, view): os.kill(os.getpid(), signal.SIGKILL)"))
    assert failure.kind is FaultKind.CRASH
    assert "exit code -9, SIGKILL" in failure.detail


async def test_a_bot_that_its_memory_limit_ended_is_out_of_memory() -> None:
    source = kit_bot("def choose(self, view): os.kill(os.getpid(), signal.SIGKILL)")
    failure = await failure_of(source, out_of_memory=True)
    assert failure.kind is FaultKind.OUT_OF_MEMORY
    assert failure.detail == "the bot was ended by its memory limit, at turn 0 (bank 4,200 ms)"


async def test_a_bot_that_does_not_answer_in_time_has_timed_out() -> None:
    async with asyncio.timeout(PATIENCE_S):
        failure = await failure_of(kit_bot("def choose(self, view): time.sleep(60); return view.legal_moves[0]"), QUICK)
    assert failure.kind is FaultKind.TIMEOUT
    assert failure.detail.startswith("no answer within 150 ms, ")  # and then what a busy machine took from it
    assert failure.detail.endswith(", at turn 0 (bank 4,200 ms)")
    assert failure.ms >= 150


@pytest.mark.parametrize("text", ["R<R<R", "X", "nonsense \x1b[2J", "é" * 64])
async def test_a_move_is_handed_on_unjudged(text: str) -> None:
    async with BotProcess(
        wire_bot(f"""
        yield READY
        for query in queries(requests):
            yield reply(query.turn, {text!r})
        """)
    ) as bot:
        link = link_to(bot)
        answer = await play_some(link, turns=1)
        await link.close()
    assert isinstance(answer, Answer)
    assert answer.text == text


WRONG_MESSAGES = {
    "reply(query.turn, 'R' * 65)": "Reply.move: expected at most 64 characters, got 65",
    "reply(query.turn, '')": "Reply.move: expected a move, got an empty text",
    "reply(query.turn + 1, 'R')": "Reply.turn: expected 0, got 1",
    "READY": "expected Reply, got Ready",
    "b''": "expected Reply, got an empty message",
    "b'\\xff\\xff'": "expected a BotMessage, got 2 bytes that are none",
    "b'\\x00' * 20_000": "RESOURCE_EXHAUSTED",
}


@pytest.mark.parametrize("message", WRONG_MESSAGES)
async def test_a_message_that_is_no_reply_breaks_the_protocol(message: str) -> None:
    failure = await failure_of(
        wire_bot(f"""
        yield READY
        for query in queries(requests):
            yield {message}
        """)
    )
    assert failure.kind is FaultKind.PROTOCOL
    assert WRONG_MESSAGES[message] in failure.detail
    assert failure.detail.endswith("at turn 0 (bank 4,200 ms)")


async def test_a_second_answer_to_one_query_breaks_the_protocol() -> None:
    failure = await failure_of(
        wire_bot("""
        yield READY
        for query in queries(requests):
            yield first(query)
            yield first(query)
        """)
    )
    assert failure.kind is FaultKind.PROTOCOL
    assert "Reply.turn: expected 2, got 0" in failure.detail


async def test_an_answer_before_any_query_breaks_the_protocol() -> None:
    failure = await failure_of(
        wire_bot("""
        yield READY
        yield reply(7, "R")
        next(queries(requests))
        """)
    )
    assert failure.kind is FaultKind.PROTOCOL
    assert "Reply.turn: expected 0, got 7" in failure.detail


async def test_a_bot_that_ends_the_stream_and_lives_on_breaks_the_protocol() -> None:
    failure = await failure_of(wire_bot("yield READY; next(queries(requests))"))
    assert failure.kind is FaultKind.PROTOCOL
    assert failure.detail == (
        "the bot left the game (status OK), though its process went on, at turn 0 (bank 4,200 ms)"
    )


async def test_a_game_over_a_broken_connection_ends_with_words_for_it() -> None:
    async with BotProcess(kit_bot()) as bot:
        link = link_to(bot)
        await link.stream(10_000)  # which makes the connection
        await bot.stop()
        stream = await link.stream(10_000)
        assert isinstance(stream, Stream)
        came = await stream.answer(10_000)
        await link.close()
    assert isinstance(came, Broken)
    assert came.status == "status UNAVAILABLE: it hung up"


MOUNT = "'25 30 8:1 /league/' + os.path.basename(os.path.dirname(os.path.abspath(__file__))) + ' /bot ro'"
PATHS = {
    "os.environ['TREELINGS_SOCKET']": "at its socket",
    "os.path.dirname(os.path.abspath(__file__))": "at its folder",
    "os.path.abspath(__file__) + ':7'": "at its folder/bot.py:7",
    MOUNT: "at 25 30 8:1 its folder /bot ro",
}


@pytest.mark.parametrize("path", PATHS)
async def test_paths_of_this_machine_stay_out_of_what_is_quoted_from_a_log(path: str) -> None:
    failure = await failure_of(kit_bot(f"def choose(self, view): sys.exit('at ' + {path})"))
    assert f"(last line of its log: 'SystemExit: {PATHS[path]}'; at bot.py, line" in failure.detail


async def test_paths_of_this_machine_stay_out_of_a_status_wherever_it_is_cut() -> None:
    failure = await failure_of(
        wire_bot("""
        yield READY
        next(queries(requests))
        context.abort(grpc.StatusCode.UNKNOWN, "x" * 130 + " " + os.path.abspath(__file__))
        """)
    )
    assert "xxx its folder/b" in failure.detail


async def test_the_text_of_a_status_is_cut_and_escaped() -> None:
    failure = await failure_of(
        wire_bot("""
        yield READY
        next(queries(requests))
        context.abort(grpc.StatusCode.UNAVAILABLE, "\\x1b[31m" + "x" * 3_000)
        """)
    )
    assert failure.kind is FaultKind.PROTOCOL
    assert r"(status UNAVAILABLE: \x1b[31mxxx" in failure.detail
    assert len(failure.detail) < 300


async def test_a_bot_without_the_service_fails_to_start() -> None:
    failure = await failure_of(wire_bot("yield READY").replace("codec.SERVICE,", "'other.Service',"))
    assert failure.kind is FaultKind.STARTUP
    # Which of the two depends on how far the referee's first message has come.
    assert "(status UNIMPLEMENTED" in failure.detail or "(before it took what was sent)" in failure.detail


async def test_a_bot_of_another_protocol_version_fails_to_start() -> None:
    failure = await failure_of(
        wire_bot("""
        message = BotMessage()
        message.ready.protocol = 7
        yield message.SerializeToString()
        """)
    )
    assert failure.kind is FaultKind.STARTUP
    assert "Ready.protocol: expected 1, got 7" in failure.detail


async def test_a_bot_that_exits_at_once_fails_to_start_before_its_limit() -> None:
    async with asyncio.timeout(PATIENCE_S):
        failure = await failure_of(
            "import sys; print('what?'); sys.exit('no such model')", CLOCK._replace(startup_ms=600_000)
        )
    assert failure == Failure(
        FaultKind.STARTUP,
        "the bot ended with exit code 1 (last line of its log: 'no such model') before it listened on its socket",
    )


NEVER_THERE = {
    "import time; time.sleep(60)": "it is not there",
    "import os, time; open(os.environ['TREELINGS_SOCKET'], 'w'); time.sleep(60)": "what it put there is no socket",
    "import os, time; os.symlink('/run/other.sock', os.environ['TREELINGS_SOCKET']); time.sleep(60)": "no socket",
    "import os, socket, time; s = socket.socket(1); s.bind(os.environ['TREELINGS_SOCKET']); time.sleep(60)": (
        "it is there, but nobody listens"
    ),
}


@pytest.mark.parametrize("source", NEVER_THERE)
async def test_a_bot_that_never_listens_fails_to_start_at_its_limit(source: str) -> None:
    async with asyncio.timeout(PATIENCE_S), BotProcess(source) as bot:
        await put_there(bot, anything=NEVER_THERE[source] != "it is not there")
        link = link_to(bot)
        failure = await play_some(link, CLOCK._replace(startup_ms=400))
        await link.close()
    assert isinstance(failure, Failure)
    assert failure.kind is FaultKind.STARTUP
    assert failure.detail.startswith("expected the bot to listen on its socket within 400 ms")
    assert NEVER_THERE[source] in failure.detail


async def put_there(bot: BotProcess, *, anything: bool) -> None:
    """Wait until the bot has put something where its socket should be: one that starts slowly has not yet."""
    while anything and bot.socket not in bot.socket.parent.iterdir():  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.01)


async def test_a_bot_that_is_never_ready_fails_to_start_at_its_limit() -> None:
    source = kit_bot("def start(self, game): time.sleep(60 if game.clock.startup_ms == 200 else 0)")
    async with BotProcess(source) as bot:
        link = link_to(bot)
        assert isinstance(await play_some(link, CLOCK), Answer)
        failure = await play_some(link, CLOCK._replace(startup_ms=200))
        await link.close()
    assert isinstance(failure, Failure)
    assert failure.kind is FaultKind.STARTUP
    assert failure.detail.startswith("no answer within 200 ms, ")  # and then what a busy machine took from it
    assert failure.detail.endswith(", before it was ready; the start-up limit is 200 ms")


RAW_PEER = """
import os, socket, sys, threading, time
listener = socket.socket(socket.AF_UNIX)
listener.bind(os.environ["TREELINGS_SOCKET"])
listener.listen()

def speak(peer):
    try:
        while True:
            {action}
    except OSError:
        pass

while True:
    threading.Thread(target=speak, args=(listener.accept()[0],), daemon=True).start()
"""
SETTINGS = r"peer.sendall(b'\0\0\0\4\0\0\0\0\0' * 4_000)"
PINGS = r"peer.sendall(b'\0\0\x08\6\0\0\0\0\0\0\0\0\0\0\0\0\0' * 4_000)"


@pytest.mark.parametrize("action", ["time.sleep(60)", "peer.sendall(b'x' * 65536)", SETTINGS, PINGS])
async def test_the_wait_for_a_peer_that_floods_and_never_reads_ends_in_time(action: str) -> None:
    async with asyncio.timeout(PATIENCE_S), BotProcess(RAW_PEER.format(action=action)) as bot:
        await listening(bot)
        link = link_to(bot)
        failure = await play_some(link, CLOCK._replace(startup_ms=700))
        await link.close()
    assert isinstance(failure, Failure)
    assert failure.kind is FaultKind.STARTUP
    assert "to listen on its socket" not in failure.detail


async def test_a_bot_that_failed_is_ended_at_once_and_not_only_when_its_match_is() -> None:
    async with BotProcess(kit_bot("def choose(self, view): time.sleep(60)")) as bot:
        link = link_to(bot)
        await play_some(link, QUICK)
        await bot.ended()
        await link.close()
        await link.close()
        assert bot.stops == 1


async def test_a_match_can_be_closed_before_its_bots_were_reached() -> None:
    async with BotProcess(kit_bot()) as bot:
        await link_to(bot).close()
        assert not (await bot.state()).running


def clock_of(ahead: Callable[[], float]) -> Callable[[], float]:
    """The event loop's, ahead of it by as much as we stood still."""
    loop = asyncio.get_running_loop()
    return lambda: loop.time() + ahead()


async def test_a_wait_during_which_we_stood_still_is_no_fault() -> None:
    ahead = 0.0
    async with BotProcess(kit_bot("def choose(self, view): time.sleep(60)")) as bot:
        link = BotLink(bot, clock_of(lambda: ahead))
        player = link.player()
        assert await player.start(GameStart("demo/0/r0", 0, 2, "start", CLOCK)) is None
        asking = asyncio.create_task(player.ask(View.of(State.deal(DECK, 2), limit_ms=150)))
        await asyncio.sleep(0)
        ahead = 5.0
        with pytest.raises(SandboxError, match="the referee stood still: a wait of 150 ms ended after 5,"):
            await asking
        await link.close()


async def test_a_wait_for_the_socket_during_which_we_stood_still_is_no_fault() -> None:
    ahead = 0.0
    async with BotProcess("import time; time.sleep(60)") as bot:
        link = BotLink(bot, clock_of(lambda: ahead))
        starting = asyncio.create_task(link.player().start(GameStart("demo/0/r0", 0, 2, "start", CLOCK)))
        await asyncio.sleep(0.05)
        ahead = 65.0
        with pytest.raises(
            SandboxError,
            match=r"^bot, before it was ready: the referee stood still: a wait of 60,000 ms ended after 65,",
        ):
            await starting
        await link.close()


async def test_a_bot_that_listens_in_time_plays_although_we_stood_still() -> None:
    ahead = 0.0
    async with BotProcess(kit_bot()) as bot:
        link = BotLink(bot, clock_of(lambda: ahead))
        playing = asyncio.create_task(play_some(link))
        await asyncio.sleep(0)
        ahead = 5.0
        assert isinstance(await playing, Answer)
        await link.close()


async def test_an_answer_that_we_saw_after_its_limit_because_we_stood_still_is_no_fault() -> None:
    ahead = 0.0
    async with BotProcess(kit_bot()) as bot:
        link = BotLink(bot, clock_of(lambda: ahead))
        player = link.player()
        assert await player.start(GameStart("demo/0/r0", 0, 2, "start", CLOCK)) is None
        asking = asyncio.create_task(player.ask(View.of(State.deal(DECK, 2), limit_ms=5_000, bank_ms=5_000)))
        await asyncio.sleep(0)
        ahead = 5.2  # before any timer has rung
        # Which of the two depends on whether the answer or a timer is first.
        with pytest.raises(Overloaded, match=r"^bot, at turn 0: (answered|.* stood still: .* ended) after 5,\d+ ms"):
            await asking
        await link.close()


async def leaves_in_order(source: str, within_ms: int = 60_000) -> bool:
    """How a bot left a game that was ended after its start."""
    async with BotProcess(source) as bot:
        link = link_to(bot)
        assert await link.left_in_order(0)  # which has played nothing yet
        player = link.player()
        assert await player.start(GameStart("demo/0/r0", 0, 2, "start", CLOCK)) is None
        await player.end(GameEnd("void", (), ()))
        in_order = await link.left_in_order(within_ms)
        await link.close()
        assert not await link.left_in_order(within_ms)  # which has been ended
    return in_order


async def test_a_bot_leaves_a_game_in_order_once_it_has_done_what_it_does_at_the_end() -> None:
    assert await leaves_in_order(kit_bot("def end(self, result): time.sleep(0.2)"))
    assert not await leaves_in_order(kit_bot("def end(self, result): time.sleep(60)"), 100)


DISORDER = {
    "raise": kit_bot("def end(self, result): raise ValueError"),
    "exit": kit_bot("def end(self, result): os._exit(0)"),
    "status": wire_bot("yield READY; list(requests); context.abort(grpc.StatusCode.CANCELLED, '')"),
    "message": wire_bot("yield READY; list(requests); yield READY"),
    "flood": wire_bot("yield READY; list(requests); yield from (READY for _ in range(10**9))"),
}


@pytest.mark.parametrize("kind", DISORDER)
async def test_a_bot_that_breaks_down_or_answers_the_end_does_not_leave_in_order(kind: str) -> None:
    assert not await leaves_in_order(DISORDER[kind])


async def test_a_bot_that_ended_after_it_had_left_does_not_play_on() -> None:
    async with BotProcess(kit_bot()) as bot:
        link = link_to(bot)
        assert await link.player().start(GameStart("demo/0/r0", 0, 2, "start", CLOCK)) is None
        assert await link.left_in_order(60_000)
        await bot.stop()
        async with asyncio.timeout(PATIENCE_S):
            while await link.left_in_order(60_000):  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.001)
        await link.close()


async def test_the_end_of_a_game_reaches_the_bot_without_waiting_for_it() -> None:
    source = kit_bot("def end(self, result): print('told', flush=True); time.sleep(60)")
    async with asyncio.timeout(PATIENCE_S), BotProcess(source) as bot:
        link = link_to(bot)
        player = link.player()
        assert await player.start(GameStart("demo/0/r0", 0, 2, "start", CLOCK)) is None
        await player.end(GameEnd("void", (), ()))
        assert await logged(bot, "told") == "told\n"
        await link.close()
