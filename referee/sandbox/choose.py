"""Which sandbox this machine's bots run in."""

import os
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

from docker import APIClient

from referee.errors import SandboxError
from referee.limits import Limits
from referee.ports import Sandbox
from referee.sandbox.docker import DockerSandbox
from referee.sandbox.engine import connect, engine_errors, require_abilities, require_settings
from referee.sandbox.layer import Report
from referee.sandbox.network import WEAKER, way_to_bots
from referee.sandbox.process import ProcessSandbox
from referee.sandbox.runtimes import build_image
from referee.sandbox.waiting import Waiting
from treelings.cards import MAX_PLAYERS

Wish = Literal["auto", "docker", "process"]

_NAMED: Final = 5
_WARNING: Final = "bots run as plain processes, which isolates nothing: this is for bots that you trust"


def choose_sandbox(
    wish: Wish,
    *,
    league: str,
    limits: Limits,
    report: Report,
    at_once: int = MAX_PLAYERS,
    runtimes: Mapping[str, Sequence[str]] = MappingProxyType({}),
    connect: Callable[[], APIClient] = connect,
) -> tuple[Sandbox, str | None]:
    """The sandbox for a wish, not yet open, and lines that the user must read, if there are some.

    `at_once`: how many bots sit at tables at the same time at most; those of one table if not given.

    `runtimes`: by runtime, the names of the bots that ask for it.

    "auto" is "docker" where that can be had, else "process". For "docker" the image of python and those of the other
    runtimes are built if they are missing, which `report` follows. Blocks meanwhile. Raises SandboxError where
    "docker" was wished for and cannot be; for either, ConfigError where the engine cannot do what the settings ask of
    it: never are bots held by less instead.
    """
    if wish == "process":
        return ProcessSandbox(limits=limits), f"{_WARNING}."
    try:
        waiting, way = _prepare(connect, report, limits, at_once, runtimes)
    except SandboxError as error:
        if wish == "docker":
            raise
        return ProcessSandbox(limits=limits), f"{_WARNING} (no containers: {error})."
    # An ordinary user knows (doctor says so); where root cannot freeze, something is amiss.
    notes = [f"waiting bots are {waiting.found}: {waiting.problem}."] if waiting.problem and os.geteuid() == 0 else []
    if way == "tcp":
        notes.append(f"{WEAKER}.")
    return DockerSandbox(league=league, limits=limits, at_once=at_once, connect=connect), "\n".join(notes) or None


def _prepare(
    connect: Callable[[], APIClient], report: Report, limits: Limits, at_once: int,
    runtimes: Mapping[str, Sequence[str]],
) -> tuple[Waiting, Literal["socket", "tcp"]]:  # fmt: skip
    engine = connect()
    try:
        with engine_errors("asking what the Docker engine can do"):
            info = engine.info()
        require_abilities(info)
        require_settings(info, limits)
        way = way_to_bots(info, limits.reach)
        for runtime in sorted({"python", *runtimes}):
            _build(engine, runtime, runtimes.get(runtime, ()), report)
        return Waiting.on(info, limits, at_once=at_once), way
    finally:
        engine.close()


def _build(engine: APIClient, runtime: str, bots: Sequence[str], report: Report) -> None:
    try:
        build_image(engine, runtime, report=report)
    except SandboxError as error:
        if runtime == "python" or not bots:  # which is everybody's
            raise
        names = ", ".join(bots[:_NAMED]) + (", …" if len(bots) > _NAMED else "")
        raise type(error)(f"{error}; {names} cannot run without it (runtime {runtime})") from error


def prepare_runtime(runtime: str, report: Report, connect: Callable[[], APIClient] = connect) -> None:
    """Build the image of one more runtime if it is missing, for a sandbox "docker" that is chosen already.

    Blocks meanwhile. Raises SandboxError.
    """
    engine = connect()
    try:
        build_image(engine, runtime, report=report)
    finally:
        engine.close()
