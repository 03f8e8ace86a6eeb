"""Runs bots in Docker containers that hold a hostile one (sandbox.md, Container options).

Two things of that page are left to what it builds on: the engine offers no nosuid and nodev for a bind mount, so
for the submission's folder it is no-new-privileges, no capabilities and the engine's list of devices that keep
setuid files and device files from being of use.

Bots cannot starve the referee: each has `cpus` cores' worth at most and half of an engine's usual weight; where
cores are plenty, `cpuset` keeps one free. Nor can they starve each other (waiting.py).

Bots are reached over Unix sockets, and over TCP where the engine cannot share these (network.py).
"""

import asyncio
import os
import secrets
import stat
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

from docker import APIClient
from docker.errors import APIError, NotFound
from docker.types import LogConfig, Mount, Ulimit

from referee.errors import SandboxError
from referee.limits import Limits
from referee.model import Submission
from referee.sandbox.cgroup import Group, find_group
from referee.sandbox.container import Container, remove_container
from referee.sandbox.engine import connect, engine_errors, reason, require_abilities, require_settings
from referee.sandbox.folders import SOCKET, RunFolder, base_folder, dead_runs, wipe
from referee.sandbox.layer import sweep_builds
from referee.sandbox.native import LAUNCHER
from referee.sandbox.network import (
    HOST,
    PORT,
    allow_tcp,
    make_network,
    networks,
    published_port,
    remove_network,
    require_own_network,
    way_to_bots,
)
from referee.sandbox.output import EngineOutput, OutputFile
from referee.sandbox.run import Run, process_start
from referee.sandbox.runtimes import found_image, wanted_image
from referee.sandbox.waiting import Hold, Waiting
from treelings.cards import MAX_PLAYERS

P = ParamSpec("P")
T = TypeVar("T")

LEAGUE_LABEL: Final = "treelings.league"
RUN_LABEL: Final = "treelings.run"
BOT_LABEL: Final = "treelings.bot"
MATCH_LABEL: Final = "treelings.match"

_BOT_FOLDER: Final = "/bot"
_SOCKET_FOLDER: Final = "/run/treelings"
_LOWEST_UID: Final = 200_000
_UIDS: Final = 1_000_000_000
_WORKERS: Final = 8
_LONGEST_EXIT_S: Final = 10.0  # of a process that gives back its memory on a busy machine
_LOOK_EVERY_S: Final = 0.01
_NOT_STARTED: Final = (126, 127)  # as a shell has it: cannot be executed, not found
_SOCKET: Final = {"TREELINGS_SOCKET": f"{_SOCKET_FOLDER}/{SOCKET}"}
_LISTEN: Final = {"TREELINGS_LISTEN": f"0.0.0.0:{PORT}"}
_ENVIRONMENT: Final = {
    "PYTHONUNBUFFERED": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "HOME": "/tmp",  # noqa: S108 - the container's own
    "LANG": "C.UTF-8",
}


class DockerSandbox:
    """Runs each bot in a container of its own.

    league   the league's name, written on its containers
    limits   what each bot may use
    at_once  how many bots run at the same time at most, those included that are started ahead; the cores are shared out
             between them where there is no better way to hold those that wait
    hold     how waiting bots are held (waiting.py); None: in the best way that can be had
    connect  makes the engine's client; raises EngineGone
    """

    name: Final = "docker"

    def __init__(
        self,
        *,
        league: str,
        limits: Limits | None = None,
        at_once: int = MAX_PLAYERS,
        hold: Hold | None = None,
        connect: Callable[[], APIClient] = connect,
    ) -> None:
        self._league = league
        self._limits = limits or Limits()
        self._at_once = at_once
        self._hold = hold
        self._connect = connect
        self._run = Run.new()
        self._folder = RunFolder("docker", self._run, base_folder())
        self._images: dict[str, str] = {}
        self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="docker")
        self._engine: APIClient | None = None
        self._bots: set[Container] = set()
        self._over_tcp = False
        self._seccomp = resources.files("referee.sandbox").joinpath("seccomp.json").read_text(encoding="utf-8")

    @property
    def run(self) -> Run:
        """What its containers and folders are marked with."""
        return self._run

    async def open(self) -> None:
        """Check the engine and the runtime image, and sweep leftovers. Raises SandboxError, ConfigError."""
        engine = await self._call(self._connect)
        try:
            await self._call(self._open, engine)
        except BaseException:
            engine.close()
            raise
        self._engine = engine

    def _open(self, engine: APIClient) -> None:
        with engine_errors("asking what the Docker engine can do"):
            info = engine.info()
        require_abilities(info)
        require_settings(info, self._limits)
        if way_to_bots(info, self._limits.reach) == "tcp":
            self._over_tcp = True
            self._seccomp = allow_tcp(self._seccomp)
        waiting = Waiting.on(info, self._limits, at_once=self._at_once, hold=self._hold)
        self._limits, self._hold = waiting.limits, waiting.hold
        self._image(engine, "python")
        self._sweep(engine)
        self._folder.create()

    def _image(self, engine: APIClient, runtime: str) -> str:
        if runtime not in self._images:
            image = found_image(engine, runtime)
            if image is None:
                build = f"treelings image build --runtime {runtime}"
                raise SandboxError(f"the runtime image {wanted_image(runtime)} is missing: build it with `{build}`")
            self._images[runtime] = image
        return self._images[runtime]

    async def start(self, submission: Submission, match: str) -> Container:
        """Start a bot's container; a command that cannot be executed is a bot that has ended. Raises SandboxError."""
        if self._engine is None:
            raise SandboxError("the sandbox is not open")
        bot = await self._call(self._start, self._engine, submission, match)
        self._bots.add(bot)
        return bot

    def _start(self, engine: APIClient, submission: Submission, match: str) -> Container:
        image = self._image(engine, submission.runtime)
        # Root's bots get a user id each, so that none can use up what the kernel counts by user for another.
        uid = _LOWEST_UID + secrets.randbelow(_UIDS) if os.geteuid() == 0 else os.geteuid()
        gid = uid if os.geteuid() == 0 else os.getegid()
        if uid != os.geteuid():
            _require_readable(submission)
        labels = {
            LEAGUE_LABEL: self._league,
            RUN_LABEL: str(self._run),
            BOT_LABEL: submission.name,
            MATCH_LABEL: match,
        }
        with ExitStack() as undo:
            folder = self._folder.add(uid if uid != os.geteuid() else None)
            undo.callback(_if_it_can_be, wipe, folder)
            network = file = None
            if self._over_tcp:
                network = make_network(engine, labels)
                undo.callback(_if_it_can_be, remove_network, engine, network)
            else:
                file = self._output_file(folder, uid)
                undo.callback(file.close)
            bot = self._run_bot(engine, image, submission, f"{uid}:{gid}", labels, folder, network, file, undo)
            undo.pop_all()
        return bot

    def _run_bot(
        self, engine: APIClient, image: str, submission: Submission, user: str, labels: dict[str, str], folder: Path,
        network: str | None, file: OutputFile | None, undo: ExitStack,
    ) -> Container:  # fmt: skip
        command = list(submission.command)
        if file is not None:
            launcher = LAUNCHER if submission.runtime == "native" else None
            command = OutputFile.command(submission.command, _SOCKET_FOLDER, launcher)
        with engine_errors(f"starting {submission.name}"):
            container = str(
                engine.create_container(
                    image,
                    entrypoint=command,
                    user=user,
                    hostname="bot",
                    working_dir=_BOT_FOLDER,
                    environment=_ENVIRONMENT | (_SOCKET if network is None else _LISTEN),
                    ports=[] if network is None else [PORT],
                    # A bare network namespace, as the kernel makes it. The engine's own "none" is no emptier, and to
                    # set it up takes as long as all else that the engine does for a start.
                    network_disabled=network is None,
                    healthcheck={"test": ["NONE"]},
                    labels=labels,
                    host_config=self._host_config(engine, submission.folder, folder, network),
                )["Id"]
            )
            undo.callback(_if_it_can_be, remove_container, engine, container)
            refusal = None
            try:
                engine.start(container)
            except APIError as error:
                refusal = reason(error)
                if engine.inspect_container(container)["State"]["ExitCode"] not in _NOT_STARTED:
                    raise
            pid = _pid(engine, container)
            group = self._group(container, pid)
            if group is not None:  # and so it is this machine's process
                undo.callback(group.close)
                require_own_network(pid)
            port = published_port(engine.inspect_container(container)) if network is not None else 0
        return Container(
            engine, container, submission, self._limits, folder, file or EngineOutput(engine, container), refusal,
            group,
            address=folder / SOCKET if network is None else (HOST, port), network=network,
            call=self._call, forget=self._bots.discard,
        )  # fmt: skip

    def _output_file(self, folder: Path, uid: int) -> OutputFile:
        try:
            return OutputFile(folder, uid if uid != os.geteuid() else None)
        except OSError as error:
            raise SandboxError(f"{folder}: cannot make a file for a bot's output: {error.strerror}") from error

    def _group(self, container: str, pid: int) -> Group | None:
        """A container's control group, its freezer ready if there is one; None if it has ended, or is out of sight."""
        group = find_group(container, pid) if pid else None
        if self._hold != "frozen":
            return group
        until = time.monotonic() + _LONGEST_EXIT_S
        # In version 1 one that is ending is in no group any more, before it has ended: a bot that was quick, or a
        # leftover that another run sweeps as well.
        while group is None and pid and process_start(pid) not in (None, "ended"):
            if time.monotonic() >= until:
                raise SandboxError(
                    f"expected process {pid} to be in a control group that is named after its container "
                    f"{container[:12]}, got none"
                )
            time.sleep(_LOOK_EVERY_S)
            group = find_group(container, pid)
        if group is not None:
            group.prepare_freezer()
        return group

    def _host_config(
        self, engine: APIClient, submission: Path, sockets: Path, network: str | None
    ) -> dict[str, Any]:  # fmt: skip
        limits = self._limits
        mounts = [Mount(_BOT_FOLDER, str(submission.absolute()), type="bind", read_only=True)]
        if network is None:
            mounts.append(Mount(_SOCKET_FOLDER, str(sockets), type="bind"))
        return engine.create_host_config(
            network_mode=network or "none",
            port_bindings={} if network is None else {PORT: (HOST,)},
            dns=None if network is None else [HOST],  # its own loopback: nobody asks the world on its behalf
            cap_drop=["ALL"],
            security_opt=["no-new-privileges", f"seccomp={self._seccomp}"],
            read_only=True,
            tmpfs={
                "/tmp": f"size={limits.tmp_bytes},nr_inodes={limits.tmp_inodes},noexec,nosuid,nodev"  # noqa: S108
            },
            runtime=limits.runtime,
            shm_size=limits.shm_bytes,
            mem_limit=limits.memory_bytes,
            memswap_limit=limits.memory_bytes,
            pids_limit=limits.pids,
            nano_cpus=int(limits.cpus * 1_000_000_000),
            cpu_shares=limits.cpu_shares,
            cpuset_cpus=limits.cpuset,
            oom_score_adj=500,  # should the host itself run short, bots go before the referee
            ulimits=[
                Ulimit(name="nofile", soft=limits.nofile, hard=limits.nofile),
                Ulimit(name="core", soft=0, hard=0),
                # What a bot may hold is no more; a file that is all hole would let one call read for long.
                Ulimit(name="fsize", soft=limits.memory_bytes, hard=limits.memory_bytes),
            ],
            log_config=self._log_config(network),
            ipc_mode="private",
            init=False,
            mounts=mounts,
        )

    def _log_config(self, network: str | None) -> LogConfig:
        if network is None:
            return LogConfig(type="none", config={})
        # Two halves: a single file starts anew when it is full, so that next to nothing might be left.
        halves = {"max-size": str(self._limits.log_bytes // 2), "max-file": "2"}
        return LogConfig(type=LogConfig.types.JSON, config=halves)

    async def close(self) -> None:
        """End and remove all that this run has, and what dead runs have left. Raises EngineGone, SandboxError."""
        engine, self._engine = self._engine, None
        # A removal that fails here is tried again below, and told then.
        await asyncio.gather(*(bot.stop() for bot in list(self._bots)), return_exceptions=True)
        await asyncio.to_thread(self._pool.shutdown)
        if engine is not None:
            await asyncio.to_thread(self._close, engine)

    def _close(self, engine: APIClient) -> None:
        try:
            for container in _containers(engine, f"{RUN_LABEL}={self._run}"):
                remove_container(engine, container["Id"])
            for network in networks(engine, f"{RUN_LABEL}={self._run}"):
                remove_network(engine, network["Id"])
            self._folder.remove()
            self._sweep(engine)
        finally:
            engine.close()

    def _sweep(self, engine: APIClient) -> None:
        """Remove what dead runs left; what is of living ones and of anybody else stays."""
        for container in _containers(engine, RUN_LABEL):
            run = Run.parse(container["Labels"][RUN_LABEL])
            if run is not None and run.is_dead():
                self._thaw(engine, container["Id"])
                remove_container(engine, container["Id"])
        for network in networks(engine, RUN_LABEL):
            run = Run.parse(network["Labels"][RUN_LABEL])
            if run is not None and run.is_dead():
                remove_network(engine, network["Id"])
        sweep_builds(engine)
        for folder in dead_runs("docker", base_folder()):
            folder.remove()

    def _thaw(self, engine: APIClient, container: str) -> None:
        """Let go of what a killed referee held: not every engine can end what it has not frozen itself."""
        with engine_errors("looking at a leftover"), suppress(NotFound):
            group = self._group(container, _pid(engine, container))
            if group is not None:
                group.thaw()
                group.close()

    async def _call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a blocking function in the sandbox's own threads."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(function, *args, **kwargs))


def _if_it_can_be(undo: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
    """Undo a part of a start that failed; what is left nevertheless, `close` removes."""
    with suppress(SandboxError):
        undo(*args, **kwargs)


def _pid(engine: APIClient, container: str) -> int:
    """A container's first process, as the engine's machine counts them; 0 if it has ended."""
    return int(engine.inspect_container(container)["State"]["Pid"])


def _containers(engine: APIClient, label: str) -> list[dict[str, Any]]:
    with engine_errors("looking for leftovers"):
        found: list[dict[str, Any]] = engine.containers(all=True, filters={"label": label})
    return found


def _require_readable(submission: Submission) -> None:
    """A bot under another user id reads its files as anybody may; where it could not, that is our fault, not its."""
    for path in (submission.folder, *submission.folder.rglob("*")):
        mode = path.lstat().st_mode
        wanted = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(mode) else 0)
        if mode & wanted != wanted:
            raise SandboxError(
                f"{path}: a bot under a user id of its own cannot read it: expected it to be readable by all, "
                f"got mode {stat.S_IMODE(mode):04o}"
            )
