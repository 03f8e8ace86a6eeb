"""One more layer on an image: put files in, run a script, keep the result, or some files of it alone."""

import io
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from docker import APIClient
from docker.errors import APIError

from referee.errors import SandboxError
from referee.sandbox.container import remove_container
from referee.sandbox.engine import engine_errors, find_image
from referee.sandbox.run import Run
from referee.text import printable

Report = Callable[[str], None]
"""Is handed a line of progress, fit to be shown."""

SAYS: Final = "treelings.says"
"""Label of an image that holds what the script of its layer printed."""

_SCRIPT_TIMEOUT_S: Final = 300
_LONGEST_LOG: Final = 1_000
_NAME: Final = "treelings-build-"  # of a container, and whose it is; not a label, which its image would inherit
NOBODY: Final = "65534:65534"


def build_layer(
    engine: APIClient,
    *,
    parent: str,
    script: str,
    name: str,
    files: bytes | None = None,
    labels: dict[str, str] | None = None,
    run_by: tuple[str, str] = ("python3", "-c"),
) -> None:
    """Make the image `name` ("repository:tag") from `parent`.

    `files` is a tar archive that is unpacked at /; `script` is run by a program of the image's own (`run_by`) as
    root, without a network, and what it prints is kept in the label SAYS. Raises SandboxError if it fails,
    EngineGone; the container in which it ran is gone in any case.
    """
    repository, _, tag = name.partition(":")
    with (
        in_place_of(engine, name),
        _ran(engine, f"building {name}", parent, [*run_by, script], files) as container,
    ):
        says = engine.logs(container, stdout=True, stderr=False).decode("utf-8", "replace").strip()
        engine.commit(
            container,
            repository=repository,
            tag=tag,
            conf={
                "Cmd": [run_by[0]],
                "Entrypoint": [],
                "User": NOBODY,
                "Labels": {**(labels or {}), SAYS: printable(says, _LONGEST_LOG)},
            },
        )


def made_by(
    engine: APIClient, image: str, command: list[str], *, doing: str, files: bytes, folder: str
) -> dict[str, bytes]:
    """What a command leaves in a folder of a container that is gone afterwards: files by their paths below it.

    `files` is a tar archive that is unpacked at / before; the command runs as root, without a network. `doing` says
    for messages what it is for. Raises SandboxError if it fails, EngineGone.
    """
    with _ran(engine, doing, image, command, files) as container:
        chunks, _ = engine.get_archive(container, folder)
        with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as tar:
            return {
                entry.name.partition("/")[2]: content.read() for entry in tar if (content := tar.extractfile(entry))
            }


@contextmanager
def in_place_of(engine: APIClient, name: str) -> Iterator[None]:
    """Where the block gives this name to another image, what had it before is removed, with all that only it needs.

    What containers run from or images stand on stays. Raises SandboxError, EngineGone.
    """
    before = find_image(engine, name)
    yield
    if before is not None:
        now = find_image(engine, before["Id"])
        if now is not None and not now["RepoTags"]:
            with engine_errors(f"removing the old {name}"), suppress(APIError):
                engine.remove_image(before["Id"])


@contextmanager
def _ran(engine: APIClient, doing: str, image: str, command: list[str], files: bytes | None) -> Iterator[str]:
    """A container in which a command has run to its good end."""
    sweep_builds(engine)
    with engine_errors(doing):
        container = engine.create_container(
            image,
            name=f"{_NAME}{Run.new()}",
            entrypoint=command,
            user="0:0",
            host_config=engine.create_host_config(network_mode="none"),
        )["Id"]
        try:
            if files is not None:
                engine.put_archive(container, "/", io.BytesIO(files))
            engine.start(container)
            code = engine.wait(container, timeout=_SCRIPT_TIMEOUT_S)["StatusCode"]
            if code != 0:
                log = engine.logs(container, tail=20).decode("utf-8", "replace").strip()
                raise SandboxError(f"{doing}: its script ended with {code}: {printable(log, _LONGEST_LOG)}")
            yield container
        finally:
            engine.remove_container(container, force=True, v=True)


def sweep_builds(engine: APIClient) -> None:
    """Remove the containers that killed builds have left. Raises SandboxError, EngineGone."""
    with engine_errors("looking for leftovers"):
        found = engine.containers(all=True, filters={"name": _NAME})
    for container in found:
        for name in container["Names"]:
            run = Run.parse(name.removeprefix(f"/{_NAME}"))
            if run is not None and run.is_dead():
                remove_container(engine, container["Id"])


class Archive:
    """A tar archive in the making, in which everything belongs to root and is readable by all."""

    def __init__(self) -> None:
        self._buffer = io.BytesIO()
        self._tar = tarfile.open(fileobj=self._buffer, mode="w")  # noqa: SIM115 - closed by `bytes`
        self._folders: set[str] = set()

    def add(self, name: str, content: bytes, mode: int = 0o644) -> None:
        """Add a file under its path from /, with the folders above it."""
        parts = name.strip("/").split("/")
        for depth in range(1, len(parts)):
            self.add_folder("/".join(parts[:depth]))
        entry = tarfile.TarInfo("/".join(parts))
        entry.size, entry.mode = len(content), mode
        self._tar.addfile(entry, io.BytesIO(content))

    def add_folder(self, name: str) -> None:
        """Add a folder under its path from /, if it is not there yet."""
        name = name.strip("/")
        if name not in self._folders:
            self._folders.add(name)
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            self._tar.addfile(entry)

    def bytes(self) -> bytes:
        """The archive; nothing can be added any more."""
        self._tar.close()
        return self._buffer.getvalue()
