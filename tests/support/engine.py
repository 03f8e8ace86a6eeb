"""A Docker engine that has images and nothing else."""

from typing import Any, cast

import requests
from docker import APIClient
from docker.errors import APIError, ImageNotFound

from referee.sandbox.layer import SAYS


class FakeEngine:
    """Stands in for docker's APIClient where images are looked for, imported and removed.

    says   what the label SAYS of each image holds, by its name; a name without ":" is the id of one without a name
    held   names of those that something runs from
    built  names of those that were imported, in order
    """

    def __init__(self, says: dict[str, str], held: tuple[str, ...] = ()) -> None:
        self.says = says
        self.held = held
        self.built: list[str] = []

    def version(self) -> dict[str, str]:
        return {"Arch": "amd64"}

    def inspect_image(self, name: str) -> dict[str, Any]:
        if name not in self.says:
            raise ImageNotFound("404")
        return self._image(name) | {"Config": {"Labels": {SAYS: self.says[name]}}}

    def images(self, name: str | None = None, filters: dict[str, object] | None = None) -> list[dict[str, Any]]:
        if filters is not None:
            assert filters == {"dangling": True, "label": SAYS}
            return [self._image(each) for each in self.says if ":" not in each]
        return [self._image(each) for each in self.says if name in (None, each.partition(":")[0])]

    def remove_image(self, name: str) -> None:
        if name in self.held:
            raise APIError("409", response=requests.Response(), explanation="a running container is using it")
        if name not in self.says:
            raise ImageNotFound("404")
        del self.says[name]

    def import_image_from_data(self, data: bytes, repository: str, tag: str, changes: list[str]) -> None:
        assert data
        assert changes
        self.built.append(f"{repository}:{tag}")
        self.says[f"{repository}:{tag}"] = "nothing"

    def _image(self, name: str) -> dict[str, Any]:
        return {"Id": name, "RepoTags": [name] if ":" in name else None}


def as_client(engine: FakeEngine) -> APIClient:
    """The same, for whoever asks for the real one."""
    return cast("APIClient", engine)
