"""Old images on a real engine: found and removed, one with a container kept, and no other touched."""

import secrets
from collections.abc import Iterator

import pytest
from docker import APIClient

from referee.sandbox.core import REPOSITORY
from referee.sandbox.engine import find_image
from referee.sandbox.layer import SAYS, Archive
from referee.sandbox.pruning import remove_images, unused_images

pytestmark = pytest.mark.docker


@pytest.fixture
def old(engine: APIClient) -> Iterator[str]:
    """An image as of an earlier version; gone afterwards."""
    tag = f"test-{secrets.token_hex(4)}"
    name = f"{REPOSITORY}:{tag}"
    _made(engine, repository=REPOSITORY, tag=tag)
    yield name
    if find_image(engine, name):
        engine.remove_image(name)


def _made(engine: APIClient, **name: str) -> None:
    archive = Archive()
    archive.add("/number", secrets.token_bytes(8))
    engine.import_image_from_data(archive.bytes(), changes=[f"LABEL {SAYS}=nothing"], **name)


def test_an_old_image_is_found_and_removed_alone(engine: APIClient, old: str) -> None:
    before = set(unused_images(engine))
    assert old in before
    assert list(remove_images(engine, (old,))) == [(old, None)]
    assert find_image(engine, old) is None
    assert list(remove_images(engine, (old,))) == [(old, None)]  # gone is gone, whoever removed it


def test_an_image_that_a_container_needs_stays_and_it_is_told_why(engine: APIClient, old: str) -> None:
    container = engine.create_container(old, command="/number")["Id"]
    try:
        ((name, why),) = remove_images(engine, (old,))
        assert name == old
        assert why is not None
        assert "container" in why
        assert find_image(engine, old) is not None
    finally:
        engine.remove_container(container)


def test_an_image_of_ours_that_lost_its_name_is_found(engine: APIClient, old: str) -> None:
    image = find_image(engine, old)
    assert image is not None
    repository, _, tag = old.partition(":")
    _made(engine, repository=repository, tag=tag)  # which takes the name
    try:
        assert image["Id"] in unused_images(engine)
    finally:
        assert list(remove_images(engine, (image["Id"],))) == [(image["Id"], None)]
    assert find_image(engine, image["Id"]) is None
