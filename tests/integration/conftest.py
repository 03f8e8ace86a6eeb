"""What tests of real processes share: a time that is fair to them, an engine, and its image."""

import asyncio
import fcntl
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from docker import APIClient

from referee.loop import FairLoop
from referee.sandbox.engine import connect
from referee.sandbox.runtimes import build_image


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """No wait of a test ends because the machine stood still."""
    return {"fair": FairLoop}


@pytest.fixture(scope="session")
def engine() -> Iterator[APIClient]:
    """A client of the engine; only for tests marked `docker`."""
    client = connect()
    yield client
    client.close()


@pytest.fixture(scope="session")
def runtime_image(engine: APIClient) -> str:
    """The name of the runtime image, built if it was not there; only for tests marked `docker`."""
    with (Path(tempfile.gettempdir()) / "treelings-tests-image.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests may run in several processes: one builds, the others wait
        return build_image(engine, report=print)
