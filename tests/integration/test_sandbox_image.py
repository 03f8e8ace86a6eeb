"""What every runtime image gives, wherever its Python comes from."""

import pytest
from docker import APIClient

from referee.sandbox.image import build_image, image_status, wanted_image

pytestmark = pytest.mark.docker

CONTRACT = r"""
import importlib, os, pathlib, shutil, stat, sys, sysconfig

assert sys.version_info >= (3, 11), sys.version
assert os.getuid() == 54321, os.getuid()
assert os.path.realpath(shutil.which("python")) == os.path.realpath(sys.executable), sys.executable
import asyncio, json, ssl, sqlite3, statistics, unittest, zoneinfo
import google.protobuf, grpc, grpc.aio, treelings, treelings.server

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


def test_the_contract_holds_for_any_user_without_a_network(engine: APIClient, runtime_image: str) -> None:
    container = engine.create_container(
        runtime_image,
        entrypoint=["python", "-c", CONTRACT],
        user="54321:54321",
        host_config=engine.create_host_config(network_mode="none", read_only=True, cap_drop=["ALL"]),
    )["Id"]
    try:
        engine.start(container)
        engine.wait(container, timeout=60)
        assert engine.logs(container) == b"kept\n"
    finally:
        engine.remove_container(container, force=True)


def test_an_image_that_is_there_is_not_built_again(engine: APIClient, runtime_image: str) -> None:
    lines: list[str] = []

    assert build_image(engine, report=lines.append) == runtime_image
    assert lines == [f"{runtime_image} is there already"]


def test_the_status_tells_what_the_image_holds(engine: APIClient, runtime_image: str) -> None:
    status = image_status(engine)

    assert status.wanted == runtime_image == wanted_image()
    assert status.says is not None
    assert status.says.startswith("python 3.")
    assert "grpcio" in status.says
    assert runtime_image not in status.older


def test_an_image_is_nobodys_to_be_root_in(engine: APIClient, runtime_image: str) -> None:
    config = engine.inspect_image(runtime_image)["Config"]  # type: ignore[no-untyped-call]  # so in types-docker

    assert config["User"] == "65534:65534"
