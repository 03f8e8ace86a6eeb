"""The committed code of treelings.v1 is what the .proto files give."""

import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

import treelings.v1
from treelings.codec import METHOD, SERVICE
from treelings.v1.game_pb2 import BotMessage, RefereeMessage

ROOT = Path(__file__).parents[2]
GENERATED = ("game_pb2.py", "game_pb2.pyi")


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the command of `make proto` writes."""
    folder = tmp_path_factory.mktemp("generated")
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I", "proto", f"--python_out={folder}",
               f"--pyi_out={folder}", "proto/treelings/v1/game.proto"]  # fmt: skip
    subprocess.run(command, cwd=ROOT, check=True)
    return folder / "treelings" / "v1"


@pytest.mark.parametrize("name", GENERATED)
def test_generated_code_is_up_to_date_with_the_proto(fresh: Path, name: str) -> None:
    committed = Path(treelings.v1.__path__[0]) / name
    assert committed.read_bytes() == (fresh / name).read_bytes(), f"{name} is stale; run: make proto"


def test_nothing_else_is_committed_beside_the_generated_code() -> None:
    files = {path.name for path in Path(treelings.v1.__path__[0]).iterdir() if path.is_file()}
    assert files == {"__init__.py", *GENERATED}


def test_the_service_is_the_one_that_the_codec_names(tmp_path: Path) -> None:
    out = tmp_path / "descriptors"
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I", "proto", f"--descriptor_set_out={out}",
               "proto/treelings/v1/bot.proto"]  # fmt: skip
    subprocess.run(command, cwd=ROOT, check=True)
    (file,) = FileDescriptorSet.FromString(out.read_bytes()).file
    (service,) = file.service
    (method,) = service.method
    assert f"{file.package}.{service.name}" == SERVICE
    assert method.name == METHOD
    assert method.client_streaming
    assert method.server_streaming
    assert method.input_type == f".{RefereeMessage.DESCRIPTOR.full_name}"
    assert method.output_type == f".{BotMessage.DESCRIPTOR.full_name}"
