"""The links of a package, which whoever publishes it has to say: a repository cannot tell where it lies.

TREELINGS_URL is the address below which the files of this version can be read, up to the name of a branch or a tag.
With it a package names its pages, and the links of its README lead there; without it there are no links: a page that
is not there is worse, and of those in the README the words stay. Both packages are built with this.
"""

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from hatchling.metadata.plugin.interface import MetadataHookInterface

PAGES = {"Source": "", "Documentation": "docs/index.md", "Changelog": "CHANGELOG.md", "Security": "SECURITY.md"}
_TO_A_FILE = re.compile(r"\[([^\]]+)\]\((?!https?:|#)([^)\s]+)\)")


class CustomMetadataHook(MetadataHookInterface):
    """Adds README and links; `folder`, from pyproject.toml, is where in the repository the README lies."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add them to what is said of the package."""
        url = _url()
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": _linked(text, url, self.config.get("folder", "")),
        }
        metadata["urls"] = {name: urljoin(url, page) for name, page in PAGES.items()} if url else {}


def _url() -> str:
    url = os.environ.get("TREELINGS_URL", "")
    if url and not url.startswith("https://"):
        raise SystemExit(f"TREELINGS_URL: expected an address that begins with https:// or nothing, got {url!a}")
    return f"{url.rstrip('/')}/" if url else ""


def _linked(text: str, url: str, folder: str) -> str:
    return _TO_A_FILE.sub(lambda found: f"[{found[1]}]({urljoin(url + folder, found[2])})" if url else found[1], text)
