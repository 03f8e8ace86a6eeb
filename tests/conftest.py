"""Tests that need a Docker engine: skipped where none answers, and never unseen; failed where one is required."""

import os
from functools import cache

import pytest

from referee.errors import SandboxError
from referee.sandbox.engine import connect

REQUIRE = "TREELINGS_REQUIRE_DOCKER"
"""Environment variable; "1" turns a skip for want of an engine into a failure."""

SKIPPED = pytest.StashKey[int]()


@cache
def why_no_engine() -> str | None:
    try:
        connect(timeout_s=10).close()
    except SandboxError as error:
        return str(error)
    return None


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("docker") is None or (reason := why_no_engine()) is None:
        return
    if os.environ.get(REQUIRE) == "1":
        pytest.fail(f"{REQUIRE}=1, but {reason}", pytrace=False)
    item.config.stash[SKIPPED] = item.config.stash.get(SKIPPED, 0) + 1
    pytest.skip(reason)


def pytest_unconfigure(config: pytest.Config) -> None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    skipped = config.stash.get(SKIPPED, 0)
    if reporter is not None and skipped:
        reporter.write_line(f"{skipped} tests that need a Docker engine were skipped: `treelings doctor` tells why")
