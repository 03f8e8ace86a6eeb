"""`treelings check --protocol`: what it finds in bots that each get one thing wrong, and what it says of good ones."""

import asyncio
import json
import re
import sys
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from referee.conformance import CORNERS, Outcome, Step, conformance
from referee.conformance.desk import Pace
from tests.support import protocol_bots as bots
from tests.support.command import Done, treelings
from treelings import Clock

CALM = Pace(Clock(move_ms=10_000), tight_ms=5_000)
"""Far more time than an honest bot needs, however busy the machine."""

HURRIED = Pace(Clock(startup_ms=400, move_ms=400), tight_ms=50, silence_ms=50, idle_ms=1_000, greeting_ms=300)
"""For bots that never answer, or too late."""

PATIENT = Pace(Clock(startup_ms=2_000))
"""For those that answer at first: an honest answer takes a busy machine its time."""


async def run(bot: AbstractAsyncContextManager[bots.HostPort], *steps: str, pace: Pace = CALM) -> dict[str, Step]:
    async with bot as address:
        return {step.name: step async for step in conformance(address, pace, steps)}


@dataclass(frozen=True)
class Case:
    """A bot, the steps that it is put through, and what it gets wrong at the first one of them."""

    bot: AbstractAsyncContextManager[bots.HostPort]
    steps: tuple[str, ...]
    expected: str
    got: str
    pace: Pace = CALM


def raw(bot: bots.Honest, steps: str, expected: str, got: str, pace: Pace = CALM) -> Case:
    return Case(bots.listening(bot), tuple(steps.split(", ")), expected, got, pace)


def hand(bot: type[bots.ByHand], steps: str, expected: str, got: str, pace: Pace = CALM) -> Case:
    return Case(bots.by_hand(bot), tuple(steps.split(", ")), expected, got, pace)


CASES = {
    "web server": partial(hand, bots.WebServer, "connection", "SETTINGS as the first frame", "an answer in HTTP/1"),
    "needs TLS": partial(hand, bots.NeedsTls, "connection", "SETTINGS as the first frame", "an alert of TLS"),
    "shell server": partial(hand, bots.ShellServer, "connection", "SETTINGS as the first frame", "b'SSH-2.0-Open"),
    "hangs up": partial(hand, bots.HangsUp, "connection", "SETTINGS as the first frame", "a bot that waits for TLS"),
    "says nothing": partial(
        hand,
        bots.SaysNothing,
        "connection",
        "SETTINGS as the first frame",
        "nothing within 50 ms",
        Pace(greeting_ms=50),
    ),
    "deaf to pings": partial(
        hand, bots.DeafToPings, "connection", "answer to the PING", "none", Pace(greeting_ms=1_000)
    ),
    "ignores windows": partial(hand, bots.ByHand, "small windows", "DATA of at most 8 bytes", "a frame of 9", PATIENT),
    "speaks first": partial(raw, bots.SpeaksFirst(), "start", "nobody has asked for", "ready { protocol: 1 }"),
    "ready twice": partial(raw, bots.ReadyTwice(), "start", "nobody has asked for", "ready { protocol: 1 }"),
    "another version": partial(raw, bots.AnotherVersion(), "start", "Ready of protocol 1", "Ready.protocol = 2"),
    "never ready": partial(raw, bots.NeverReady(), "start", "Ready within 400 ms", "nothing after", HURRIED),
    "replies twice": partial(raw, bots.RepliesTwice(), "query", "nobody has asked for", "reply {"),
    "counts from one": partial(raw, bots.CountsFromOne(), "query", "a Reply to turn 2", "Reply.turn = 3"),
    "empty message": partial(raw, bots.SaysNothingInIt(), "query", "a Reply to turn 2", "an empty message"),
    "hostile status": partial(raw, bots.EscapesInItsStatus(), "query", "a Reply to turn 2", r"INVALID_ARGUMENT: \x1b"),
    "far too long": partial(raw, bots.FarTooLong(), "query", "a Reply to turn 2", "larger than max (20015 vs. 16384)"),
    **{
        f"no table of {players}": partial(
            raw, bots.KnowsNoTableOf(players), f"{name} seats", "a legal move: ", "not a move: 'R<R>R'"
        )
        for players, name in ((2, "two"), (3, "three"), (4, "four"), (5, "five"))
    },
    "one refill": partial(raw, bots.OneRefill(), "two seats, five seats", "Ready", "it is always at the start"),
    "never passes": partial(raw, bots.NeverPasses(), "pass", "a legal move: -", "illegal move 'R'"),
    "forty turns": partial(raw, bots.FortyTurns(), "long game", "a Reply to turn 41", "UNKNOWN: IndexError: 40"),
    "small buffer": partial(raw, bots.SmallBuffer(), "most moves", "a Reply to turn 0", "larger than max"),
    "takes its time": partial(
        raw,
        bots.TakesItsTime(),
        "short of time",
        "a Reply to turn 0 within 300 ms",
        "reply {",
        Pace(CALM.clock, tight_ms=300),
    ),
    "too late": partial(
        raw, bots.TakesItsTime(), "query", "a Reply to turn 2 within 300 ms", "reply {", Pace(Clock(move_ms=300))
    ),
    "answers the end": partial(raw, bots.AnswersTheEnd(), "end", "status OK, and no message", "ready {"),
    "fails at the end": partial(raw, bots.FailsAtTheEnd(), "end", "status OK, and no message", "UNKNOWN: no scores"),
    "never leaves": partial(raw, bots.NeverLeaves(), "end", "status OK, and no message", "nothing", PATIENT),
    "remembers": partial(raw, bots.RemembersTheLastGame(), "next games", "a Reply to turn 3", "Reply.turn = "),
    "busy till the end": partial(
        raw, bots.BusyTillTheEnd(), "broken off", "in the next game after one that was cancelled", "there is a game"
    ),
    "one desk": partial(raw, bots.OneDesk(), "two at once", "a Reply to turn 2", "Reply.turn = "),
    "all fields": partial(raw, bots.KnowsAllFields(), "unknown fields", "Ready", "what is field 15?"),
    "gives up": partial(raw, bots.GivesUpForGood(), "unknown values", "with a refill that it cannot know", "I give up"),
    "any version": partial(raw, bots.AnyVersion(), "other protocol", "or Ready of protocol 1", "ready { protocol: 2 }"),
    "ready for anything": partial(raw, bots.ReadyForAnything(), "no message", "not OK, or silence", "ready {"),
    "any method": partial(raw, bots.AnyMethod(), "other methods", "UNIMPLEMENTED for /treelings.v1.Bot/Watch", "ready"),
    "long trailers": partial(raw, bots.LongTrailers(), "headers", "of at most 8,192 bytes", "RESOURCE_EXHAUSTED"),
    "pings": partial(raw, bots.Pings(), "standing still", "no PING frames", " in "),
    "probes": partial(raw, bots.ProbesTheBandwidth(), "standing still", "probes of the bandwidth", " in "),
    "closes old ones": partial(
        hand,
        bots.ClosesOldConnections,
        "standing still",
        "waits for its next turn",
        "the end of",
        Pace(CALM.clock, idle_ms=10_000),
    ),
    "fails after games": partial(
        raw, bots.FailsAtTheEnd(), "as in a match", "ends the stream with status OK", "in another way"
    ),
    "faults in matches": partial(
        raw, bots.CountsFromOne(), "as in a match", "a game without a fault", "protocol: Reply.turn: expected 1, got 2"
    ),
    "talkative": partial(
        raw, bots.Talkative(), "query, sizes", "comments of at most 200 characters", "one of 300: it gets cut"
    ),
    "spends its budget": partial(
        raw, bots.SpendsItsBudget(), "two seats", "at most 262,144 bytes in a game", "the bot was cut off"
    ),
}


@pytest.mark.parametrize("name", CASES)
async def test_each_mistake_is_found_and_named(name: str) -> None:
    case = CASES[name]()
    steps = await run(case.bot, *case.steps, pace=case.pace)
    step = next(step for step in steps.values() if step.outcome is Outcome.FAILED)
    assert case.expected in step.expected
    assert case.got in step.got
    assert all(text.isprintable() and len(text) <= 1_500 for text in (step.expected, step.got, step.sent))


async def test_a_bot_that_knows_one_refill_gets_every_table_wrong() -> None:
    steps = await run(bots.listening(bots.OneRefill()), "query", "two seats", "five seats")
    assert [step.outcome for step in steps.values()] == ["passed", "failed", "failed"]


async def test_a_bot_that_says_nothing_any_more_is_left_alone() -> None:
    steps = await run(bots.listening(bots.NeverReady()), "start", "query", "sizes", pace=HURRIED)
    assert [step.outcome for step in steps.values()] == ["failed", "not reached", "not reached"]


async def test_what_is_no_bot_at_all_is_told_so_once() -> None:
    steps = await run(bots.by_hand(bots.WebServer), "connection", "start", "two seats")
    assert [step.outcome for step in steps.values()] == ["failed", "not reached", "not reached"]


def test_each_step_can_be_failed() -> None:
    assert {case().steps[-1] for case in CASES.values()} >= {corner.name for corner in CORNERS}


async def test_an_honest_bot_of_bare_grpc_gets_nothing_wrong() -> None:
    steps = await run(bots.listening(bots.Honest()), pace=CALM)
    assert [(step.name, step.got) for step in steps.values() if step.outcome is not Outcome.PASSED] == []
    assert steps.keys() == {corner.name for corner in CORNERS}
    assert steps["two at once"].fact == "played side by side, and not mixed"


KIT = """
import sys, treelings

class Last(treelings.Bot):
    def choose(self, view):
        self.say("as I always do")
        return view.legal_moves[-1]

treelings.serve(Last, listen=sys.argv[1])
"""


async def test_a_bot_of_the_kit_gets_nothing_wrong() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KIT, "127.0.0.1:0", stderr=asyncio.subprocess.PIPE
    )
    try:
        assert process.stderr is not None
        said = re.search(rb"listens on 127.0.0.1:(\d+)", await process.stderr.readline())
        assert said is not None
        steps = [step async for step in conformance(("127.0.0.1", int(said[1])), CALM)]
    finally:
        process.kill()
        await process.communicate()
    assert [(step.name, step.got) for step in steps if step.outcome is not Outcome.PASSED] == []
    assert [step.name for step in steps] == [corner.name for corner in CORNERS]
    assert steps[14].fact == "the second game waited for the first"


async def check(bot: AbstractAsyncContextManager[bots.HostPort], cwd: Path, *arguments: str) -> Done:
    """The command in a process of its own, while the bot is served here."""
    async with bot as (host, port):
        return await asyncio.to_thread(treelings, "check", "--protocol", f"{host}:{port}", *arguments, cwd=cwd)


async def test_of_a_good_bot_the_command_shows_each_step_and_what_to_do_next(tmp_path: Path) -> None:
    done = await check(bots.listening(bots.Honest()), tmp_path)
    assert done.code == 0, done.out
    lines = done.out.splitlines()
    assert [line.split()[:2] for line in lines[: len(CORNERS)]] == (
        [["✓", str(number)] for number in range(1, len(CORNERS) + 1)]
    )
    assert re.fullmatch(r"The bot on 127.0.0.1:\d+ speaks the protocol\.", lines[-2])
    assert lines[-1].startswith("Next: treelings match greedy --attach mybot=127.0.0.1:")


async def test_of_a_bad_bot_it_tells_what_was_sent_expected_and_got_and_where_to_read(tmp_path: Path) -> None:
    done = await check(bots.listening(bots.FailsAtTheEnd()), tmp_path)
    assert done.code == 1
    at = done.out.index("✗ 12 end\n")
    rows = dict(re.findall(r"^  (\w+) +(.*)$", done.out[at:].split("\n✓ 13")[0], re.MULTILINE))
    assert rows.keys() == {"sent", "expected", "got", "read"}
    assert rows["sent"].startswith("end { outcome: OUTCOME_")
    assert rows["read"] == "docs/protocol.md, A game ends"
    assert rows["got"] == "the end of the stream with status UNKNOWN: no scores"
    assert "\n✗ 16 unknown fields  as in step 12: status UNKNOWN: no scores\n" in done.out
    assert "gets 3 of 25 steps wrong in 2 ways (first in end, as in a match); --json" in done.out
    assert "\n✓ 20 other methods " in done.out


async def test_one_mistake_is_told_once_and_then_in_a_line_of_its_own(tmp_path: Path) -> None:
    done = await check(bots.listening(bots.CountsFromOne()), tmp_path)
    assert done.code == 1
    assert re.findall(r"^  read .*", done.out, re.MULTILINE) == ["  read     docs/protocol.md, A turn"]
    assert len(re.findall(r"^✗ .* as in step 3: .*Reply\.turn.*$", done.out, re.MULTILINE)) == 20
    assert "gets 21 of 25 steps wrong in one way (first in query); --json has all of each step.\n" in done.out


async def test_two_mistakes_are_each_told(tmp_path: Path) -> None:
    steps = await run(bots.listening(bots.OneRefill()), "start", "query", "two seats", "end")
    assert [step.as_in for step in steps.values()] == [0, 0, 2, 0]
    steps = await run(bots.listening(bots.FailsAtTheEnd()), "query", "end", "unknown fields")
    assert [step.as_in for step in steps.values()] == [0, 0, 12]


async def test_as_json_it_is_one_object_with_the_keys_that_are_documented(tmp_path: Path) -> None:
    done = await check(bots.listening(bots.EscapesInItsStatus()), tmp_path, "--json")
    assert done.code == 1
    told = json.loads(done.out)
    assert (told["format"], told["verdict"]) == ("treelings-conformance/1", "bad")
    assert [step["name"] for step in told["steps"]] == [corner.name for corner in CORNERS]
    page = (Path(__file__).parents[2] / "docs/protocol.md").read_text(encoding="utf-8")
    assert all(f"`{key}`" in page for key in (*told, *told["steps"][0]))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "expected BOT, such as mybot, or --protocol HOST:PORT"),
        (("--protocol", "50051"), "--protocol: expected HOST:PORT, such as 127.0.0.1:50051, got '50051'"),
        (("--protocol", "127.0.0.1:1"), "127.0.0.1:1: expected a bot that listens there, got: Connection refused"),
        (("mybot", "--protocol", "127.0.0.1:1"), "leave out BOT, --league and --seats"),
    ],
)
def test_wrong_use_is_told_and_is_exit_code_2(arguments: tuple[str, ...], says: str, tmp_path: Path) -> None:
    done = treelings("check", *arguments, cwd=tmp_path)
    assert done.code == 2
    assert says in done.err
