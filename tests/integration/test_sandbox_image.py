"""What every runtime image gives, wherever its Python comes from."""

import asyncio
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Literal

import pytest
from docker import APIClient

from referee.errors import SandboxError
from referee.limits import Limits
from referee.sandbox.choose import choose_sandbox
from referee.sandbox.docker import DockerSandbox
from referee.sandbox.doctor import examine
from referee.sandbox.engine import find_image
from referee.sandbox.layer import SAYS, Archive, build_layer
from referee.sandbox.runtimes import build_image, image_status, wanted_image

pytestmark = pytest.mark.docker

CONTRACT = r"""
import importlib, os, pathlib, shutil, stat, sys, sysconfig

assert sys.version_info >= (3, 11), sys.version
assert os.getuid() == 54321, os.getuid()
assert os.path.realpath(shutil.which("python")) == os.path.realpath(sys.executable), sys.executable
import asyncio, json, ssl, sqlite3, statistics, unittest, zoneinfo
import google.protobuf, grpc, grpc.aio, treelings, treelings.rules, treelings.server

assert treelings.rules.__file__.endswith(".so"), treelings.rules.__file__
UNCHECKED = (1).to_bytes(4, "little")
for module in (json, asyncio, grpc, google.protobuf, treelings, treelings.server, importlib.import_module("random")):
    with open(module.__cached__, "rb") as compiled:
        assert compiled.read(8)[4:] == UNCHECKED, f"{module.__name__} is compiled in another way"

for top in ("/bin", "/sbin", "/usr", "/opt", "/etc", "/var", "/lib"):
    for folder, _, names in os.walk(top):
        for name in names:
            mode = os.lstat(os.path.join(folder, name)).st_mode
            assert not (stat.S_ISREG(mode) and mode & 0o6000), f"{folder}/{name} is setuid or setgid"
print("kept")
"""

LONG_BUILD = """
import sys
from referee.sandbox.engine import connect
from referee.sandbox.layer import build_layer

script = f"import time; time.sleep(200)  # nothing but {sys.argv[2]}"
build_layer(connect(timeout_s=300), parent=sys.argv[1], script=script, name="x:1")
"""


def test_the_contract_holds_for_any_user_without_a_network(engine: APIClient, runtime_image: str) -> None:
    container = engine.create_container(
        runtime_image,
        entrypoint=["python", "-c", CONTRACT],
        user="54321:54321",
        host_config=engine.create_host_config(network_mode="none", read_only=True, cap_drop=["ALL"]),
    )["Id"]
    try:
        engine.start(container)
        engine.wait(container, timeout=600)
        assert engine.logs(container) == b"kept\n"
    finally:
        engine.remove_container(container, force=True)


def test_an_image_that_is_there_is_not_built_again(engine: APIClient, runtime_image: str) -> None:
    lines: list[str] = []

    assert build_image(engine, report=lines.append) == runtime_image
    assert lines == []


def test_the_status_tells_what_the_image_holds(engine: APIClient, runtime_image: str) -> None:
    status = image_status(engine)

    assert status.wanted == runtime_image == wanted_image()
    assert status.says is not None
    assert status.says.startswith("python 3.")
    assert "grpcio" in status.says
    assert status.says.endswith("core compiled")
    assert runtime_image not in status.older


def test_an_image_is_nobodys_to_be_root_in(engine: APIClient, runtime_image: str) -> None:
    image = find_image(engine, runtime_image)

    assert image is not None
    assert image["Config"]["User"] == "65534:65534"


def test_a_build_that_fails_tells_why_and_leaves_nothing(engine: APIClient, runtime_image: str) -> None:
    lacks = secrets.token_hex(4)
    name = f"treelings-test-{lacks}:1"

    with pytest.raises(SandboxError, match=rf"building {name}: its script ended with 1: out of {lacks}"):
        build_layer(engine, parent=runtime_image, script=f"import sys; sys.exit('out of {lacks}')", name=name)
    assert find_image(engine, name) is None
    assert _builds(engine, lacks) == set()


def failing_build(engine: APIClient, image: str) -> None:
    with pytest.raises(SandboxError, match="out of flour"):
        build_layer(engine, parent=image, script="import sys; sys.exit('out of flour')", name="x:1")


def sandbox_for_bots(engine: APIClient, image: str) -> None:
    async def open_and_close() -> None:
        sandbox = DockerSandbox(league="test")
        await sandbox.open()
        await sandbox.close()

    asyncio.run(open_and_close())


@pytest.mark.parametrize("next_", [failing_build, sandbox_for_bots])
def test_what_a_killed_build_left_is_removed_with_the_next_and_nothing_of_one_that_goes_on(
    engine: APIClient, runtime_image: str, next_: Callable[[APIClient, str], None]
) -> None:
    bread = secrets.token_hex(4)  # another test's builds are none of ours
    command = [sys.executable, "-c", LONG_BUILD, runtime_image, bread]
    killed = subprocess.Popen(command, start_new_session=True)
    try:
        while not (left := _builds(engine, bread)):
            assert killed.poll() is None
            time.sleep(0.05)
    finally:
        killed.kill()
        killed.wait()
    goes_on = subprocess.Popen(command, start_new_session=True)
    try:
        while not (living := _builds(engine, bread) - left):
            assert goes_on.poll() is None
            time.sleep(0.05)
        next_(engine, runtime_image)

        assert _builds(engine, bread) == living
    finally:
        goes_on.send_signal(signal.SIGINT)
        goes_on.wait()
    assert _builds(engine, bread) == set()


def _builds(engine: APIClient, word: str) -> set[str]:
    """Containers in which a build of this word runs, or ran."""
    return {each["Id"] for each in engine.containers(all=True) if word in each["Command"]}


def test_an_image_that_is_built_again_takes_no_room_twice_unless_something_runs_from_the_old_one(
    engine: APIClient, runtime_image: str
) -> None:
    name = f"treelings-test-{secrets.token_hex(4)}:1"

    def built() -> str:
        build_layer(engine, parent=runtime_image, script="", name=name)
        image = find_image(engine, name)
        assert image is not None
        return str(image["Id"])

    first, second = built(), built()
    assert find_image(engine, first) is None
    container = engine.create_container(second)["Id"]
    try:
        built()
        assert find_image(engine, second) is not None
    finally:
        engine.remove_container(container)
        engine.remove_image(second)
        engine.remove_image(name)
    assert find_image(engine, runtime_image) is not None


def test_files_of_a_layer_are_roots_and_readable_by_all(engine: APIClient, runtime_image: str) -> None:
    name = f"treelings-test-{secrets.token_hex(4)}:1"
    archive = Archive()
    archive.add("/opt/one/two/file", b"content")
    script = """
import os
for path in ("/opt/one", "/opt/one/two", "/opt/one/two/file"):
    status = os.stat(path)
    print(status.st_uid, oct(status.st_mode))
print(open("/opt/one/two/file").read())
"""
    build_layer(engine, parent=runtime_image, script=script, name=name, files=archive.bytes())
    try:
        image = find_image(engine, name)
        assert image is not None
        assert image["Config"]["Labels"][SAYS] == r"0 0o40755\n0 0o40755\n0 0o100644\ncontent"
    finally:
        engine.remove_image(name)


@pytest.mark.usefixtures("runtime_image")
@pytest.mark.parametrize("wish", ["auto", "docker"])
def test_where_an_engine_answers_bots_run_in_containers_and_there_is_nothing_to_warn_of(
    wish: Literal["auto", "docker"],
) -> None:
    sandbox, note = choose_sandbox(wish, league="test", limits=Limits(), report=print)

    assert (sandbox.name, note) == ("docker", None)


@pytest.mark.usefixtures("runtime_image")
def test_the_examination_of_this_machine_finds_the_image() -> None:
    checks = {check.name: check for check in examine()}

    assert checks["runtime image"].level == "ok"
    assert checks["memory limit"].level == "ok"
