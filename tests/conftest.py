"""Tests that need something of the machine: skipped and counted where it is missing, failed where it is required."""

import os
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings

import referee.players  # noqa: F401 - first, since it sets what gRPC reads once, when it is imported
from referee.errors import SandboxError
from referee.sandbox.engine import connect
from tests.support.browser import chromium

# The same examples in every run, however slow the machine is; `--hypothesis-profile=search` tries others.
settings.register_profile("steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search", settings.get_profile("steady"), derandomize=False)
settings.load_profile("steady")

SKIPPED = pytest.StashKey[Counter[str]]()


def _why_no_engine() -> str | None:
    try:
        connect(timeout_s=60).close()
    except SandboxError as error:
        return str(error)
    return None


def _why_no_browser() -> str | None:
    return None if chromium() else "no Chromium on this machine"


def _why_no_npm() -> str | None:
    missing = [name for name in ("node", "npm") if shutil.which(name) is None]
    return f"no {' and no '.join(missing)} on this machine" if missing else None


def _why_no_cpp() -> str | None:
    if missing := [name for name in ("g++", "make", "pkg-config", "grpc_cpp_plugin") if shutil.which(name) is None]:
        return f"no {missing[0]} on this machine (referee/templates/cpp/Makefile names the packages)"
    return None


_NEEDS: Final[Mapping[str, Callable[[], str | None]]] = {
    "docker": cache(_why_no_engine),
    "browser": cache(_why_no_browser),
    "npm": cache(_why_no_npm),
    "cpp": cache(_why_no_cpp),
}
"""By mark: why this machine cannot run such tests; None where it can."""

_WORDS: Final = {
    "docker": "tests that need a Docker engine were skipped: `treelings doctor` tells why",
    "browser": "tests that need Chromium were skipped",
    "npm": "tests that need Node.js and npm were skipped",
    "cpp": "tests that need a C++ compiler and gRPC for C++ were skipped",
}


def pytest_configure() -> None:
    """Whoever starts the tests in the background of a shell has Ctrl-C ignored, and so would all that they start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """`TREELINGS_REQUIRE_DOCKER=1`, and the like for the other marks, turns a skip into a failure."""
    for mark, why in _NEEDS.items():
        if item.get_closest_marker(mark) is None or (reason := why()) is None:
            continue
        required = f"TREELINGS_REQUIRE_{mark.upper()}"
        if os.environ.get(required) == "1":
            pytest.fail(f"{required}=1, but {reason}", pytrace=False)
        item.config.stash.setdefault(SKIPPED, Counter())[mark] += 1
        pytest.skip(reason)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where tests run on several cores, each of these processes hands on what it counted."""
    if hasattr(session.config, "workeroutput"):
        counted = session.config.stash.get(SKIPPED, Counter[str]())
        session.config.workeroutput["skipped"] = dict(counted)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Adds up what the processes counted; one that crashed has handed on nothing."""
    counted: dict[str, int] = getattr(node, "workeroutput", {}).get("skipped", {})
    config: pytest.Config = node.config
    config.stash.setdefault(SKIPPED, Counter()).update(counted)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Here, since pytest's own last line comes after the terminal summary."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    for mark, count in sorted(config.stash.get(SKIPPED, Counter()).items()):
        if reporter is not None:
            reporter.write_line(f"{count} {_WORDS[mark]}")
