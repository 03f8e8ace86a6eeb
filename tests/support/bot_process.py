"""A bot as a plain child process: the RunningBot of tests that want a real one without a sandbox."""

import asyncio
import os
import signal
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from referee.limits import Limits
from referee.model import Submission
from referee.ports import Address, BotState, CpuTimes


class BotProcess:
    """Runs Python source text; use as an async context manager. It is held by SIGSTOP.

    resting    whether it is held
    rests      how often it was
    unwilling  what waking and resting raise, if anything
    cpu_ms     what `cpu_used_ms` gives, one after the other; None when they are used up
    limits     may be changed until a link is made
    """

    def __init__(self, source: str, *, out_of_memory: bool = False, survives: bool = False) -> None:
        """`out_of_memory`: report its end as that, since no memory limit is set on it. `survives`: `stop` does not."""
        self._out_of_memory = out_of_memory
        self._survives = survives
        self.resting = False
        self.rests = 0
        self.unwilling: Exception | None = None
        self.cpu_ms: list[float] = []
        self._folder = tempfile.TemporaryDirectory(prefix="bot-")
        self._script = Path(self._folder.name) / "bot.py"
        self._script.write_text(source)
        self._log = Path(self._folder.name) / "log"
        self._process: asyncio.subprocess.Process | None = None
        self.limits = Limits()
        self.stops = 0

    @property
    def submission(self) -> Submission:
        folder = self._script.parent
        return Submission("bot", "Tests", "sha256:" + "0" * 64, folder, ("python", self._script.name), "python")

    @property
    def socket(self) -> Path:
        return Path(self._folder.name) / "bot.sock"

    @property
    def address(self) -> Address:
        return self.socket

    def owns(self, pid: int) -> bool:
        assert self._process is not None
        return pid == self._process.pid

    def wake(self) -> None:
        self._hold(rest=False)

    def rest(self) -> None:
        self._hold(rest=True)

    def _hold(self, *, rest: bool) -> None:
        assert self._process is not None
        if self.unwilling is not None:
            raise self.unwilling
        if self._process.returncode is None and self.resting is not rest:
            self._process.send_signal(signal.SIGSTOP if rest else signal.SIGCONT)
            self.resting = rest
            self.rests += rest

    def cpu_used_ms(self) -> float | None:
        return self.cpu_ms.pop(0) if self.cpu_ms else None

    def cpu_times(self) -> CpuTimes | None:
        return None

    async def state(self) -> BotState:
        assert self._process is not None
        code = self._process.returncode
        return BotState(code is None, code, code is not None and self._out_of_memory)

    async def log_tail(self) -> str:
        return self._log.read_bytes()[-2000:].decode(errors="replace")

    async def stop(self) -> bytes:
        assert self._process is not None
        self.stops += 1
        if self._survives:
            return b""
        return await self._end()

    async def _end(self) -> bytes:
        assert self._process is not None
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()
        return self._log.read_bytes()

    async def ended(self) -> None:
        """Wait until somebody has ended it."""
        assert self._process is not None
        await self._process.wait()

    async def __aenter__(self) -> Self:
        with self._log.open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, str(self._script), stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
                env=os.environ | {"TREELINGS_SOCKET": str(self.socket)},
            )  # fmt: skip
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end()
        self._folder.cleanup()
