"""Which sandbox this machine's bots run in."""

from collections.abc import Callable
from typing import Final, Literal

from docker import APIClient

from referee.errors import SandboxError
from referee.limits import Limits
from referee.ports import Sandbox
from referee.sandbox.docker import DockerSandbox
from referee.sandbox.engine import connect, engine_errors, require_abilities
from referee.sandbox.image import build_image
from referee.sandbox.layer import Report
from referee.sandbox.process import ProcessSandbox

Wish = Literal["auto", "docker", "process"]

_WARNING: Final = "bots run as plain processes, which isolates nothing: this is for bots that you trust"


def choose_sandbox(
    wish: Wish,
    *,
    league: str,
    limits: Limits,
    report: Report,
    connect: Callable[[], APIClient] = connect,
) -> tuple[Sandbox, str | None]:
    """The sandbox for a wish, not yet open, and one line that the user must read, if there is one.

    "auto" is "docker" where that can be had, else "process". For "docker" the runtime image is built if it is
    missing, which `report` follows. Blocks meanwhile. Raises SandboxError where "docker" was wished for and cannot be.
    """
    if wish == "process":
        return ProcessSandbox(limits=limits), f"{_WARNING}."
    try:
        _prepare(connect, report)
    except SandboxError as error:
        if wish == "docker":
            raise
        return ProcessSandbox(limits=limits), f"{_WARNING} (no containers: {error})."
    return DockerSandbox(league=league, limits=limits, connect=connect), None


def _prepare(connect: Callable[[], APIClient], report: Report) -> None:
    engine = connect()
    try:
        with engine_errors("asking what the Docker engine can do"):
            require_abilities(engine.info())
        build_image(engine, report=report)
    finally:
        engine.close()
