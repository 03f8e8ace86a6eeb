"""The runtimes that a submission may ask for, and the image of each: there or not, its name, how it is built."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from docker import APIClient

from referee.errors import SandboxError
from referee.lock import one_after_another
from referee.sandbox import image as python
from referee.sandbox import native, node
from referee.sandbox.base import Source
from referee.sandbox.engine import engine_errors, find_image
from referee.sandbox.layer import SAYS, Report
from referee.text import printable

RUNTIMES: Final = ("python", "node", "native")
"""Names that a submission may give as its runtime."""


@dataclass(frozen=True, slots=True)
class ImageStatus:
    """A runtime's image on an engine.

    wanted   its name, with the tag that this version of the referee and of the kit asks for; of python's, where only
             the one is there whose core is plain, that one's
    says     what it holds, e.g. "python 3.11.2 grpcio …"; None if it is not there
    older    images of this runtime for other versions
    """

    runtime: str
    wanted: str
    says: str | None
    older: tuple[str, ...]

    @property
    def is_plain(self) -> bool:
        """Whether bots play on the kit's core as plain Python, since it could not be compiled for this image."""
        return self.wanted.endswith(python.PLAIN)


def wanted_image(runtime: str = "python") -> str:
    """Name and tag of the image that bots of a runtime are to be run in. Raises SandboxError for an unknown runtime."""
    match runtime:
        case "python":
            return python.wanted_image()
        case "node":
            return node.image_name()
        case "native":
            return native.image_name()
    raise SandboxError(f"runtime: expected one of {', '.join(RUNTIMES)}, got {printable(runtime, 40)!r}")


def found_image(engine: APIClient, runtime: str = "python") -> str | None:
    """The image on the engine that bots of a runtime are run in; None if it is not there. Raises EngineGone.

    It is the wanted one, or for python one with the kit's core as plain Python, where that could not be compiled.
    """
    wanted = wanted_image(runtime)
    if runtime == "python":
        return python.found_image(engine, wanted)
    return None if find_image(engine, wanted) is None else wanted


def image_status(engine: APIClient, runtime: str = "python") -> ImageStatus:
    """Whether a runtime's image is there and up to date. Raises EngineGone."""
    wanted = found_image(engine, runtime) or wanted_image(runtime)
    with engine_errors("looking for runtime images"):
        found = engine.images(name=wanted.partition(":")[0])
    tags = {tag for image in found for tag in image["RepoTags"] or []}
    image = find_image(engine, wanted)
    says = str(image["Config"]["Labels"][SAYS]) if image else None
    return ImageStatus(runtime, wanted, says, tuple(sorted(tags - {wanted})))


def build_image(
    engine: APIClient, runtime: str = "python", *, report: Report, source: Source = "auto", force: bool = False
) -> str:
    """Build a runtime's image if it is not there yet, and return its name.

    `force` builds all of it anew. Where another process of this user builds one here, waits for its end, and finds the
    image there then, or most that it is made from. Raises SandboxError saying what failed and what to do, EngineGone; a
    build that fails leaves nothing behind.
    """
    there = not force and found_image(engine, runtime) is not None
    with nullcontext() if there else one_build(report):
        return _build_image(engine, runtime, report, source, force=force)


@contextmanager
def one_build(report: Report) -> Iterator[None]:
    """While this is held, no other process of this user builds or removes images here; waits for one that does.

    Raises SandboxError if the file that says so cannot be held.
    """
    path = Path(tempfile.gettempdir()) / f"treelings-build-{os.geteuid()}.lock"
    with ExitStack() as held:
        try:
            held.enter_context(
                one_after_another(path, lambda: report("another process builds images here: waiting for its end"))
            )
        except OSError as error:  # such as a file that another user has put there
            raise SandboxError(
                f"{path}: it cannot be locked against other builds of images ({error.strerror}); "
                "remove it, or set TMPDIR to a folder of your own"
            ) from error
        yield


def _build_image(engine: APIClient, runtime: str, report: Report, source: Source, *, force: bool) -> str:
    if runtime == "python":
        return python.build_image(engine, report=report, source=source, force=force)
    wanted = wanted_image(runtime)
    if force or find_image(engine, wanted) is None:
        if runtime == "node":
            node.build(engine, source, report)
        else:
            native.build(engine)
        report(f"built {wanted}")
    return wanted
