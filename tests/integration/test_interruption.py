"""Told to end, once or again and again, a command leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.submissions import bot_folder

COMMAND = """
import asyncio, os, signal, sys, time
from pathlib import Path
from referee.interruption import heed_once
from referee.loop import run

async def main():
    try:
        Path("begun").touch()
        await asyncio.sleep(60)
    finally:
        Path("ending").touch()
        while not Path("told again").exists():
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.3)
        await asyncio.to_thread(time.sleep, 0.3)
        Path("ended").touch()

heed_once()
try:
    run(main())
except KeyboardInterrupt:
    time.sleep(0.3)
    sys.exit("interrupted")
"""


def wait_for(path: Path) -> None:
    for _ in range(1_000):
        if path.exists():
            return
        time.sleep(0.02)
    raise AssertionError(f"{path} never came")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_whatever_tells_it_to_end_and_however_often_the_clean_up_is_done_whole(
    tmp_path: Path, number: signal.Signals
) -> None:
    with subprocess.Popen([sys.executable, "-c", COMMAND], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        wait_for(tmp_path / "begun")
        process.send_signal(number)
        wait_for(tmp_path / "ending")
        while process.poll() is None:
            process.send_signal(number)
            (tmp_path / "told again").touch()
            time.sleep(0.05)
        assert process.stderr
        words = process.stderr.read().splitlines()
    assert (tmp_path / "ended").exists()
    assert process.returncode == 1
    assert set(words) == {"Ending; please wait till nothing is left behind.", "interrupted"}


def test_a_signal_that_is_ignored_stays_so(tmp_path: Path) -> None:
    (tmp_path / "told again").touch()
    ignoring = f"import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n{COMMAND}"
    with subprocess.Popen([sys.executable, "-c", ignoring], cwd=tmp_path, stderr=subprocess.PIPE) as process:
        wait_for(tmp_path / "begun")
        process.send_signal(signal.SIGHUP)
        time.sleep(0.1)
        assert not (tmp_path / "ending").exists()
        process.send_signal(signal.SIGTERM)
        wait_for(tmp_path / "ended")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_match_that_is_told_twice_leaves_no_copies(tmp_path: Path, number: signal.Signals) -> None:
    bot = bot_folder(tmp_path, "slow", code="import time\ntime.sleep(60)")
    command = [sys.executable, "-m", "referee.cli", "match", str(bot), "random", "--sandbox", "process", "--trust-bots"]
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        for _ in range(1_000):
            if [*temporary.glob("treelings-match-*/*")]:
                break
            time.sleep(0.02)
        process.send_signal(number)
        time.sleep(0.05)
        process.send_signal(number)
        try:
            _, words = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 1
    assert words.splitlines()[-1] == "Interrupted."
    assert [*temporary.iterdir()] == []
