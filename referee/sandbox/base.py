"""What a runtime image stands on: an official slim image from a registry, or a minimal Debian with one package.

For Python, that is prepared: its standard library compiled, nothing setuid.
"""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from docker import APIClient

from referee.errors import SandboxError
from referee.sandbox.apt import PackageArchive, system_archive
from referee.sandbox.engine import engine_errors, find_image, patience
from referee.sandbox.layer import SAYS, Report, build_layer, in_place_of
from referee.text import printable
from referee.work_folder import work_folder

Source = Literal["auto", "slim", "debian"]
"""Where an image's system comes from: an image registry, Debian packages (as root), or the first that works."""

SLIM_TAG: Final = "3.13-slim"
_BASE_SLIM: Final = "treelings-base-slim"
_BASE_DEBIAN: Final = "treelings-base-debian"
_COMPILER: Final = "treelings-compiler-debian"
REPOSITORIES: Final = (_BASE_SLIM, _BASE_DEBIAN, _COMPILER)
"""Of the images that are kept on an engine to make runtime images from."""

_SLIM: Final = "python"
_REGISTRY_TIMEOUT_S: Final = 15
_DEBOOTSTRAP_TIMEOUT_S: Final = 900
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_SURPLUS: Final = (
    "usr/share/doc", "usr/share/man", "usr/share/info", "usr/share/locale", "usr/share/lintian",
    "usr/share/bash-completion", "var/cache/apt", "var/cache/debconf", "var/lib/apt/lists", "var/log",
)  # fmt: skip

_PREPARE: Final = r"""
import compileall, json, os, py_compile, re, shutil, stat, sys, sysconfig

if sys.version_info < (3, 11):
    sys.exit(f"expected Python 3.11 or newer, got {sys.version.split()[0]}")
if shutil.which("python") is None:
    os.symlink(sys.executable, "/usr/local/bin/python")
# Nobody needs to become another user in here.
for top in ("/bin", "/sbin", "/usr", "/opt", "/var", "/etc"):
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            if stat.S_ISREG(mode) and mode & 0o6000:
                os.chmod(path, mode & 0o777)
# Without .pyc files a bot takes nearly twice as long to start, and a read-only container can write none.
compileall.compile_dir(
    sysconfig.get_path("stdlib"),
    quiet=2,
    force=True,
    workers=0,
    rx=re.compile(r"/(tests?|idlelib|lib2to3|site-packages|dist-packages)/"),
    invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
) or sys.exit("the standard library does not compile")
print(json.dumps({"python": "%d.%d" % sys.version_info[:2], "packages": sysconfig.get_path("purelib")}))
"""

RECIPE: Final = hashlib.sha256(repr((_PREPARE, _SURPLUS)).encode()).hexdigest()[:8]


@dataclass(frozen=True, slots=True)
class Base:
    """An image to put the SDK on.

    source    where its system comes from: "slim" or "debian"
    python    its Python, e.g. "3.11"
    packages  the folder that its Python imports packages from
    """

    name: str
    source: str
    python: str
    packages: str


class BaseUnavailable(SandboxError):
    """This way to a base image is closed on this machine; the text says why, in a few words."""


def cached_base(engine: APIClient, source: str) -> Base | None:
    """The base that an earlier build of this source ("slim" or "debian") left on the engine."""
    if source == "slim":
        return _find(engine, _slim_name(), source)
    archive = system_archive()
    return _find(engine, _debian_name(archive), source) if archive else None


def _slim_name() -> str:
    return f"{_BASE_SLIM}:{SLIM_TAG.removesuffix('-slim')}-{RECIPE}"


def _debian_name(archive: PackageArchive) -> str:
    return f"{_BASE_DEBIAN}:{archive.suite}-{RECIPE}"


def _compiler_name(archive: PackageArchive) -> str:
    return f"{_COMPILER}:{archive.suite}"


def kept_names() -> set[str]:
    """Names of the images that this version keeps to make runtime images from, those that there are and others."""
    archive = system_archive()
    return {_slim_name()} | ({_debian_name(archive), _compiler_name(archive)} if archive else set())


def slim_base(engine: APIClient, report: Report) -> Base:
    """The official slim Python image, prepared. Raises BaseUnavailable if the registry does not answer soon."""
    pull(engine, f"{_SLIM}:{SLIM_TAG}", report)
    return _prepare(engine, f"{_SLIM}:{SLIM_TAG}", _slim_name(), "slim", report)


def pull(engine: APIClient, name: str, report: Report) -> None:
    """Get an official image from the registry. Raises BaseUnavailable if that does not answer soon."""
    report(f"asking the registry for {name}")
    try:
        with engine_errors("asking the registry"), patience(engine, _REGISTRY_TIMEOUT_S):
            engine.inspect_distribution(name)  # type: ignore[no-untyped-call]  # so in types-docker
    except SandboxError as error:
        raise BaseUnavailable(f"no answer for {name} from the image registry ({error})") from error
    report(f"pulling {name}")
    repository, _, tag = name.partition(":")
    with engine_errors(f"pulling {name}"):
        for event in engine.pull(repository, tag=tag, stream=True, decode=True):
            if "error" in event:
                raise BaseUnavailable(f"pulling {name}: {printable(str(event['error']), 300)}")


def debian_base(engine: APIClient, report: Report) -> Base:
    """A minimal Debian with Python, put together by debootstrap from this machine's own package archive.

    Raises BaseUnavailable where that cannot be done, SandboxError if it fails.
    """
    with debian(engine, "python3", report) as (archive, raw):
        return _prepare(engine, raw, _debian_name(archive), "debian", report)


def with_compiler(engine: APIClient, base: Base, report: Report, *, fresh: bool) -> str:
    """The name of an image of the same source and Python as a base, with a C compiler and Python's headers.

    It stays on the engine, since what changes the rules asks for it again; `fresh` gets another one. Raises
    BaseUnavailable, SandboxError.
    """
    archive = system_archive()
    if base.source == "slim" or archive is None:
        name = f"{_SLIM}:{SLIM_TAG.removesuffix('-slim')}"
        if fresh or find_image(engine, name) is None:
            pull(engine, name, report)
        return name
    name = _compiler_name(archive)
    if fresh or find_image(engine, name) is None:
        with (
            in_place_of(engine, name),
            debian(engine, "gcc,python3-dev", report) as (_, raw),
            engine_errors("naming the image with a compiler"),
        ):
            engine.tag(raw, _COMPILER, tag=archive.suite)
    return name


@contextmanager
def debian(engine: APIClient, package: str, report: Report) -> Iterator[tuple[PackageArchive, str]]:
    """A minimal Debian with a package and what that needs: where it comes from, and the id of its image.

    The image is removed again if what is made of it fails. Raises BaseUnavailable, SandboxError.
    """
    archive = system_archive()
    if archive is None:
        raise BaseUnavailable("apt's sources name no archive of this system, or this is no Debian")
    if os.geteuid() != 0:
        raise BaseUnavailable("putting it together from Debian packages takes root")
    if shutil.which("debootstrap") is None:
        raise BaseUnavailable("debootstrap is not installed (apt-get install debootstrap)")
    report(f"putting together Debian {archive.suite} with {package} by debootstrap (about a minute)")
    raw = _import_debian(engine, archive, package)
    try:
        yield archive, raw
    except BaseException:
        with engine_errors("removing what is left of the build"):
            engine.remove_image(raw, force=True)
        raise


def _find(engine: APIClient, name: str, source: str) -> Base | None:
    image = find_image(engine, name)
    return Base(name, source, **json.loads(image["Config"]["Labels"][SAYS])) if image else None


def _prepare(engine: APIClient, parent: str, name: str, source: str, report: Report) -> Base:
    report("compiling the standard library")
    build_layer(engine, parent=parent, script=_PREPARE, name=name)
    base = _find(engine, name, source)
    if base is None:
        raise SandboxError(f"{name}: it was there a moment ago; is something else removing images?")
    return base


def _import_debian(engine: APIClient, archive: PackageArchive, package: str) -> str:
    """The id of the imported image."""
    with work_folder(Path(tempfile.gettempdir()), "treelings-debian-") as folder:
        root = folder / "root"
        keyring = [f"--keyring={archive.keyring}"] if archive.keyring else []
        _run_alone(
            # In mount and process namespaces of its own: whatever it mounts or starts ends with it.
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "debootstrap", "--variant=minbase",
             f"--include={package}", *keyring, archive.suite, str(root), archive.uri],
        )  # fmt: skip
        for surplus in _SURPLUS:
            shutil.rmtree(root / surplus, ignore_errors=True)
        pack = subprocess.Popen(["tar", "--numeric-owner", "-C", str(root), "-c", "."], stdout=subprocess.PIPE)
        try:
            with engine_errors("importing Debian"):
                answer = engine.import_image_from_stream(pack.stdout, changes=[f"ENV PATH={_PATH}"])
        finally:
            if pack.stdout is not None:
                pack.stdout.close()
            code = pack.wait(timeout=60)
    if code != 0:
        raise SandboxError(f"importing Debian: tar ended with {code}")
    for line in answer.splitlines():
        event = json.loads(line)
        if "error" in event:
            raise SandboxError(f"importing Debian: {printable(str(event['error']), 300)}")
    return str(event["status"])


def reasons(log: str) -> str:
    """What debootstrap says of its failure, in one line: its errors and warnings, or else its last lines."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return printable("; ".join([line for line in lines if line.startswith(("E: ", "W: "))] or lines[-3:]), 700)


def _run_alone(command: list[str]) -> None:
    """Run a tool with all its children in a process group that ends with it. Raises SandboxError."""
    what = next(part for part in command if part == "debootstrap")
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            code = process.wait(timeout=_DEBOOTSTRAP_TIMEOUT_S)
        except subprocess.TimeoutExpired as error:
            raise SandboxError(f"{what}: not done after {_DEBOOTSTRAP_TIMEOUT_S} s") from error
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if code != 0:
            log.seek(max(0, log.tell() - 600))
            raise SandboxError(f"{what} ended with {code}: {reasons(log.read().decode('utf-8', 'replace'))}")
