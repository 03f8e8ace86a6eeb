"""Bots that their authors run themselves: over TCP, with all the time in the world, and started again by hand."""

import asyncio
import re
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from referee.errors import UsageError
from referee.model import FaultKind, GameRecord
from referee.players import connect
from referee.players.attached import VERSION, HostPort, WithAttached, attached_submission
from referee.quick import QuickTables
from referee.records import problems
from referee.sandbox.process import ProcessSandbox
from referee.schedule import plan_deal
from referee.submissions import sample_bot, take_in
from tests.support.command import treelings
from tests.support.own_port import own_port
from treelings import Clock

CLOCK = Clock(move_ms=50)
wait_for_it = partial(connect, patience_ms=3_600_000)
IPV6 = "::1"

SOURCE = """
import os, sys
import treelings

class Mine(treelings.Bot):
    def choose(self, view):
        {choose}
        return view.legal_moves[-1]

treelings.serve(Mine, listen=sys.argv[1])
"""


class ByHand:
    """A bot's process as its author has started it; `address` is where it listens."""

    def __init__(self, process: asyncio.subprocess.Process, address: HostPort) -> None:
        self.process = process
        self.address = address

    async def says(self, words: str) -> None:
        """Wait until it prints that."""
        assert self.process.stdout is not None
        while words not in (line := (await self.process.stdout.readline()).decode()):
            assert line, f"it ended before it said {words!r}"

    def hears(self, line: str) -> None:
        """Type a line into its terminal."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())


@asynccontextmanager
async def by_hand(choose: str = "pass", *, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[ByHand]:
    """Start a bot whose `choose` begins with this line; any port unless one is given."""
    shown = f"[{host}]" if ":" in host else host
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-u", "-c", SOURCE.format(choose=choose), f"{shown}:{port}",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = (await process.stdout.readline()).decode()
        found = re.search(r"listens on \S+:(\d+),", line)
        assert found is not None, line
        yield ByHand(process, (host, int(found[1])))
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def play(
    folder: Path, address: HostPort, deals: int = 1, *, tell: Callable[[str], None] = print, again_s: float = 60
) -> list[GameRecord]:
    """The records of a match between `mine`, which is attached, and a sample bot."""
    random = sample_bot("random")
    assert random is not None
    bots = [attached_submission("mine"), take_in(random, folder)]
    plan = [
        plan_deal(league="", night=None, bots=[bot.name for bot in bots], deal=deal, refill="start")
        for deal in range(deals)
    ]
    sandbox = WithAttached(ProcessSandbox(), {"mine": address}, tell, at_first_s=0, again_s=again_s)
    try:
        await sandbox.open()
        tables = QuickTables(bots, sandbox, bytes(32), CLOCK, wait_for_it)
        games = [game async for deal in tables.play(plan) for game in deal.games]
    finally:
        await sandbox.close()
    records = [game for game in games if isinstance(game, GameRecord)]
    assert [record.id for record in records] == [game.id for deal in plan for game in deal]
    assert [problems(record) for record in records] == [[]] * len(records)
    return records


def faults(record: GameRecord) -> list[tuple[str, FaultKind]]:
    return [(record.seats[fault.seat].bot, fault.kind) for fault in record.faults]


def ipv6() -> bool:
    try:
        socket.create_server((IPV6, 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.parametrize(
    "host", ["127.0.0.1", pytest.param(IPV6, marks=pytest.mark.skipif(not ipv6(), reason="no IPv6 here"))]
)
async def test_an_attached_bot_plays_match_after_match_and_is_never_ended(host: str, tmp_path: Path) -> None:
    async with by_hand(host=host) as mine:
        for _ in range(2):
            records = await play(tmp_path, mine.address)
            assert [faults(record) for record in records] == [[], []]
            versions = {seat.bot: seat.version for record in records for seat in record.seats}
            assert versions["mine"] == VERSION != versions["random"]
        assert mine.process.returncode is None


async def test_an_attached_bot_may_stand_at_a_breakpoint(tmp_path: Path) -> None:
    async with by_hand("view.turn in (4, 5) and (print('at a breakpoint'), sys.stdin.readline())") as mine:
        playing = asyncio.create_task(play(tmp_path, mine.address))
        for _ in range(2):  # in each of the two games
            await mine.says("at a breakpoint")
            await asyncio.sleep(2 * CLOCK.move_ms / 1000)
            assert not playing.done()
            mine.hears("continue")
        records = await playing
        assert [faults(record) for record in records] == [[], []]
        times = [[move.ms for move in record.moves if record.seats[move.seat].bot == "mine"] for record in records]
        assert [max(each) for each in times] == [CLOCK.move_ms] * 2  # what is beyond its limit costs it nothing


async def test_an_exception_costs_an_attached_bot_that_game_and_the_next_is_played(tmp_path: Path) -> None:
    async with by_hand("if view.turn == 4: raise RuntimeError('lost the thread')") as mine:
        first, second = await play(tmp_path, mine.address)
        (fault,) = first.faults
        assert first.seats[fault.seat].bot == "mine"
        assert fault.turn == 4
        assert "lost the thread" in fault.detail
        assert faults(second) == []
        assert mine.process.returncode is None


async def test_an_attached_bot_that_has_ended_is_waited_for_and_plays_on_when_it_is_started_again(
    tmp_path: Path,
) -> None:
    told: asyncio.Queue[str] = asyncio.Queue()
    with own_port() as port:
        async with by_hand("if view.turn == 4: os._exit(3)", port=port) as mine:
            playing = asyncio.create_task(play(tmp_path, mine.address, tell=told.put_nowait))
            assert "waiting 60 s for it to listen on 127.0.0.1:" in await told.get()
            async with by_hand(port=port):
                first, second = await playing
    assert faults(first) == [("mine", FaultKind.CRASH)]
    assert faults(second) == []


async def test_an_attached_bot_that_does_not_come_back_ends_the_match_in_words(tmp_path: Path) -> None:
    async with by_hand("if view.turn == 4: os._exit(3)") as mine:
        with pytest.raises(UsageError, match=r"mine: expected it to listen on 127\.0\.0\.1:"):
            await play(tmp_path, mine.address, again_s=0)


async def test_a_bot_that_is_not_there_is_named_with_its_place_and_what_to_do(tmp_path: Path) -> None:
    with socket.socket() as taken:  # and so nobody else can listen there
        taken.bind(("127.0.0.1", 0))
        address: HostPort = taken.getsockname()
        expected = (
            rf"^mine: expected it to listen on 127.0.0.1:{address[1]}, got: Connection refused; .*"
            rf'treelings.serve\(YourBot, listen="127.0.0.1:{address[1]}"\)'
        )
        with pytest.raises(UsageError, match=expected):
            await play(tmp_path, address)


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
async def test_what_listens_there_and_is_no_bot_is_no_bots_fault(answer: bytes, tmp_path: Path) -> None:
    async def answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(answers, "127.0.0.1") as server:
        with pytest.raises(UsageError, match="it is no bot that takes calls there"):
            await play(tmp_path, server.sockets[0].getsockname())


async def test_a_bot_that_stands_at_a_breakpoint_of_a_game_before_is_told_from_one_that_does_not_listen(
    tmp_path: Path,
) -> None:
    async with by_hand("print('at a breakpoint'), sys.stdin.readline()") as mine:
        before = asyncio.create_task(play(tmp_path, mine.address))
        await mine.says("at a breakpoint")
        before.cancel()
        await asyncio.wait([before])
        with pytest.raises(UsageError, match=r"got: no answer, as from a bot that still thinks .*\(let it go on\)"):
            await play(tmp_path, mine.address)


async def test_the_command_plays_with_an_attached_bot_and_says_how_long_it_may_take(tmp_path: Path) -> None:
    async with by_hand() as mine:
        done = await asyncio.to_thread(
            treelings, "match", "random", "--attach", f"mine=127.0.0.1:{mine.address[1]}", "--deals", "1",
            "--sandbox", "process", cwd=tmp_path,
        )  # fmt: skip
    assert done.code == 0
    assert "told a league's limits, but waited for up to an hour a move" in done.err
    assert re.search(r"^\d  mine ", done.out, re.MULTILINE)


async def test_bots_that_are_all_attached_need_no_sandbox(tmp_path: Path) -> None:
    async with by_hand() as ann, by_hand() as bob:
        attached = [f"--attach={name}=127.0.0.1:{bot.address[1]}" for name, bot in (("ann", ann), ("bob", bob))]
        done = await asyncio.to_thread(treelings, "match", *attached, "--deals", "1", cwd=tmp_path)
    assert done.code == 0
    assert "isolates nothing" not in done.err
