"""A league night in real containers: to its end, resumed after it was killed, and after the engine was lost."""

import asyncio
import os
import signal
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
    (tmp_path / "league" / "league.toml").write_text(f'name = "{name}"\ndeals = 3\n')
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
        process.send_signal(signal.SIGKILL)
        process.wait(WAIT_S)
    assert told[0] == "begin 0 of 18"
    assert containers(engine, name) != []
    again = Told()
    with League.open(folder) as league:
        kept = {record.id for record in league._store.records()}
        assert len(kept) < 18
        assert run(league.run(DockerSandbox(league=name), progress=again)).finished
        assert len(league._store.records()) == 18
    assert kept.isdisjoint(again.games)
    assert containers(engine, name) == []


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
