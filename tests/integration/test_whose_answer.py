"""No answer is taken for another bot's, another turn's or the referee's own, and no bot sends without end."""

import asyncio

import grpc

import referee.players  # noqa: F401
from referee.limits import Limits
from referee.model import FaultKind
from referee.ports import Answer, Failure
from tests.support.bot_process import BotProcess
from tests.support.bot_sources import kit_bot, wire_bot
from tests.support.descriptors import open_descriptors
from tests.support.playing import CLOCK, START, failure_of, link_to, play_some
from tests.support.sandboxed import PATIENCE_S, listening
from treelings import GameEnd

CODES = [code.name for code in grpc.StatusCode]
OURS = ("Deadline Exceeded", "Locally cancelled by application!", "failed to connect to all addresses")
"""What gRPC itself says where a call ends on this side."""

FORGER = wire_bot("""
start = RefereeMessage.FromString(next(requests)).start
code, words = start.game.split("/")
yield READY
next(requests)
context.set_code(grpc.StatusCode[code])
context.set_details(words)
""")


async def test_no_status_of_a_bot_is_taken_for_our_own_whatever_it_says() -> None:
    async with BotProcess(FORGER, survives=True) as bot:
        links = {(code, words): link_to(bot) for code in CODES for words in OURS[: 3 if code != "OK" else 1]}
        outcomes = await asyncio.gather(*(play_some(link, game="/".join(said)) for said, link in links.items()))
        for link in links.values():
            await link.close()
    for (code, words), outcome in zip(links, outcomes, strict=True):
        assert isinstance(outcome, Failure)
        assert outcome.kind is FaultKind.PROTOCOL
        status = "status OK" if code == "OK" else f"status {code}: {words}"
        assert outcome.detail == (
            f"the bot left the game ({status}), though its process went on, at turn 0 (bank 4,200 ms)"
        )


async def test_a_bot_that_would_compress_its_answers_is_not_asked_to() -> None:
    source = wire_bot("""
    context.set_compression(grpc.Compression.Gzip)
    yield READY
    for query in queries(requests):
        yield first(query)
    """)
    async with BotProcess(source) as bot:
        link = link_to(bot)
        assert isinstance(await play_some(link), Answer)
        await link.close()


def linked(neighbour: BotProcess) -> str:
    """Python source text that puts a link to a neighbour's socket in the place of the bot's own."""
    return (
        "own = os.environ['TREELINGS_SOCKET']; os.path.lexists(own) and os.remove(own); "
        f"os.symlink('{neighbour.socket}', own)"
    )


def is_link(bot: BotProcess) -> bool:
    return bot.socket.is_symlink()


async def test_a_neighbours_answers_cannot_be_had_by_a_link_to_its_socket() -> None:
    async with BotProcess(kit_bot()) as neighbour:
        honest = link_to(neighbour)
        assert isinstance(await play_some(honest), Answer)
        async with BotProcess(f"import os, time\n{linked(neighbour)}\ntime.sleep(60)") as cheat:
            async with asyncio.timeout(PATIENCE_S):
                while not is_link(cheat):  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(0.01)
            link = link_to(cheat)
            failure = await play_some(link, CLOCK._replace(startup_ms=500))
            await link.close()
        await honest.close()
    assert isinstance(failure, Failure)
    assert failure.kind is FaultKind.STARTUP
    assert failure.detail == (
        "expected the bot to listen on its socket within 500 ms: what it put there is a link and no socket"
    )


async def test_a_link_that_is_put_there_later_changes_nothing_for_the_games_to_come() -> None:
    async with BotProcess(kit_bot()) as neighbour:
        honest = link_to(neighbour)
        assert isinstance(await play_some(honest), Answer)
        async with BotProcess(kit_bot(f"def start(self, game): {linked(neighbour)}")) as cheat:
            link = link_to(cheat)
            for _ in range(2):
                player = link.player()
                assert await player.start(START) is None
                assert is_link(cheat)
                await player.end(GameEnd("void", (), ()))
                assert await link.left_in_order(60_000)
            assert (await cheat.log_tail()).count("the end: void") == 2
            await link.close()
        assert await neighbour.log_tail() == ""
        await honest.close()


STAND_IN = r"""
import os, subprocess, sys, time
listen = '''
import contextlib, os, socket
s = socket.socket(1)
s.bind(os.environ["TREELINGS_SOCKET"])
s.listen()
s.settimeout(0.5)
while os.getppid() == PARENT:  # no longer than the bot lives
    with contextlib.suppress(TimeoutError):
        s.accept()
'''
subprocess.Popen([sys.executable, "-c", listen.replace("PARENT", str(os.getpid()))])
time.sleep(60)
"""


async def test_a_process_that_is_not_the_bots_does_not_answer_for_it() -> None:
    async with BotProcess(STAND_IN) as bot:
        await listening(bot)
        link = link_to(bot)
        failure = await play_some(link, CLOCK._replace(startup_ms=600))
        await link.close()
    assert isinstance(failure, Failure)
    assert failure.kind is FaultKind.STARTUP
    assert failure.detail == (
        "expected the bot to listen on its socket within 600 ms: expected the bot's own process to listen, "
        "got one of another"
    )


async def test_a_bot_that_sends_more_than_its_budget_in_a_game_breaks_the_protocol() -> None:
    failure = await failure_of(
        wire_bot("""
        yield READY
        next(queries(requests))
        context.set_trailing_metadata((("x", "x" * 3_000),))
        """),
        limits=Limits(sent_bytes=1_000),
    )
    assert failure.kind is FaultKind.PROTOCOL
    assert failure.detail == (
        "expected at most 1,000 bytes in a game, got more (frames of gRPC's own included), at turn 0 (bank 4,200 ms)"
    )


async def test_a_bot_that_sends_too_much_before_it_is_ready_fails_to_start() -> None:
    failure = await failure_of(
        wire_bot("""
        context.send_initial_metadata((("x", "x" * 2_000),))
        yield READY
        """),
        limits=Limits(sent_bytes=1_000),
    )
    assert failure.kind is FaultKind.STARTUP
    assert failure.detail == (
        "expected at most 1,000 bytes in a game, got more (frames of gRPC's own included), before it was ready; "
        "the start-up limit is 60,000 ms"
    )


async def test_an_honest_bot_has_its_budget_anew_in_each_game() -> None:
    async with BotProcess(kit_bot("def end(self, result): pass")) as bot:
        bot.limits = Limits(sent_bytes=1_500)
        link = link_to(bot)
        for _ in range(20):
            assert isinstance(await play_some(link), Answer)
            assert await link.left_in_order(60_000)
        await link.close()


async def test_a_link_leaves_no_descriptor() -> None:
    async def life() -> None:
        async with BotProcess(kit_bot()) as bot:
            link = link_to(bot)
            assert isinstance(await play_some(link), Answer)
            await link.close()

    await life()  # the loop opens some for good
    before = open_descriptors()
    await life()
    assert open_descriptors() <= before
