"""Which sandbox this machine's bots run in."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Final, Literal

from docker import APIClient

from referee.errors import SandboxError
from referee.limits import Limits
from referee.ports import Sandbox
from referee.sandbox.docker import DockerSandbox
from referee.sandbox.engine import connect, engine_errors, require_abilities, require_settings
from referee.sandbox.layer import Report
from referee.sandbox.network import WEAKER, way_to_bots
from referee.sandbox.process import ProcessSandbox, why_not
from referee.sandbox.runtimes import build_image
from referee.sandbox.waiting import Waiting
from treelings.cards import MAX_PLAYERS

Wish = Literal["auto", "docker", "process"]

PLAIN_PROCESSES: Final = "bots run as plain processes, which isolates nothing: this is for bots that you trust"
"""What the note on such a sandbox begins with; why there are no containers may follow, in brackets."""

_PATIENCE_S: Final = 5.0
"""Without a word; an engine that answers does so in far less."""


def choose_sandbox(
    wish: Wish,
    *,
    league: str,
    limits: Limits,
    report: Report,
    at_once: int = MAX_PLAYERS,
    connect: Callable[[], APIClient] = connect,
) -> tuple[Sandbox, str | None]:
    """The sandbox for a wish, not yet open, and lines that the user must read, if there are some.

    `at_once`: how many bots sit at tables at the same time at most; those of one table if not given.

    "auto" is "docker" where that can be had, else "process"; whose bots are to run has no say in it. For "docker" the
    image of python is built if it is missing, which `report` follows, and those of other runtimes by `lacking`. Blocks
    meanwhile. Raises SandboxError where "docker" was wished for and cannot be; for either, ConfigError where the engine
    cannot do what the settings ask of it: never are bots held by less instead.
    """
    if wish == "process":
        return ProcessSandbox(limits=limits), f"{PLAIN_PROCESSES}."
    try:
        waiting, way = _prepare(connect, report, limits, at_once)
    except SandboxError as error:
        if wish == "docker":
            raise
        return ProcessSandbox(limits=limits), f"{PLAIN_PROCESSES} (no containers: {error})."
    # An ordinary user knows (doctor says so); where root cannot freeze, something is amiss.
    notes = [f"waiting bots are {waiting.found}: {waiting.problem}."] if waiting.problem and os.geteuid() == 0 else []
    if way == "tcp":
        notes.append(f"{WEAKER}.")
    return DockerSandbox(league=league, limits=limits, at_once=at_once, connect=connect), "\n".join(notes) or None


def _prepare(
    connect: Callable[[], APIClient], report: Report, limits: Limits, at_once: int
) -> tuple[Waiting, Literal["socket", "tcp"]]:  # fmt: skip
    with told_when_slow(report):
        engine = connect()
    try:
        with engine_errors("asking what the Docker engine can do"):
            info = engine.info()
        require_abilities(info)
        require_settings(info, limits)
        way = way_to_bots(info, limits.reach)
        build_image(engine, "python", report=report)
        return Waiting.on(info, limits, at_once=at_once), way
    finally:
        engine.close()


@contextmanager
def told_when_slow(report: Report, *, after_s: float = _PATIENCE_S) -> Iterator[None]:
    """Reports that the engine is waited for, once that has taken this long: one that hangs has CALL_TIMEOUT_S."""
    word = Timer(after_s, report, ["waiting for the Docker engine …"])
    word.daemon = True
    word.start()
    try:
        yield
    finally:
        word.cancel()


def lacking(
    sandbox: str, runtimes: Iterable[str], report: Report, connect: Callable[[], APIClient] = connect
) -> dict[str, str]:
    """Those of the runtimes whose bots cannot be run in a sandbox that was chosen, and why; empty if all of them can.

    `sandbox` is its name. For "docker", images that are missing are built; one that cannot be is no reason to do
    without the others. Blocks meanwhile. Raises EngineGone if the engine does not answer any more.
    """
    if sandbox == "process":
        return {runtime: why for runtime in sorted({*runtimes}) if (why := why_not(runtime))}
    problems = {}
    engine = connect()
    try:
        for runtime in sorted({*runtimes}):
            try:
                build_image(engine, runtime, report=report)
            except SandboxError as error:
                # Also for an answer that never came: a build may end in that, with the engine as well as before.
                problems[runtime] = str(error)
        if problems:
            with engine_errors("looking whether it is still there"):
                engine.ping()
    finally:
        engine.close()
    return problems
