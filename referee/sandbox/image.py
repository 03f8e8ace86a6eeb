"""The runtime image `python`: a slim Python with grpcio, protobuf and the SDK, compiled, ready for any submission.

It has two layers of ours: a base (base.py), which only a new Python asks for, and on top of it the packages,
which a new SDK asks for. Its tag says what is in it, so what has its tag needs no building.
"""

import hashlib
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Final

from docker import APIClient

import treelings
from referee.errors import SandboxError
from referee.sandbox.base import RECIPE, Base, BaseUnavailable, Source, cached_base, debian_base, slim_base
from referee.sandbox.engine import engine_errors, find_image, patience
from referee.sandbox.layer import Archive, Report, build_layer
from referee.text import printable
from referee.work_folder import work_folder

Files = list[tuple[str, bytes]]

REPOSITORY: Final = "treelings-runtime-python"
_BASE: Final = "treelings.base"
_PIP_TIMEOUT_S: Final = 600
_BUILD_TIMEOUT_S: Final = 300  # each answer; an import or a commit writes some hundred megabytes
_MACHINES: Final = {"amd64": "x86_64", "arm64": "aarch64"}
_WHEELS: Final = ("manylinux2014", "manylinux_2_28", "manylinux_2_34")

_INSTALL: Final = r"""
import compileall, py_compile, sys, sysconfig

compileall.compile_dir(
    sysconfig.get_path("purelib"),
    quiet=1,
    force=True,
    workers=0,
    invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
) or sys.exit("the packages do not compile")
import google.protobuf, grpc, treelings, treelings.server
print("python", sys.version.split()[0], "grpcio", grpc.__version__, "protobuf", google.protobuf.__version__)
"""


def wanted_image() -> str:
    """Name and tag of the image with the SDK that is installed here."""
    return image_name(_sdk_files())


def image_name(sdk: Files) -> str:
    """Name and tag of the image with this SDK, given as its files: paths below its package folder, and contents."""
    digest = hashlib.sha256(repr((RECIPE, _INSTALL, _requirements())).encode())
    for name, content in sdk:
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return f"{REPOSITORY}:{metadata.version('treelings')}-{digest.hexdigest()[:12]}"


def build_image(engine: APIClient, *, report: Report, source: Source = "auto", force: bool = False) -> str:
    """Build the runtime image if it is not there yet, and return its name.

    `source` is where its Python comes from: "slim" from an image registry, "debian" from Debian packages (as
    root), "auto" from the first that works. `force` builds all of it anew, the base as well. Raises SandboxError
    saying what failed and what to do, EngineGone; a build that fails leaves nothing behind.
    """
    sdk = _sdk_files()  # read once: what is named is what is built, whoever edits it meanwhile
    wanted = image_name(sdk)
    if not force and find_image(engine, wanted) is not None:
        return wanted
    with patience(engine, _BUILD_TIMEOUT_S):
        base = _base(engine, source, report, fresh=force)
        report(f"getting {' and '.join(_requirements())} for Python {base.python}")
        files = _packages(engine, base, sdk)
        report("compiling the packages")
        build_layer(engine, parent=base.name, script=_INSTALL, name=wanted, files=files, labels={_BASE: base.name})
    report(f"built {wanted}")
    return wanted


def _base(engine: APIClient, source: Source, report: Report, *, fresh: bool) -> Base:
    ways = {"slim": slim_base, "debian": debian_base}
    names = tuple(ways) if source == "auto" else (source,)
    for name in () if fresh else names:
        if cached := cached_base(engine, name):
            return cached
    closed = []
    for name in names:
        try:
            return ways[name](engine, report)
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


def _packages(engine: APIClient, base: Base, sdk: Files) -> bytes:
    """A tar archive of the SDK and all that it needs, for the engine's machine and the base's Python."""
    archive = Archive()
    with work_folder(Path(tempfile.gettempdir()), "treelings-packages-") as folder:
        target = folder / "packages"
        _fetch_wheels(target, folder / "constraints.txt", base.python, _machine(engine))
        for path in sorted(target.rglob("*")):
            if path.is_file() and not path.is_symlink():
                archive.add(f"{base.packages}/{path.relative_to(target).as_posix()}", path.read_bytes())
    for name, content in sdk:
        archive.add(f"{base.packages}/treelings/{name}", content)
    return archive.bytes()


def _machine(engine: APIClient) -> str:
    with engine_errors("asking for the engine's version"):
        arch = str(engine.version()["Arch"])
    if arch not in _MACHINES:
        raise SandboxError(f"the engine's machine: expected one of {', '.join(_MACHINES)}, got {printable(arch, 40)}")
    return _MACHINES[arch]


def _fetch_wheels(target: Path, constraints: Path, python: str, machine: str) -> None:
    # What these pull in comes in the version that is installed here as well.
    constraints.write_text("".join(f"{dist.name}=={dist.version}\n" for dist in metadata.distributions()))
    command = [
        sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-compile",
        "--target", str(target), "--only-binary", ":all:", "--implementation", "cp", "--python-version", python,
        *(f"--platform={wheel}_{machine}" for wheel in _WHEELS), "--constraint", str(constraints), *_requirements(),
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PIP_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise SandboxError(f"pip: not done after {_PIP_TIMEOUT_S} s; is the package index reachable?") from error
    if done.returncode != 0:
        said = printable(done.stderr.decode("utf-8", "replace").strip(), 600)
        raise SandboxError(f"pip cannot get {' and '.join(_requirements())} for Python {python}: {said}")
