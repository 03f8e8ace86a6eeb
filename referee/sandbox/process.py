"""Runs bots as plain processes, which isolates nothing: for bots that one trusts.

What an ordinary user can see to is seen to. A bot may have no more memory of its own, open files and bytes in a file
than its limits say, each of its processes for itself (`ulimit`; never the number of processes, which the kernel counts
by user). It is ended with all that it has started: its session, whatever descends from that, and whatever carries its
socket's path in its environment. Out of reach is only a process that did all of these: it left the session, lost its
parent, and emptied its environment.

No bot outlives the referee, not even one that was killed: each bot's process group holds a tiny watcher, a shell
that reads from a pipe whose other end only the referee has. When the referee ends, in whatever way, the read ends,
and the watcher kills its group; what has left the group is found by its environment when the next run starts.
That takes no root and nothing that only Linux has; the kernel's own way (PR_SET_PDEATHSIG) would need code between
fork and exec, which is not safe in a process with threads.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from referee.errors import SandboxError
from referee.limits import Limits
from referee.model import Submission
from referee.ports import Address, BotState, CpuTimes
from referee.sandbox import proc
from referee.sandbox.folders import SOCKET, RunFolder, base_folder, dead_runs, wipe
from referee.sandbox.run import Run, process_start

_LOG: Final = "log"
_LOG_TAIL_BYTES: Final = 2_000
_SOCKET_VARIABLE: Final = "TREELINGS_SOCKET"
_BLOCK_BYTES: Final = 512  # the unit of `ulimit -f`
_KB: Final = 1024  # that of the others
_STACK_BYTES: Final = 8 * _KB * _KB  # of each thread, as most systems have it; it counts as memory from the start
_ENDING_S: Final = 5.0  # for killed processes to be gone
_LOOK_EVERY_S: Final = 0.005
_NAMED: Final = 10
_RECORD: Final = ".process"
_PYTHON: Final = ("python", "python3")
_NODE: Final = "node"
_PASSED_ON: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV")
_START: Final = """
exec 3<&0 </dev/null
while [ "$1" != -- ]; do
    ulimit "$1" "$2" 2>/dev/null  # one that cannot be set is lower already
    shift 2
done
shift
(read -r _ <&3; kill -9 0) >/dev/null 2>&1 &
exec "$@" 3<&-
"""


class ProcessSandbox:
    """Runs each bot as a session of its own, held to what `ulimit` can hold it to.

    environment  what bots may inherit a few variables of, such as PATH
    """

    name: Final = "process"

    def __init__(self, *, limits: Limits | None = None, environment: Mapping[str, str] | None = None) -> None:
        self._limits = limits or Limits()
        self._environment = os.environ if environment is None else environment
        self._run = Run.new()
        self._folder = RunFolder("process", self._run, base_folder())
        self._bots: set[BotProcess] = set()
        self._pipe: tuple[int, int] | None = None

    @property
    def run(self) -> Run:
        """What its folders are marked with."""
        return self._run

    async def open(self) -> None:
        """Sweep leftovers of dead runs. Raises SandboxError."""
        for folder in dead_runs("process", base_folder()):
            await asyncio.to_thread(_end_leftovers, folder.path)
            folder.remove()
        self._folder.create()
        self._pipe = os.pipe()

    async def start(self, submission: Submission, match: str) -> "BotProcess":
        """Start a bot's process; a command that cannot be executed is a bot that has ended. Raises SandboxError."""
        if self._pipe is None:
            raise SandboxError("the sandbox is not open")
        folder = self._folder.add()
        program, *arguments = submission.command
        if program in _PYTHON:
            program = sys.executable
        elif program == _NODE and (problem := why_not(_NODE, self._environment)):
            raise SandboxError(f"{submission.name}: runtime: {problem}")
        command = ["/bin/sh", "-c", _START, "sh", *_ulimits(self._limits), "--", program, *arguments]
        try:
            # All output goes to one file, which ends where any file of the bot must. It stays open: whatever the bot
            # puts in its place under that name is not read.
            log = (folder / _LOG).open("a+b")
        except OSError as error:
            raise SandboxError(f"{submission.name}: cannot make the file for its log: {error}") from error
        try:
            # Not through the event loop: uvloop's way to fork runs Python's and gRPC's fork handlers in the child,
            # which may die of them before it becomes the bot.
            process = subprocess.Popen(  # noqa: ASYNC220 - it takes a millisecond
                command, stdin=self._pipe[0], stdout=log, stderr=log, cwd=submission.folder, start_new_session=True,
                env=self._variables(folder),
            )  # fmt: skip
        except OSError as error:
            log.close()
            raise SandboxError(f"{submission.name}: cannot start its process: {error}") from error
        bot = BotProcess(submission, self._limits, folder, process, log, self._bots.discard)
        self._bots.add(bot)
        started = process_start(process.pid)
        if started is not None:
            folder.with_suffix(_RECORD).write_text(f"{process.pid} {started}", encoding="ascii")
        return bot

    def _variables(self, folder: Path) -> dict[str, str]:
        return {
            **{name: self._environment[name] for name in _PASSED_ON if name in self._environment},
            _SOCKET_VARIABLE: str(folder / SOCKET),
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    async def close(self) -> None:
        """End and remove whatever this run still has. Raises SandboxError."""
        outcomes = await asyncio.gather(*(bot.stop() for bot in list(self._bots)), return_exceptions=True)
        if self._pipe is not None:
            for end in self._pipe:
                os.close(end)
            self._pipe = None
        self._folder.remove()
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome


class BotProcess:
    """A bot that was started as a process (ports.RunningBot)."""

    def __init__(
        self,
        submission: Submission,
        limits: Limits,
        folder: Path,
        process: "subprocess.Popen[bytes]",
        log: BinaryIO,
        forget: Callable[["BotProcess"], None],
    ) -> None:
        self._submission = submission
        self._limits = limits
        self._folder = folder
        self._process = process
        self._log = log
        self._forget = forget
        self._ending: asyncio.Future[bytes] | None = None

    @property
    def pid(self) -> int:
        """Its process, and the group of that and all its children."""
        return self._process.pid

    @property
    def submission(self) -> Submission:
        """What it was started from."""
        return self._submission

    @property
    def limits(self) -> Limits:
        """What it may use, as far as an ordinary user can see to it."""
        return self._limits

    @property
    def socket(self) -> Path:
        """The Unix socket that it binds; under 100 bytes."""
        return self._folder / SOCKET

    @property
    def address(self) -> Address:
        """Where it is to listen."""
        return self.socket

    def owns(self, pid: int) -> bool:
        """Whether a process of this machine is one of the bot's; false for one that is gone."""
        if proc.carries(pid, self._mark):
            return True
        if self._process.returncode is not None:  # and so its id may be another's by now
            return False
        try:
            return os.getsid(pid) == self.pid or proc.descends(pid, self.pid)
        except ProcessLookupError:
            return False

    def wake(self) -> None:
        """Nothing: a plain process is never held."""

    def rest(self) -> None:
        """Nothing: a plain process is never held."""

    def cpu_used_ms(self) -> float | None:
        """Processor time of its first process and of the children that it has waited for; None if not known."""
        return proc.used_ms(self.pid) if self._process.returncode is None else None

    def cpu_times(self) -> CpuTimes | None:
        """Processor time of all its processes, thread by thread; None if that cannot be told."""
        return proc.family_times(self.pid) if self._process.returncode is None else None

    async def state(self) -> BotState:
        """How it is now. Nobody can tell who killed a process, so none has ended by its memory limit."""
        code = self._exit_code()
        return BotState(running=code is None, exit_code=code)

    def _exit_code(self) -> int | None:
        if self._process.returncode is not None or not hasattr(os, "waitid"):
            return self._process.poll()
        # Not reaped before `stop`: till then its id, which is that of its group and session, can be no other's.
        try:
            found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # `stop` reaps it at this moment, in its thread
            return self._process.wait()
        if found is None:
            return None
        return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status

    async def log_tail(self) -> str:
        """The last 2,000 bytes of its stdout and stderr, undecodable bytes replaced; hostile text."""
        return self._logged(_LOG_TAIL_BYTES).decode("utf-8", "replace")

    def _logged(self, most_bytes: int) -> bytes:
        if self._log.closed:
            return b""
        size = os.fstat(self._log.fileno()).st_size
        return os.pread(self._log.fileno(), most_bytes, max(0, size - most_bytes))

    async def stop(self) -> bytes:
        """End it with all that it started and remove all that it left; may be called twice. Raises SandboxError.

        Returns the end of its output, `limits.log_bytes` at most. Goes on if its caller is cancelled.
        """
        failed = self._ending is not None and self._ending.done() and not _went_well(self._ending)
        if self._ending is None or failed:
            self._ending = asyncio.ensure_future(asyncio.to_thread(self._end))
        log = await asyncio.shield(self._ending)
        self._log.close()
        self._forget(self)
        return log

    def _end(self) -> bytes:
        deadline = time.monotonic() + _ENDING_S
        while left := self._kill():
            if time.monotonic() >= deadline:
                raise SandboxError(f"{self._submission.name}: its processes do not end: {sorted(left)[:_NAMED]}")
            time.sleep(_LOOK_EVERY_S)
        self._process.wait()
        log = self._logged(self._limits.log_bytes)
        wipe(self._folder)
        self._folder.with_suffix(_RECORD).unlink(missing_ok=True)
        return log

    def _kill(self) -> set[int]:
        """Kill all that is the bot's; which of these lived, none where there is no /proc."""
        reaped = self._process.returncode is not None
        left = proc.family(None if reaped else self.pid, self._mark)
        for pid in left:
            _kill(pid)
        if not reaped:
            with suppress(ProcessLookupError, PermissionError):  # the latter is a Mac's answer for one that has ended
                os.killpg(self.pid, signal.SIGKILL)
        return left

    @property
    def _mark(self) -> str:
        return f"{_SOCKET_VARIABLE}={self.socket}"


def why_not(runtime: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """Why bots of a runtime cannot be run as processes here, in words; None if they can."""
    if runtime == _NODE and shutil.which(_NODE, path=environment.get("PATH")) is None:
        return f"{_NODE} is not on the PATH: install Node.js 18 or newer"
    return None


def _ulimits(limits: Limits) -> list[str]:
    """Options of `ulimit` in pairs. Memory is what is private and writable, so what is only reserved costs nothing."""
    memory_bytes = limits.memory_bytes + limits.pids * _STACK_BYTES
    return [
        "-Ss", str(_STACK_BYTES // _KB),
        "-d", str(memory_bytes // _KB),
        "-f", str(limits.tmp_bytes // _BLOCK_BYTES),
        "-n", str(limits.nofile),
        "-c", "0",
    ]  # fmt: skip


def _end_leftovers(folder: Path) -> None:
    """Kill the bots of a dead run that still live: the groups that it recorded, and what carries its folder's path.

    The same pid with the same start is the same process.
    """
    with suppress(FileNotFoundError):  # another run sweeps as well: it has killed them before it removes their records
        for record in folder.glob(f"*{_RECORD}"):
            pid, _, started = record.read_text(encoding="ascii", errors="replace").partition(" ")
            if pid.isdigit() and started and process_start(int(pid)) == started:
                with suppress(ProcessLookupError):
                    os.killpg(int(pid), signal.SIGKILL)
    for carrier in proc.family(None, f"{_SOCKET_VARIABLE}={folder}/"):
        _kill(carrier)


def _went_well(ending: "asyncio.Future[bytes]") -> bool:
    return not ending.cancelled() and ending.exception() is None


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
