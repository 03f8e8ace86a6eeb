"""Runs bots as plain processes, which isolates nothing: for bots that one trusts.

No bot outlives the referee, not even one that was killed: each bot's process group holds a tiny watcher, a shell
that reads from a pipe whose other end only the referee has. When the referee ends, in whatever way, the read ends,
and the watcher kills its group. That takes no root and nothing that only Linux has; the kernel's own way
(PR_SET_PDEATHSIG) would need code between fork and exec, which is not safe in a process with threads.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from referee.errors import SandboxError
from referee.limits import Limits
from referee.model import Submission
from referee.ports import Address, BotState, CpuTimes
from referee.sandbox.folders import SOCKET, RunFolder, base_folder, dead_runs, wipe
from referee.sandbox.run import Run, process_start

_LOG: Final = "log"
_LOG_TAIL_BYTES: Final = 2_000
_BLOCK_BYTES: Final = 512  # the unit of `ulimit -f`
_RECORD: Final = ".process"
_PYTHON: Final = ("python", "python3")
_PASSED_ON: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV")
_START: Final = """
exec 3<&0 </dev/null
ulimit -f "$1"
shift
(read -r _ <&3; kill -9 0) >/dev/null 2>&1 &
exec "$@" 3<&-
"""


class ProcessSandbox:
    """Runs each bot as a process group of its own; of the limits only one holds: `tmp_bytes`, for each file.

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
            _end_recorded(folder.path)
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
        # All output goes to one file; no file of a bot may be larger than in a container, and so neither that one.
        blocks = str(self._limits.tmp_bytes // _BLOCK_BYTES)
        try:
            with (folder / _LOG).open("wb") as log:
                # Not through the event loop: uvloop's way to fork runs Python's and gRPC's fork handlers in the child,
                # which may die of them before it becomes the bot.
                process = subprocess.Popen(  # noqa: ASYNC220 - it takes a millisecond
                    ["/bin/sh", "-c", _START, "sh", blocks, program, *arguments],
                    stdin=self._pipe[0], stdout=log, stderr=log, cwd=submission.folder, start_new_session=True,
                    env=self._variables(folder),
                )  # fmt: skip
        except OSError as error:
            raise SandboxError(f"{submission.name}: cannot start its process: {error}") from error
        bot = BotProcess(submission, self._limits, folder, process, self._bots.discard)
        self._bots.add(bot)
        started = process_start(process.pid)
        if started is not None:
            folder.with_suffix(_RECORD).write_text(f"{process.pid} {started}", encoding="ascii")
        return bot

    def _variables(self, folder: Path) -> dict[str, str]:
        return {
            **{name: self._environment[name] for name in _PASSED_ON if name in self._environment},
            "TREELINGS_SOCKET": str(folder / SOCKET),
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    async def close(self) -> None:
        """End and remove whatever this run still has. Raises SandboxError."""
        for bot in list(self._bots):
            await bot.stop()
        self._folder.remove()
        if self._pipe is not None:
            for end in self._pipe:
                os.close(end)
            self._pipe = None


class BotProcess:
    """A bot that was started as a process (ports.RunningBot)."""

    def __init__(
        self,
        submission: Submission,
        limits: Limits,
        folder: Path,
        process: "subprocess.Popen[bytes]",
        forget: Callable[["BotProcess"], None],
    ) -> None:
        self._submission = submission
        self._limits = limits
        self._folder = folder
        self._process = process
        self._forget = forget

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
        return True

    def wake(self) -> None:
        """Nothing: a plain process is never held."""

    def rest(self) -> None:
        """Nothing: a plain process is never held."""

    def cpu_used_ms(self) -> float | None:
        """Processor time that it has used so far; None if that cannot be told."""
        return None

    def cpu_times(self) -> CpuTimes | None:
        """The same, thread by thread; None if that cannot be told."""
        return None

    async def state(self) -> BotState:
        """How it is now. Nobody can tell who killed a process, so none has ended by its memory limit."""
        code = self._process.poll()
        return BotState(running=code is None, exit_code=code)

    async def log_tail(self) -> str:
        """The last 2,000 bytes of its stdout and stderr, undecodable bytes replaced; hostile text."""
        try:
            with (self._folder / _LOG).open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - _LOG_TAIL_BYTES))
                return log.read(_LOG_TAIL_BYTES).decode("utf-8", "replace")
        except FileNotFoundError:
            return ""

    async def stop(self) -> bytes:
        """End it and its children at once and remove all that it left; may be called twice. Raises SandboxError."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await asyncio.to_thread(self._process.wait)
        log = b""
        wipe(self._folder)
        self._folder.with_suffix(_RECORD).unlink(missing_ok=True)
        self._forget(self)
        return log


def _end_recorded(folder: Path) -> None:
    """Kill the bots that a dead run recorded and that still live: the same pid with the same start is the same."""
    for record in folder.glob(f"*{_RECORD}"):
        pid, _, started = record.read_text(encoding="ascii", errors="replace").partition(" ")
        if pid.isdigit() and started and process_start(int(pid)) == started:
            with suppress(ProcessLookupError):
                os.killpg(int(pid), signal.SIGKILL)
