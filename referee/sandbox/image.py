"""The runtime image `python`: a slim Python with grpcio, protobuf and the SDK, compiled, ready for any submission.

It has three layers of ours: a base (base.py), which only a new Python asks for, the core of the SDK in machine code
(core.py), which new rules ask for, and on top of them the packages, which a new SDK asks for. Its tag says what is in
it, so what has its tag needs no building. Where the core cannot be compiled, an image without it has a tag of its own.
"""

import hashlib
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Final

from docker import APIClient

import treelings
from referee.errors import EngineGone, SandboxError
from referee.sandbox import core
from referee.sandbox.base import (
    RECIPE,
    Base,
    BaseUnavailable,
    Source,
    cached_base,
    debian_base,
    kept_names,
    slim_base,
)
from referee.sandbox.engine import engine_errors, find_image, patience
from referee.sandbox.layer import Archive, Report, build_layer
from referee.sandbox.wheels import fetch_wheels
from referee.text import printable
from referee.work_folder import work_folder

Files = list[tuple[str, bytes]]

REPOSITORY: Final = "treelings-runtime-python"
PLAIN: Final = "-plain"
"""Ends the tag of an image whose bots play on the SDK's core as plain Python."""

_BASE: Final = "treelings.base"
_SLOWER: Final = (
    "the kit's core is plain Python in these bots' image, so those that simulate are two to four times slower"
)
_TRY_AGAIN: Final = "`treelings image build --force` tries to compile it again"
_BUILD_TIMEOUT_S: Final = 300  # each answer; an import or a commit writes some hundred megabytes
_MACHINES: Final = {"amd64": "x86_64", "arm64": "aarch64"}
_WAYS: Final = {"slim": slim_base, "debian": debian_base}

_INSTALL: Final = r"""
import compileall, py_compile, sys, sysconfig

compileall.compile_dir(
    sysconfig.get_path("purelib"),
    quiet=1,
    force=True,
    workers=0,
    invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
) or sys.exit("the packages do not compile")
import google.protobuf, grpc, treelings.rules, treelings.server
print("python", sys.version.split()[0], "grpcio", grpc.__version__, "protobuf", google.protobuf.__version__, end=" ")
print("core", "plain" if treelings.rules.__file__.endswith(".py") else "compiled")
"""


def wanted_image() -> str:
    """Name and tag of the image with the SDK that is installed here, its core compiled."""
    return image_name(_sdk_files())


def image_name(sdk: Files) -> str:
    """Name and tag of the image with this SDK, given as its files: paths below its package folder, and contents."""
    digest = hashlib.sha256(repr((RECIPE, core.RECIPE, _INSTALL, _requirements())).encode())
    for name, content in sdk:
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return f"{REPOSITORY}:{metadata.version('treelings')}-{digest.hexdigest()[:12]}"


def found_image(engine: APIClient, wanted: str) -> str | None:
    """The image of that name, or the plain one in its place; None if there is neither. Raises EngineGone."""
    return next((name for name in (wanted, wanted + PLAIN) if find_image(engine, name) is not None), None)


def build_image(engine: APIClient, *, report: Report, source: Source = "auto", force: bool = False) -> str:
    """Build the runtime image if it is not there yet, and return its name.

    `source` is where its Python comes from: "slim" from an image registry, "debian" from Debian packages (as
    root), "auto" from the first that works. `force` builds all of it anew, the base as well. Where the core cannot be
    compiled, a first image has it as plain Python, and `report` is told so, now and at each later call. Raises
    SandboxError saying what failed and what to do, EngineGone; a build that fails leaves nothing behind.
    """
    sdk = _sdk_files()  # read once: what is named is what is built, whoever edits it meanwhile
    wanted = image_name(sdk)
    found = None if force else found_image(engine, wanted)
    if found is not None:
        if found != wanted:
            report(f"{_SLOWER}; {_TRY_AGAIN}")
        return found
    with patience(engine, _BUILD_TIMEOUT_S):
        base = _base(engine, source, report, fresh=force)
        machine = _machine(engine)
        report(f"getting {' and '.join(_requirements())} for Python {base.python}")
        files = _packages(base, sdk, machine)
        try:
            parent = core.compiled_core(engine, base, dict(sdk), machine, report=report, fresh=force)
        except SandboxError as error:
            if isinstance(error, EngineGone) or find_image(engine, wanted) is not None:
                raise
            report(f"{_SLOWER} ({error}); {_TRY_AGAIN}")
            parent, wanted = base.name, wanted + PLAIN
        report("putting the packages in")
        build_layer(engine, parent=parent, script=_INSTALL, name=wanted, files=files, labels={_BASE: base.name})
    report(f"built {wanted}")
    return wanted


def made_from(engine: APIClient) -> set[str]:
    """Names of the images that the present one is made from, and that its next build needs. Raises EngineGone."""
    sdk, machine = dict(_sdk_files()), _machine(engine)
    bases = [base for source in _WAYS if (base := cached_base(engine, source))]
    return kept_names() | {core.core_name(base, sdk, machine) for base in bases}


def _base(engine: APIClient, source: Source, report: Report, *, fresh: bool) -> Base:
    names = tuple(_WAYS) if source == "auto" else (source,)
    for name in () if fresh else names:
        if cached := cached_base(engine, name):
            return cached
    closed = []
    for name in names:
        try:
            return _WAYS[name](engine, report)
        except BaseUnavailable as error:
            report(f"{name}: {error}")
            closed.append(f"{name}: {error}")
    raise SandboxError(
        f"the runtime image cannot be built: {'; '.join(closed)}. Let the engine reach an image registry, or run "
        "`treelings image build` as root on Debian with debootstrap installed"
    )


def _requirements() -> tuple[str, ...]:
    return tuple(f"{name}=={metadata.version(name)}" for name in ("grpcio", "hpack", "protobuf"))


def _sdk_files() -> Files:
    """The SDK as it is installed here: path below its package folder, and content."""
    folder = Path(treelings.__file__).parent
    return [
        (path.relative_to(folder).as_posix(), path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.suffix in {".py", ".pyi", ".typed"} and "__pycache__" not in path.parts
    ]


def _packages(base: Base, sdk: Files, machine: str) -> bytes:
    """A tar archive of the SDK and all that it needs, for the engine's machine and the base's Python."""
    archive = Archive()
    with work_folder(Path(tempfile.gettempdir()), "treelings-packages-") as folder:
        # What these pull in comes in the version that is installed here as well.
        constraints = folder / "constraints.txt"
        constraints.write_text("".join(f"{dist.name}=={dist.version}\n" for dist in metadata.distributions()))
        for name, content in fetch_wheels(
            folder / "packages", _requirements(), base.python, machine, "--constraint", str(constraints)
        ):
            archive.add(f"{base.packages}/{name}", content)
    for name, content in sdk:
        archive.add(f"{base.packages}/treelings/{name}", content)
    return archive.bytes()


def _machine(engine: APIClient) -> str:
    with engine_errors("asking for the engine's version"):
        arch = str(engine.version()["Arch"])
    if arch not in _MACHINES:
        raise SandboxError(f"the engine's machine: expected one of {', '.join(_MACHINES)}, got {printable(arch, 40)}")
    return _MACHINES[arch]
