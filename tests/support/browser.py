"""A headless browser to look at pages with."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import BrowserContext, Request, expect, sync_playwright

# Never waited for by a test that passes.
_START_MS = 300_000
_PATIENCE_MS = 60_000
# No word to the network: the browser's own services are off.
_QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium() -> str | None:
    """The Chromium of this machine; None where it has none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@contextmanager
def browser(executable: str) -> Iterator[BrowserContext]:
    """A context of a headless Chromium with a profile of its own, gone afterwards."""
    expect.set_options(timeout=_PATIENCE_MS)
    # Some of its processes may write there yet when it has ended.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=executable, args=_QUIET, headless=True, timeout=_START_MS
        )
        context.set_default_timeout(_PATIENCE_MS)
        try:
            yield context
        finally:
            context.close()


def was_refused(request: Request) -> bool:
    """Whether a request that failed did so for another reason than that its page was left meanwhile."""
    return request.failure != "net::ERR_ABORTED"
