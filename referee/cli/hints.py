"""What the author of a bot that failed its trial match may do about it: the hint that fits what was seen."""

import re
from dataclasses import dataclass
from typing import Final

from referee.limits import Limits
from referee.model import Fault, FaultKind
from referee.trial import last_lines
from treelings import Clock
from treelings.cards import MIN_PLAYERS

_MB: Final = 1024 * 1024
_GETTING_READY: Final = "before it was ready"  # of a start that the bot was asked for; else it did not even listen
_LAST_LINES: Final = 3  # of a log: an error that a bot survived stands further up


@dataclass(frozen=True, slots=True)
class Hint:
    """What to do where the pattern is found in the fault's detail or in the last lines of the log.

    advice     may name the limits below in braces
    elsewhere  the same for a bot that does not run in Python, where that differs
    """

    pattern: str
    advice: str
    elsewhere: str = ""


HINTS: Final = (
    Hint(
        r"\.choose: expected a Move",
        "have choose return one of view.legal_moves: the Move itself, not its text and not nothing",
    ),
    Hint(
        r"ModuleNotFoundError|No module named",
        "only Python's standard library, grpcio, protobuf and treelings are there; "
        "other pure-Python packages can be put into the folder",
    ),
    Hint(
        r"Cannot find (?:module|package) '[^./]",
        "packages of npm come with the bot: name them in package.json, and `treelings pack` puts them in",
    ),
    Hint(
        r"program cannot be run: expected one for this machine",
        "nothing is there but its own files: link it statically (-static, CGO_ENABLED=0), or choose another runtime",
    ),
    Hint(r"JavaScript heap out of memory", "have it use less memory: a bot may use {memory_mb:,} MB in all"),
    Hint(r"Errno 30\b|EROFS\b|Read-only file system", "a bot may write to /tmp alone ({tmp_mb:,} MB)"),
    Hint(r"Errno 28\b|No space left on device", "all that a bot may write is {tmp_mb:,} MB in /tmp"),
    Hint(
        r"Errno (?:97|101)\b|EAFNOSUPPORT|ENOTFOUND|EAI_AGAIN|Network is unreachable|Address family not supported"
        r"|gaierror|name resolution|Name or service not known",
        "bots have no network: put what it needs into the folder",
    ),
    Hint(
        r"can't start new thread|Errno 11\b|Resource temporarily unavailable",
        "a bot may have {pids:,} processes and threads together",
    ),
    Hint(r"Errno 24\b|Too many open files", "a process may have {nofile:,} files open"),
    Hint(r"MemoryError", "have it use less memory: a bot may use {memory_mb:,} MB in all"),
    Hint(
        r"exit code 0 .*before it listened|exit code \d+ \(it logged nothing\) before it listened",
        "it ended before it listened: have its file end with treelings.serve(YourBot)",
        "it ended before it listened: have it serve treelings.v1.Bot where TREELINGS_SOCKET says, and go on till it is "
        "ended (docs/protocol.md, Connection)",
    ),
    Hint(
        r"no answer within|to listen on its socket within",
        "start-up may take {startup_ms:,} ms: import less, or do the work in the first move",
        "start-up may take {startup_ms:,} ms: load less, or do the work in the first move",
    ),
    Hint(
        r"Reply\.move: expected a move, got an empty text",
        "have it answer with one of the query's legal moves: what is undefined or empty in its code comes as no move",
    ),
    Hint(
        r"exit code \d+ \(it logged nothing\)|\bSystemExit\b",
        "it ended of its own will: look for sys.exit, quit or os._exit",
        "it ended of its own will: look for exit, and for a main that returns",
    ),
)
"""For bots that ended, for those that did not start, and for what they sent; the first that fits is told."""

_BY_KIND: Final = {
    FaultKind.STARTUP: "its log tells what went wrong, and so does its own command, run by hand in its folder: "
    "once it is right, all that command says is that it is run by the referee",
    FaultKind.TIMEOUT: "have it choose within the query's limit_ms, with room to spare for a slower machine",
    FaultKind.ILLEGAL_MOVE: "have it return one of view.legal_moves",
    FaultKind.CRASH: "find the error in its log; the query above is what it was asked",
    FaultKind.OUT_OF_MEMORY: "have it use less memory: a bot may use {memory_mb:,} MB in all",
    FaultKind.PROTOCOL: "have it send one reply to each query, as game.proto describes; the kit does so by itself",
}

_BY_KIND_ELSEWHERE: Final = _BY_KIND | {
    FaultKind.ILLEGAL_MOVE: "have it answer with one of the query's legal moves, as it stands there",
    FaultKind.PROTOCOL: "have it send one reply to each query, as docs/protocol.md describes; "
    "`treelings check --protocol` drives it through every corner of that",
}

_AS_A_GAME_STARTS: Final = (
    "find the error in its log: its class raises it as a game starts (__init__, start), "
    "which its own command, run by hand, does not show"
)
_AT_START: Final = (
    "find the error in its log: it comes with a game's Start, so its own command, run by hand, does not show it"
)


def hint(
    fault: Fault, log: bytes, limits: Limits, clock: Clock, *,
    seats: int = MIN_PLAYERS, before: int = 0, runtime: str = "python",
) -> str:  # fmt: skip
    """What to do about a fault, as the start of a sentence.

    log      what the bot wrote to stdout and stderr
    seats    of the table
    before   games that its process had got through
    runtime  what it runs in
    """
    in_python = runtime == "python"
    advice = (_BY_KIND if in_python else _BY_KIND_ELSEWHERE)[fault.kind]
    ended = fault.kind in (FaultKind.STARTUP, FaultKind.CRASH)
    if ended or fault.kind is FaultKind.PROTOCOL:
        # Of a bot that lives on the log is no evidence.
        seen = "\n".join([fault.detail, *(last_lines(log, _LAST_LINES) if ended else ())])
        known = next((each for each in HINTS if re.search(each.pattern, seen)), None)
        if known is not None:
            advice = known.advice if in_python else known.elsewhere or known.advice
        elif ended:
            if _GETTING_READY in fault.detail:
                advice = _AS_A_GAME_STARTS if in_python else _AT_START
            advice += _circumstances(fault, seats, before, "view.players" if in_python else "Start.players")
    return advice.format(
        tmp_mb=limits.tmp_bytes // _MB,
        memory_mb=limits.memory_bytes // _MB,
        pids=limits.pids,
        nofile=limits.nofile,
        startup_ms=clock.startup_ms,
    )


def _circumstances(fault: Fault, seats: int, before: int, where: str) -> str:
    """What may have to do with an error in a game that says nothing of it; empty if nothing is known.

    where  the number of seats stands
    """
    if fault.kind is FaultKind.STARTUP and _GETTING_READY not in fault.detail:
        return ""
    if before:
        return "; the game before went well in the same process: what a module or a class keeps is still there"
    if seats > MIN_PLAYERS:
        return f"; does it expect two seats? This table has {seats} ({where})"
    return ""
