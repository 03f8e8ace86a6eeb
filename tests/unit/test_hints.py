"""What an author is told to do fits what the bot failed on."""

import pytest

from referee.cli.hints import hint
from referee.limits import Limits
from referee.model import Fault, FaultKind
from treelings import Clock

LIMITS = Limits(memory_bytes=128 * 1024 * 1024, pids=40, nofile=99, tmp_bytes=8 * 1024 * 1024)
CLOCK = Clock(startup_ms=7_000)
ENDED = "the bot ended with exit code 1 (last line of its log: 'see below'; at bot.py, line 3)"

SEEN = {
    "ModuleNotFoundError: No module named 'numpy'": "only Python's standard library, grpcio, protobuf and treelings",
    "OSError: [Errno 30] Read-only file system: 'book.txt'": "a bot may write to /tmp alone (8 MB)",
    "OSError: [Errno 28] No space left on device": "8 MB in /tmp",
    "OSError: [Errno 101] Network is unreachable": "bots have no network",
    "OSError: [Errno 97] Address family not supported by protocol": "bots have no network",
    "socket.gaierror: [Errno -3] Temporary failure in name resolution": "bots have no network",
    "urllib.error.URLError: <urlopen error [Errno -2] Name or service not known>": "bots have no network",
    "RuntimeError: can't start new thread": "40 processes and threads together",
    "BlockingIOError: [Errno 11] Resource temporarily unavailable": "40 processes and threads together",
    "OSError: [Errno 24] Too many open files: 'data.txt'": "99 files open",
    "MemoryError": "128 MB in all",
    "Error: Cannot find module '@grpc/grpc-js'": "`treelings pack` puts them in",
    "Error: EROFS: read-only file system, open 'book.txt'": "a bot may write to /tmp alone (8 MB)",
    "the command's program cannot be run: expected one for this machine that is linked statically": "-static",
    "FATAL ERROR: Ineffective mark-compacts near heap limit - JavaScript heap out of memory": "128 MB in all",
}


def told(detail: str, log: str = "", kind: FaultKind = FaultKind.STARTUP) -> str:
    return hint(Fault(0, 0, kind, detail), log.encode(), LIMITS, CLOCK)


@pytest.mark.parametrize("kind", [FaultKind.STARTUP, FaultKind.CRASH])
@pytest.mark.parametrize("error", SEEN)
def test_the_error_at_the_end_of_the_log_decides(error: str, kind: FaultKind) -> None:
    assert SEEN[error] in told(ENDED, f"Traceback\n  File\n{error}\n", kind)


@pytest.mark.parametrize("error", SEEN)
def test_so_does_the_one_that_the_fault_quotes(error: str) -> None:
    assert SEEN[error] in told(f"the bot ended with exit code 1 (last line of its log: '{error}')")


@pytest.mark.parametrize("ended", ["exit code 0 (last line of its log: 'bye')", "exit code 1 (it logged nothing)"])
def test_one_that_ended_without_a_word_may_not_serve(ended: str) -> None:
    assert "treelings.serve(YourBot)" in told(f"the bot ended with {ended} before it listened on its socket")


@pytest.mark.parametrize(
    "late",
    [
        "expected the bot to listen on its socket within 7,000 ms: nothing is there",
        "no answer within 7,000 ms, before it was ready; the start-up limit is 7,000 ms",
    ],
)
def test_a_slow_start_is_told_its_limit(late: str) -> None:
    assert told(late) == "start-up may take 7,000 ms: import less, or do the work in the first move"


def test_the_memory_limit_is_named() -> None:
    assert "128 MB" in told("the bot was ended by its memory limit", kind=FaultKind.OUT_OF_MEMORY)


def test_an_error_that_the_bot_survived_is_not_taken_for_the_one() -> None:
    log = "ModuleNotFoundError: No module named 'numpy'\n" + "playing on\n" * 3
    assert "standard library" not in told(ENDED, log, FaultKind.CRASH)


@pytest.mark.parametrize("kind", [FaultKind.TIMEOUT, FaultKind.ILLEGAL_MOVE, FaultKind.PROTOCOL])
def test_of_one_that_lives_on_the_log_is_no_evidence(kind: FaultKind) -> None:
    assert told("detail", "MemoryError\n", kind) == told("detail", "", kind)


@pytest.mark.parametrize("kind", FaultKind)
def test_every_kind_of_fault_has_its_advice(kind: FaultKind) -> None:
    assert told("something else", kind=kind)


def test_a_signal_is_no_forgotten_serve() -> None:
    detail = "the bot ended with exit code -11, SIGSEGV (it logged nothing) before it listened on its socket"
    assert "treelings.serve" not in told(detail)


def test_a_crash_at_a_larger_table_or_in_a_later_game_may_have_to_do_with_that() -> None:
    fault = Fault(0, 0, FaultKind.CRASH, "the bot ended with exit code 1 (last line of its log: 'KeyError: 3')")
    assert "This table has 5" in hint(fault, b"", LIMITS, CLOCK, seats=5)
    assert "in the same process" in hint(fault, b"", LIMITS, CLOCK, seats=5, before=1)
    assert hint(fault, b"", LIMITS, CLOCK, seats=2) == hint(fault, b"", LIMITS, CLOCK)
    network = b"OSError: [Errno 101] Network is unreachable"
    assert hint(fault, network, LIMITS, CLOCK, seats=5) == hint(fault, network, LIMITS, CLOCK)


def test_an_error_as_a_game_starts_is_not_looked_for_where_it_does_not_show() -> None:
    detail = f"{ENDED}, before it was ready; the start-up limit is 7,000 ms"
    fault = Fault(0, 0, FaultKind.STARTUP, detail)
    assert "as a game starts (__init__, start)" in told(detail)
    assert told(detail) != told(f"{ENDED} before it listened on its socket")
    assert "This table has 5" in hint(fault, b"", LIMITS, CLOCK, seats=5)
    assert "in the same process" in hint(fault, b"", LIMITS, CLOCK, seats=5, before=1)
    unheard = Fault(0, 0, FaultKind.STARTUP, f"{ENDED} before it listened on its socket")
    assert hint(unheard, b"", LIMITS, CLOCK, seats=5) == hint(unheard, b"", LIMITS, CLOCK)


@pytest.mark.parametrize(
    "ended", ["exit code 0 (it logged nothing)", "exit code 1 (last line of its log: 'SystemExit: 3')"]
)
def test_one_that_ends_itself_is_told_how_bots_do_that(ended: str) -> None:
    assert "look for sys.exit" in told(f"the bot {ended}", kind=FaultKind.CRASH)


def test_what_choose_returned_is_told_apart_from_other_errors() -> None:
    error = "TypeError: MyBot.choose: expected a Move, one of view.legal_moves, got None"
    assert told(ENDED, error, FaultKind.CRASH).startswith("have choose return one of view.legal_moves")


def test_one_that_sends_no_move_is_told_where_that_comes_from() -> None:
    detail = "Reply.move: expected a move, got an empty text, after 89.5 ms, at turn 0 (bank 20,000 ms)"
    fault = Fault(0, 0, FaultKind.PROTOCOL, detail)
    assert "undefined or empty in its code" in hint(fault, b"MemoryError\n", LIMITS, CLOCK, runtime="node")


PYTHONS = ("treelings.serve", "import less", "sys.exit", "view.", "__init__", "the kit")
"""Words that help nobody who writes in another language."""

WITHOUT_A_HINT = [
    (FaultKind.STARTUP, "the bot ended with exit code 0 (it logged nothing) before it listened on its socket"),
    (FaultKind.STARTUP, "expected the bot to listen on its socket within 7,000 ms: nothing is there"),
    (FaultKind.STARTUP, f"{ENDED}, before it was ready; the start-up limit is 7,000 ms"),
    (FaultKind.CRASH, "the bot ended with exit code 0 (it logged nothing)"),
    (FaultKind.CRASH, ENDED),
    (FaultKind.ILLEGAL_MOVE, "illegal move"),
    (FaultKind.PROTOCOL, "two replies"),
]


@pytest.mark.parametrize("runtime", ["node", "native"])
@pytest.mark.parametrize(("kind", "detail"), WITHOUT_A_HINT)
def test_an_author_in_another_language_is_not_told_of_python(runtime: str, kind: FaultKind, detail: str) -> None:
    fault = Fault(0, 0, kind, detail)
    python = hint(fault, b"", LIMITS, CLOCK, seats=3)
    other = hint(fault, b"", LIMITS, CLOCK, seats=3, runtime=runtime)
    assert any(word in python for word in PYTHONS)
    assert not any(word in other for word in PYTHONS), other
