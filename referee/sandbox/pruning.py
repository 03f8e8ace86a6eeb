"""The images of ours that this version does not ask for: which they are, and how they go."""

from collections.abc import Iterator
from contextlib import suppress

from docker import APIClient
from docker.errors import NotFound

from referee.errors import EngineGone, SandboxError
from referee.sandbox import base, core, image, native, node
from referee.sandbox.engine import engine_errors
from referee.sandbox.layer import SAYS
from referee.sandbox.runtimes import RUNTIMES, image_status

_REPOSITORIES = {*base.REPOSITORIES, core.REPOSITORY, image.REPOSITORY, node.REPOSITORY, native.REPOSITORY}


def unused_images(engine: APIClient) -> tuple[str, ...]:
    """Names of the images that earlier versions of the referee or the kit asked for, and ids of those without a name.

    What the present images are made from is no such image: the next build needs it. Raises SandboxError, EngineGone.
    """
    asked = {image_status(engine, runtime).wanted for runtime in RUNTIMES} | image.made_from(engine)
    with engine_errors("looking for old images"):
        named = {tag for found in engine.images() for tag in found["RepoTags"] or []}
        # Two builds at once, on two machines with one engine, leave such.
        unnamed = [found["Id"] for found in engine.images(filters={"dangling": True, "label": SAYS})]
    return *sorted(name for name in named - asked if name.partition(":")[0] in _REPOSITORIES), *unnamed


def remove_images(engine: APIClient, names: tuple[str, ...]) -> Iterator[tuple[str, str | None]]:
    """Remove images, with all that only they need: yields each with None, or why it stays, as one that bots run from.

    Raises EngineGone.
    """
    for name in names:
        try:
            # What is not found went with another, or somebody else was faster.
            with engine_errors("removing it"), suppress(NotFound):
                engine.remove_image(name)
        except EngineGone:
            raise
        except SandboxError as error:
            yield name, str(error)
        else:
            yield name, None
