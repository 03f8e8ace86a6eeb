"""A league of sample bots in real processes: played to its end, killed, interrupted, run again."""

import asyncio
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from referee.league import League
from referee.loop import run
from referee.records import problems
from referee.sandbox.process import ProcessSandbox
from referee.submissions import sample_bot
from referee.verify import verify
from tests.support.league import Told
from tests.support.submissions import bot_folder

ROOT = Path(__file__).parents[2]
WAIT_S = 60
CRASHING = "import sys\nsys.exit('no luck today')\n"


def sample_league(folder: Path, *, deals: int, names: tuple[str, ...] = ("random", "greedy")) -> Path:
    League.create(folder / "league", "thursday").close()
    (folder / "league" / "league.toml").write_text(f'name = "thursday"\ndeals = {deals}\n[clock]\nmove_ms = 60_000\n')
    with League.open(folder / "league") as league:
        for name in names:
            sample = sample_bot(name)
            assert sample
            league.add(sample)
    return folder / "league"


@contextmanager
def running(league: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.support.run_league", str(league), "process"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
        try:
            yield process
        finally:
            process.kill()


def lines(process: subprocess.Popen[str], count: int) -> list[str]:
    assert process.stdout
    read = [process.stdout.readline().strip() for _ in range(count)]
    assert all(read), process.stderr.read() if process.stderr else ""
    return read


def bots_of(league: Path) -> list[str]:
    """Processes that run in the folder of one of the league's bots."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink().is_relative_to(league.resolve()):
                found.append(process.name)
        except OSError:
            continue  # it has ended, or is somebody else's
    return found


def wait_until_no_bot_is_left(league: Path) -> None:
    async def wait() -> None:
        async with asyncio.timeout(WAIT_S):
            while bots_of(league):  # noqa: ASYNC110 - nobody tells when a process ends
                await asyncio.sleep(0.05)

    asyncio.run(wait())


def recorded(league: Path) -> set[str]:
    with League.open(league) as opened:
        missing = {game.id for match in opened.plan(1) for game in match.games}
        status = opened.status()
        done = {record.id for record in opened._store.records(1)}
        assert (status.done, status.total) == (len(done), len(missing))
        return done


def finish(league: Path) -> Told:
    told = Told()
    with League.open(league) as opened:
        assert run(opened.run(ProcessSandbox(), progress=told, jobs=2)).finished
    return told


def test_a_league_is_played_published_revealed_and_verified(tmp_path: Path) -> None:
    folder = sample_league(tmp_path, deals=2)
    with League.open(folder) as league:
        league.add(bot_folder(tmp_path, "crashing", code=CRASHING))
        summary = run(league.run(ProcessSandbox(), progress=Told()))
        assert (summary.played, summary.total, summary.voids) == (12, 12, ())
        records = league._store.records()
        assert [problem for record in records for problem in problems(record)] == []
        faults = [(record.seats[fault.seat].bot, fault.kind) for record in records for fault in record.faults]
        assert set(faults) == {("crashing", "startup")}
        assert len(faults) == 8
        site = league.publish()
        report = verify([site])
        assert report.differences == ()
        league.reveal()
        assert verify([site]).differences == ()
    assert bots_of(folder) == []


def test_a_run_that_is_killed_loses_no_match_and_the_next_plays_what_is_missing(tmp_path: Path) -> None:
    folder = sample_league(tmp_path, deals=12, names=("random", "greedy", "neighbour"))
    with running(folder) as process:
        assert lines(process, 1) == ["begin 0 of 72"]
        seen: set[str] = set()
        while len(seen) < 3:
            seen.update(game.split("/")[1] for game in lines(process, 1))
        process.send_signal(signal.SIGKILL)  # two tables play at a time: the third match follows a finished one
        process.wait(WAIT_S)
    wait_until_no_bot_is_left(folder)
    kept = recorded(folder)
    per_match = Counter(game.split("/")[1] for game in kept)
    assert 24 in per_match.values()
    assert len(kept) < 72  # a referee that goes on meanwhile has a whole match to play yet
    again = finish(folder)
    assert again.begun == [(len(kept), 72)]
    assert kept.isdisjoint(again.games)
    assert len(kept) + len(again.games) == 72
    assert len(recorded(folder)) == 72


def test_an_interrupted_run_keeps_every_game_that_was_told(tmp_path: Path) -> None:
    folder = sample_league(tmp_path, deals=40)
    with running(folder) as process:
        told = lines(process, 8)[1:]  # of 80
        process.send_signal(signal.SIGINT)
        process.wait(WAIT_S)
        assert process.returncode != 0
    assert bots_of(folder) == []
    kept = recorded(folder)
    assert set(told) <= kept
    assert len(kept) < 80
    assert kept.isdisjoint(finish(folder).games)
    assert len(recorded(folder)) == 80


def test_a_run_is_refused_while_another_process_has_the_league(tmp_path: Path) -> None:
    folder = sample_league(tmp_path, deals=2000)  # more than the second run could ever wait for
    with running(folder) as first:
        lines(first, 2)
        with running(folder) as second:
            _, error = second.communicate(timeout=WAIT_S)
        assert f"process {first.pid} is running this league" in error


@pytest.mark.parametrize("seats", ["3", "[2, 4]"])
def test_tables_of_other_sizes_are_played_in_processes_too(tmp_path: Path, seats: str) -> None:
    folder = sample_league(tmp_path, deals=1, names=("random", "greedy", "neighbour"))
    (folder / "league.toml").write_text(f'name = "thursday"\ndeals = 1\nseats = {seats}\n')
    with League.open(folder) as league:
        league.add(bot_folder(tmp_path, "crashing", code=CRASHING))
        assert run(league.run(ProcessSandbox(), progress=Told())).finished
        assert [problem for record in league._store.records() for problem in problems(record)] == []
