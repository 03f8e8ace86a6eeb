"""Bots in other languages than Python, in containers as a league runs them: JavaScript, and a static program of C++."""

import asyncio
import io
import json
import os
import shutil
import subprocess
import tarfile
from contextlib import suppress
from pathlib import Path

import pytest
from docker import APIClient

from referee.conformance import CORNERS, Outcome, Step, conformance
from referee.limits import Limits
from referee.loop import FairLoop
from referee.model import Submission
from referee.sandbox.docker import DockerSandbox
from referee.sandbox.runtimes import build_image, image_status
from referee.scaffold import make_bot
from referee.submissions import find_bot, inspect, is_sample
from tests.support.command import treelings
from tests.support.own_port import own_port
from tests.support.sandboxed import ended
from tests.support.submissions import bot_folder

NODE_CONTRACT = r"""
const assert = require("node:assert"), fs = require("node:fs"), path = require("node:path");
assert.equal(process.getuid(), 54321);
assert.ok(Number(process.versions.node.split(".")[0]) >= 18, process.version);
for (const folder of process.env.PATH.split(":"))
    for (const name of ["npm", "npx", "yarn"]) assert.ok(!fs.existsSync(path.join(folder, name)), name);
const walk = (folder) => fs.readdirSync(folder, { withFileTypes: true }).forEach((entry) => {
    const place = path.join(folder, entry.name);
    if (entry.isDirectory()) walk(place);
    else if (entry.isFile()) assert.ok(!(fs.lstatSync(place).mode & 0o6000), `${place} is setuid or setgid`);
});
["/usr/bin", "/usr/lib", "/usr/sbin"].forEach(walk);
console.log("kept");
"""


def needs_a_shell(folder: Path) -> None:
    folder.chmod(0o755)
    (folder / "bot").write_text("#!/bin/sh\n")
    (folder / "bot").chmod(0o755)


@pytest.mark.docker
def test_an_image_for_node_holds_node_and_nothing_to_fetch_packages_with(engine: APIClient) -> None:
    container = engine.create_container(
        build_image(engine, "node", report=print),
        entrypoint=["node", "-e", NODE_CONTRACT],
        user="54321:54321",
        host_config=engine.create_host_config(network_mode="none", read_only=True, cap_drop=["ALL"]),
    )["Id"]
    try:
        engine.start(container)
        engine.wait(container, timeout=600)
        assert engine.logs(container) == b"kept\n"
    finally:
        engine.remove_container(container, force=True)
    says = image_status(engine, "node").says
    assert says is not None
    assert says.startswith("node ")


@pytest.mark.docker
def test_in_the_image_for_native_programs_there_is_the_launcher_alone(engine: APIClient) -> None:
    image = build_image(engine, "native", report=print)
    container = engine.create_container(image, entrypoint=["/launch"])["Id"]
    try:
        with tarfile.open(fileobj=io.BytesIO(b"".join(engine.export(container)))) as tar:
            files = [entry.name for entry in tar if entry.isfile() and entry.size]
    finally:
        engine.remove_container(container, force=True)
    assert files == ["launch"]


@pytest.mark.docker
@pytest.mark.usefixtures("runtime_image")
async def test_a_program_that_needs_more_than_is_there_says_so_in_its_log(engine: APIClient, tmp_path: Path) -> None:
    build_image(engine, "native", report=print)
    needs_a_shell(tmp_path)
    sandbox = DockerSandbox(league="test", limits=Limits())
    await sandbox.open()
    try:
        bot = await sandbox.start(Submission("ann", "A", "sha256:" + "0" * 64, tmp_path, ("./bot",), "native"), "m")
        state = await ended(bot)
        assert state.exit_code == 127
        assert "expected one for this machine that is linked statically" in await bot.log_tail()
    finally:
        await sandbox.close()


@pytest.mark.docker
@pytest.mark.npm
@pytest.mark.cpp
@pytest.mark.usefixtures("runtime_image")
def test_bots_in_three_languages_play_a_match(tmp_path: Path) -> None:
    make_bot("plus", author="Ann", into=tmp_path, language="cpp")
    built = subprocess.run(["make", "CXXFLAGS=-O0"], cwd=tmp_path / "plus", capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    packed = treelings("pack", "plus", cwd=tmp_path)
    assert packed.code == 0, packed.err

    done = treelings(
        "match", "javascript", "plus.tar.gz", "random", "--deals", "3", "--json", "--sandbox", "docker", cwd=tmp_path
    )

    assert done.code == 0, done.err
    match = json.loads(done.out)
    assert match["voids"] == []
    assert {bot["bot"]: bot["faults"] for bot in match["bots"]} == {"javascript": 0, "plus": 0, "random": 0}


@pytest.mark.npm
def test_a_javascript_bot_runs_as_a_plain_process_too_and_packs_to_the_version_that_is_played(tmp_path: Path) -> None:
    make_bot("ann", author="Ann", into=tmp_path, language="javascript")
    unpacked = treelings("check", "ann", "--sandbox", "process", "--trust-bots", cwd=tmp_path)
    assert "`treelings pack` to hand it in" in unpacked.out
    assert treelings("pack", "ann", cwd=tmp_path).code == 0

    done = treelings("match", "ann.tar.gz", "random", "--deals", "2", "--json", "--sandbox", "process", "--trust-bots",
                     cwd=tmp_path)  # fmt: skip

    assert done.code == 0, done.err
    assert {bot["bot"]: bot["faults"] for bot in json.loads(done.out)["bots"]} == {"ann": 0, "random": 0}


@pytest.mark.npm
def test_the_author_of_a_javascript_bot_is_told_its_error_and_where_it_was_raised(tmp_path: Path) -> None:
    toml = 'name = "ann"\nauthor = "A"\ncommand = ["node", "bot.js"]\nruntime = "node"\n'
    bot_folder(tmp_path, "ann", toml=toml, files={"bot.js": "// a bot\nnull.choose();\n"})

    done = treelings("check", "ann", "--sandbox", "process", "--trust-bots", cwd=tmp_path, env={"COLUMNS": "400"})

    assert "'TypeError: Cannot read properties of null (reading 'choose')'; at bot.js, line 2)" in done.out


@pytest.mark.npm
def test_a_bot_in_javascript_outlives_what_it_cannot_understand() -> None:
    _outlives_what_it_cannot_understand(find_bot("javascript"), "node", "bot.js")


def _outlives_what_it_cannot_understand(folder: Path, *command: str) -> None:
    what_is_unknown = [corner.name for corner in CORNERS if corner.section == "What is unknown"]

    async def run(address: tuple[str, int]) -> list[Step]:
        await _listens(*address)
        return [step async for step in conformance(address, only=what_is_unknown)]

    with own_port() as port:
        bot = subprocess.Popen(command, cwd=folder, env={**os.environ, "TREELINGS_LISTEN": f"127.0.0.1:{port}"})
        try:
            with asyncio.Runner(loop_factory=FairLoop) as runner:
                steps = runner.run(run(("127.0.0.1", port)))
        finally:
            bot.kill()
            bot.wait()
    assert [(step.name, step.got) for step in steps if step.outcome is not Outcome.PASSED] == []
    assert len(steps) == len(what_is_unknown) > 1


async def _listens(host: str, port: int) -> None:
    async with asyncio.timeout(30):
        while True:
            with suppress(OSError):
                _, writer = await asyncio.open_connection(host, port)
                writer.close()
                return
            await asyncio.sleep(0.05)


@pytest.mark.npm
def test_the_sample_bot_in_javascript_is_trusted_once_its_packages_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    found = find_bot("javascript")

    assert is_sample(inspect(found))
    assert find_bot("javascript") == found
    assert [path.parent for path in tmp_path.glob("*/packed-*")] == [found.parent]


@pytest.mark.docker
@pytest.mark.skipif(shutil.which("go") is None or shutil.which("protoc-gen-go-grpc") is None, reason="no Go toolchain")
@pytest.mark.usefixtures("runtime_image")
def test_a_bot_in_go_plays_a_match_and_outlives_what_it_cannot_understand(tmp_path: Path) -> None:
    make_bot("ann", author="Ann", into=tmp_path, language="go")
    subprocess.run(["make", "DEBIAN=1"], cwd=tmp_path / "ann", capture_output=True, check=True)

    done = treelings("match", "ann", "random", "--deals", "2", "--json", "--sandbox", "docker", cwd=tmp_path)

    assert done.code == 0, done.err
    assert {bot["bot"]: bot["faults"] for bot in json.loads(done.out)["bots"]} == {"ann": 0, "random": 0}
    _outlives_what_it_cannot_understand(tmp_path / "ann", "./bot")
