"""One bot in its container (ports.RunningBot)."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from docker import APIClient
from docker.errors import APIError, NotFound

from referee.errors import SandboxError
from referee.limits import Limits
from referee.model import Submission
from referee.ports import Address, BotState, CpuTimes
from referee.sandbox.cgroup import Group
from referee.sandbox.engine import engine_errors
from referee.sandbox.folders import wipe
from referee.sandbox.network import remove_network
from referee.sandbox.output import Output
from referee.sandbox.restless import Watch

T = TypeVar("T")

LOG_TAIL_BYTES: Final = 2_000
_KILLED: Final = 137
_KILLS: Final = 20  # an engine gives up after some twelve seconds, each time
_USUAL_DEATH_S: Final = 1.0
_LONGEST_DEATH_S: Final = 120.0
_LONGEST_TOLD_S: Final = 10.0
_LOOK_EVERY_S: Final = 0.01
_LEAST_SHARES: Final = 2  # of an engine's 1,024


class Call(Protocol):
    """Runs a blocking function without blocking the event loop."""

    def __call__(self, function: Callable[[], T], /) -> Coroutine[Any, Any, T]:
        """What the function returns."""


class Container:
    """A bot that was started in a container.

    output   where what it prints goes
    refusal  why its command could not be executed, in the engine's words; None if it could
    group    its control group, with the freezer ready where waiting bots are held by it; None: cannot be seen from
             here, or has ended
    address  where it is to listen, as this process sees it
    network  the engine's id of the network that is its own; None if it has none
    call     runs what blocks
    forget   is told once nothing of it is left
    """

    def __init__(
        self,
        engine: APIClient,
        id_: str,
        submission: Submission,
        limits: Limits,
        folder: Path,
        output: Output,
        refusal: str | None,
        group: Group | None,
        *,
        address: Address,
        network: str | None,
        call: Call,
        forget: Callable[["Container"], None],
    ) -> None:
        self._engine = engine
        self._id = id_
        self._submission = submission
        self._limits = limits
        self._folder = folder
        self._output = output
        self._refusal = refusal
        self._group = group
        # Also of one that is frozen: a freezer reaches nobody before a call into the kernel is done.
        self._watch = Watch(self.cpu_used_ms, self._shrink) if group is not None else None
        self._shrunk = False
        self._killed = False
        self._log = b""
        self._address = address
        self._network = network
        self._call = call
        self._forget = forget
        self._removal: asyncio.Task[bytes] | None = None

    @property
    def id(self) -> str:
        """The engine's id of the container."""
        return self._id

    @property
    def submission(self) -> Submission:
        """What it was started from."""
        return self._submission

    @property
    def limits(self) -> Limits:
        """What it may use."""
        return self._limits

    @property
    def socket(self) -> Path:
        """The Unix socket that it binds, as this process sees it; under 100 bytes."""
        assert isinstance(self._address, Path), "is reached over TCP"
        return self._address

    @property
    def address(self) -> Address:
        """Where it is to listen."""
        return self._address

    def owns(self, pid: int) -> bool:
        """Whether a process of this machine is one of the bot's; false for one that is gone."""
        return self._group is not None and self._group.owns(pid)

    def wake(self) -> None:
        """Let it run; nothing if it does already or has ended. Raises SandboxError."""
        if self._watch is not None:
            self._watch.wake()
        if self._group is not None:
            self._group.thaw()

    def rest(self) -> None:
        """Hold it until `wake`, or watch whether it rests; nothing if it has ended. Raises SandboxError."""
        # One that is being removed must not be held again: in version 1 not even SIGKILL ends what is frozen.
        if self._group is None or self._removal is not None:
            return
        if self._watch is not None:
            self._watch.rest()
        self._group.freeze()

    async def _shrink(self) -> None:
        """Leave it a share of the cores that hardly counts beside the others'; it has all that they do not want."""
        self._shrunk = True
        await self._call(partial(self._give_shares, _LEAST_SHARES))

    def _give_shares(self, shares: int) -> None:
        with engine_errors(f"changing the share of {self._submission.name}"), suppress(NotFound):
            self._engine.update_container(self._id, cpu_shares=shares)

    def cpu_used_ms(self) -> float | None:
        """Processor time that it has used so far; None if that cannot be told."""
        return None if self._group is None else self._group.cpu_used_ms()

    def cpu_times(self) -> CpuTimes | None:
        """The same, thread by thread; None if that cannot be told."""
        return None if self._group is None else self._group.cpu_times()

    async def state(self) -> BotState:
        """How it is now. Raises EngineGone, and SandboxError if its container was removed by somebody else."""
        return await self._call(self._state)

    def _state(self) -> BotState:
        until = time.monotonic() + _LONGEST_TOLD_S
        with engine_errors(f"looking at {self._submission.name}"):
            try:
                # A busy engine tells of an end long after it.
                while (state := self._engine.inspect_container(self._id)["State"])["Running"] and self._has_died():
                    if time.monotonic() >= until:
                        break
                    time.sleep(_LOOK_EVERY_S)
            except NotFound as error:
                if self._removal is not None:
                    return BotState(running=False)
                raise SandboxError(
                    f"the container of {self._submission.name} is gone: somebody else removed it"
                ) from error
        if state["Running"]:
            return BotState(running=True)
        code = int(state["ExitCode"])
        # OOMKilled is true as well when only a child of the bot was killed, and the bot ended of itself later.
        return BotState(running=False, exit_code=code, out_of_memory=bool(state["OOMKilled"]) and code == _KILLED)

    def _has_died(self) -> bool:
        """Whether all of its processes are seen to have ended; false where they cannot be seen."""
        return self._group is not None and not self._group.has_threads()

    async def log_tail(self) -> str:
        """The last 2,000 bytes of its stdout and stderr, undecodable bytes replaced; hostile text."""
        return await self._call(self._log_tail)

    def _log_tail(self) -> str:
        with engine_errors(f"reading the log of {self._submission.name}"):
            log = self._output.read(LOG_TAIL_BYTES) or self._log
        if self._refusal is not None and not self._log:
            log += self._refusal.encode()
        return log[-LOG_TAIL_BYTES:].decode("utf-8", "replace")

    async def stop(self) -> bytes:
        """End it at once and remove all that it left; may be called twice. Raises EngineGone, SandboxError.

        Returned is what is kept of its stdout and stderr, the newest `limits.log_bytes` at most. The removal goes on
        if its caller is cancelled; the sandbox's `close` waits for it.
        """
        if self._removal is None or (self._removal.done() and not _went_well(self._removal)):
            if self._group is not None:
                self._group.thaw()
                self._killed = self._group.kill() or self._killed
                self._group.close()
            self._removal = asyncio.ensure_future(self._call(self._remove))
        log = await asyncio.shield(self._removal)
        if self._watch is not None:
            await self._watch.close()
        self._forget(self)
        return log

    def _remove(self) -> bytes:
        if self._shrunk:  # to die takes time on a core, too
            self._give_shares(self._limits.cpu_shares)
        self._log = self._last_words() or self._log
        self._output.close()
        remove_container(self._engine, self._id)
        self._outlive()
        if self._network is not None:
            remove_network(self._engine, self._network)
        wipe(self._folder)
        return self._log

    def _outlive(self) -> None:
        """Wait for processes that die more slowly than the engine takes to forget their container."""
        if not self._dead_within(_LONGEST_DEATH_S):
            raise SandboxError(f"processes of {self._submission.name} live on, long after they were killed")

    def _dead_within(self, seconds: float) -> bool:
        """Whether none of its processes lives, at once or soon; also where nobody can tell."""
        until = time.monotonic() + seconds
        while self._group is not None and self._group.has_threads():
            if time.monotonic() >= until:
                return False
            time.sleep(_LOOK_EVERY_S)
        return True

    def _last_words(self) -> bytes:
        """Kill it and read its log, which is whole only then; empty if somebody else has removed it."""
        with engine_errors(f"ending {self._submission.name}"):
            with suppress(NotFound):
                if not (self._killed and self._dead_within(_USUAL_DEATH_S)):
                    _kill(self._engine, self._id)
                self._engine.wait(self._id)  # until the engine has taken in all that it wrote
            log = self._output.read(self._limits.log_bytes)
        if self._refusal is not None:
            log += self._refusal.encode()
        return log[-self._limits.log_bytes :]


def _kill(engine: APIClient, id_: str) -> None:
    """Have the engine kill it, again and again: a process gets to die only once its call into the kernel is done.

    Some calls take a second of a core, and a bot may have as many threads in them as its limits allow.
    """
    for left in reversed(range(_KILLS)):
        try:
            engine.kill(id_, "SIGKILL")
            break
        except APIError as error:
            if error.status_code == HTTPStatus.CONFLICT:  # it has ended of itself
                break
            if not left or error.status_code != HTTPStatus.INTERNAL_SERVER_ERROR:
                raise


def remove_container(engine: APIClient, id_: str) -> None:
    """Remove a container by force, also if it runs; returns once it is gone. Raises SandboxError, EngineGone.

    Somebody else may be removing it as well: two runs that start after a crash sweep the same leftovers.
    """
    with engine_errors("removing a container"), suppress(NotFound):
        try:
            engine.remove_container(id_, force=True, v=True)
        except APIError as error:
            if error.status_code != HTTPStatus.CONFLICT or "already in progress" not in str(error.explanation):
                raise
            engine.wait(id_, condition="removed")  # its network can be removed only then


def _went_well(task: asyncio.Task[bytes]) -> bool:
    return not task.cancelled() and task.exception() is None
