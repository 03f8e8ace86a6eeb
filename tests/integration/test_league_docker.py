"""A league night in real containers: to its end, resumed after it was killed, and after the engine was lost."""

import asyncio
import contextlib
import os
import re
import signal
import sqlite3
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from docker import APIClient

from referee.league import League
from referee.loop import run
from referee.records import problems
from referee.sandbox.docker import DockerSandbox
from referee.submissions import sample_bot
from referee.verify import verify
from tests.support.command import treelings
from tests.support.league import Told
from tests.support.sandboxed import EngineProxy
from tests.support.submissions import bot_folder

pytestmark = pytest.mark.docker

ROOT = Path(__file__).parents[2]
WAIT_S = 120
CRASHING = "import sys\nsys.exit('no luck today')\n"


@pytest.fixture
def name() -> str:
    """A name of its own for the league: containers are told apart by it."""
    return f"test-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def folder(tmp_path: Path, name: str) -> Path:
    League.create(tmp_path / "league", name).close()
    (tmp_path / "league" / "league.toml").write_text(
        f'name = "{name}"\ndeals = 3\n[clock]\nstartup_ms = 60_000\nmove_ms = 60_000\n'
    )
    with League.open(tmp_path / "league") as league:
        for bot in ("random", "greedy"):
            sample = sample_bot(bot)
            assert sample
            league.add(sample)
        league.add(bot_folder(tmp_path, "crashing", code=CRASHING))
    return tmp_path / "league"


def containers(engine: APIClient, name: str) -> list[str]:
    found = engine.containers(all=True, filters={"label": f"treelings.league={name}"})
    return [container["Id"] for container in found]


def test_a_league_is_played_to_its_end_and_leaves_no_container(
    engine: APIClient, runtime_image: str, folder: Path, name: str
) -> None:
    assert runtime_image
    with League.open(folder) as league:
        summary = run(league.run(DockerSandbox(league=name), progress=Told()))
        assert (summary.played, summary.total, summary.voids) == (18, 18, ())
        records = league._store.records()
        assert [problem for record in records for problem in problems(record)] == []
        faults = [(record.seats[fault.seat].bot, fault.kind) for record in records for fault in record.faults]
        assert set(faults) == {("crashing", "startup")}
        league.reveal()
        assert verify([league.site]).differences == ()
    assert containers(engine, name) == []


def test_a_league_that_was_killed_goes_on_where_it_was_and_sweeps_what_was_left(
    engine: APIClient, runtime_image: str, folder: Path, name: str
) -> None:
    assert runtime_image
    command = [sys.executable, "-m", "tests.support.run_league", str(folder), "docker"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout
        told = [process.stdout.readline().strip() for _ in range(8)]
        while not containers(engine, name):  # once it is killed, whoever else plays on this engine sweeps them
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait(WAIT_S)
    assert told[0] == "begin 0 of 18"
    again = Told()
    with League.open(folder) as league:
        kept = {record.id for record in league._store.records()}
        assert len(kept) < 18
        assert run(league.run(DockerSandbox(league=name), progress=again)).finished
        assert len(league._store.records()) == 18
    assert kept.isdisjoint(again.games)
    assert containers(engine, name) == []


def test_a_bot_whose_runtime_cannot_be_had_sits_out_and_the_others_play_in_containers(
    runtime_image: str, folder: Path
) -> None:
    assert runtime_image

    def change(runtime: str) -> None:
        with contextlib.closing(sqlite3.connect(folder / "league.db")) as database, database:
            database.execute(f"UPDATE bots SET runtime = '{runtime}' WHERE name = 'crashing'")

    change("cobol")
    first = treelings("league", "run", folder, cwd=folder)
    assert first.code == 1
    assert "crashing cannot play now: runtime cobol: runtime: expected one of python, node, native" in first.err
    assert "isolates nothing" not in first.err
    assert "and 11 more games: crashing sits out: no runtime cobol here" in first.err
    assert len(re.findall(r"^\d  (greedy|random) .* 6 ", first.out, re.MULTILINE)) == 2
    change("python")
    again = treelings("league", "run", folder, cwd=folder)
    assert "Night 1 is complete: 18 games." in again.out
    with League.open(folder) as league:
        league.reveal()
        assert verify([league.site]).differences == ()


async def test_a_bot_whose_trial_loses_its_engine_is_not_in_and_the_message_says_which(
    engine: APIClient, runtime_image: str, folder: Path, name: str, tmp_path: Path
) -> None:
    assert runtime_image
    before = {path.name for path in (folder / "bots").iterdir()}
    bot_folder(tmp_path, "slow", code="import time\ntime.sleep(600)\n")
    async with EngineProxy.serve(tmp_path / "engine.sock") as proxy:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "referee.cli", "league", "add", str(folder), "slow", "neighbour",
            stderr=asyncio.subprocess.PIPE, cwd=tmp_path, env=os.environ | {"DOCKER_HOST": f"unix://{tmp_path}/engine.sock"},
        )  # fmt: skip
        assert process.stderr
        while len(await asyncio.to_thread(containers, engine, name)) < 2:
            assert process.returncode is None
            await asyncio.sleep(0.1)
        await proxy.cut()
        told = (await process.stderr.read()).decode()
        assert await process.wait() == 1
    assert "error: slow: its trial match could not be played" in told
    assert re.search(r"Go on with: treelings league add \S+/league slow neighbour", told)
    assert {path.name for path in (folder / "bots").iterdir()} == before
    with League.open(folder) as league:
        assert [bot.name for bot in league.bots()] == ["crashing", "greedy", "random"]


async def test_a_league_whose_engine_is_lost_keeps_its_games_and_goes_on_when_it_is_back(
    engine: APIClient, runtime_image: str, folder: Path, name: str, tmp_path: Path
) -> None:
    assert runtime_image
    told: list[str] = []
    async with EngineProxy.serve(tmp_path / "engine.sock") as proxy:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "referee.cli", "league", "run", str(folder), "--sandbox", "docker",
            stderr=asyncio.subprocess.PIPE, cwd=ROOT, env=os.environ | {"DOCKER_HOST": f"unix://{tmp_path}/engine.sock"},
        )  # fmt: skip
        assert process.stderr
        # The crashing bot's forfeits are told as they happen: the third is in mid-night.
        while len([line for line in told if "forfeits" in line]) < 3:
            line = (await process.stderr.readline()).decode()
            assert line, told
            told.append(line)
        await proxy.cut()
        told += (await process.stderr.read()).decode().splitlines()
        assert await process.wait() == 1
    assert "engine" in told[-1]
    assert not [line for line in told if "Traceback" in line]
    with League.open(folder) as league:
        kept = {record.id for record in league._store.records()}
        assert 3 <= len(kept) < 18
        again = Told()
        summary = await league.run(DockerSandbox(league=name), progress=again)
        assert (summary.finished, summary.voids) == (True, ())
    assert kept.isdisjoint(again.games)
    assert len(kept) + len(again.games) == 18
    assert containers(engine, name) == []
