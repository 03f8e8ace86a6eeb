"""The runtime image `native`: no system at all, for programs that bring everything along.

Nothing but a launcher of less than 400 bytes is in it, since something must send a bot's output to its file
(output.py), and there is no shell. It opens the file named by its first argument for appending, makes it stdout and
stderr, and becomes the program named by its second. It is written down here as machine code, so that the image takes
neither a compiler nor a network to build: its source is in tests/support/launcher, and a test assembles that.
"""

import hashlib
import struct
from typing import Final

from docker import APIClient

from referee.errors import SandboxError
from referee.sandbox.engine import engine_errors, find_image
from referee.sandbox.layer import NOBODY, SAYS, Archive, in_place_of
from referee.text import printable

REPOSITORY: Final = "treelings-runtime-native"
LAUNCHER: Final = "/launch"
"""Takes the file for the output, the program and its arguments."""

_REFUSAL: Final = (
    b"the command's program cannot be run: expected one for this machine that is linked statically, or the loader "
    b"that comes with its libraries\n"
)
_LENGTH: Final = len(_REFUSAL).to_bytes(4, "little")
_X86_64: Final = (
    bytes.fromhex(
        "488b7c2410be01040000b8020000000f0589c7be01000000b8210000000f05be02000000b8210000000f05b803000000"
        "0f05488b7c2418488d742418488b0c24488d54cc10b83b0000000f05bf02000000488d3518000000ba"
    )
    + _LENGTH
    + bytes.fromhex("b8010000000f05bf7f000000b83c0000000f05")
)
_AARCH64: Final = (
    bytes.fromhex(
        "600c8092e10b40f9228080d2080780d2010000d4f30300aa210080d2020080d2080380d2010000d4e00313aa410080d2"
        "010000d4e00313aa280780d2010000d4e00f40f9e1630091e20340f9e26f228b42400091a81b80d2010000d4400080d2"
        "01010010c2000018080880d2010000d4e00f80d2a80b80d2010000d4"
    )
    + _LENGTH
)
_MACHINES: Final = {"amd64": (62, _X86_64), "arm64": (183, _AARCH64)}  # ELF's number of a machine, and code for it
_AT: Final = 0x400000
_HEADERS_BYTES: Final = 64 + 56


def launcher(arch: str) -> bytes:
    """The launcher as an ELF file, for a machine as an engine names it. Raises SandboxError for other machines."""
    if arch not in _MACHINES:
        raise SandboxError(f"the engine's machine: expected one of {', '.join(_MACHINES)}, got {printable(arch, 40)}")
    machine, code = _MACHINES[arch]
    size = _HEADERS_BYTES + len(code) + len(_REFUSAL)
    file_header = struct.pack(
        "<4sBBBBB7xHHIQQQIHHHHHH",
        b"\x7fELF", 2, 1, 1, 0, 0, 2, machine, 1, _AT + _HEADERS_BYTES, 64, 0, 0, 64, 56, 1, 64, 0, 0,
    )  # fmt: skip
    loaded = struct.pack("<IIQQQQQQ", 1, 5, 0, _AT, _AT, size, size, 0x10000)  # readable and executable
    return file_header + loaded + code + _REFUSAL


def image_name() -> str:
    """Name and tag of the image that this version of the referee builds."""
    digest = hashlib.sha256(b"".join(launcher(arch) for arch in _MACHINES))
    return f"{REPOSITORY}:{digest.hexdigest()[:12]}"


def build(engine: APIClient) -> None:
    """Build it, for which nothing but the engine is needed. Raises SandboxError, EngineGone."""
    repository, _, tag = image_name().partition(":")
    with in_place_of(engine, image_name()), engine_errors(f"building {image_name()}"):
        archive = Archive()
        archive.add(LAUNCHER, launcher(str(engine.version()["Arch"])), mode=0o755)
        engine.import_image_from_data(
            archive.bytes(), repository=repository, tag=tag, changes=[f"USER {NOBODY}", f"LABEL {SAYS}=nothing"]
        )
    if find_image(engine, image_name()) is None:
        raise SandboxError(f"{image_name()}: the engine took it and does not have it")
