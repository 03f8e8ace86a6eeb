"""Where this machine's apt gets Debian from: debootstrap asks there too, so no mirror is written down anywhere."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ROLLING: Final = ("stable", "testing", "unstable", "sid")
_ONE_LINE: Final = re.compile(
    r"deb\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)\s*(?P<components>.*)"
)


@dataclass(frozen=True, slots=True)
class PackageArchive:
    """A package archive as apt's sources name it; `keyring` only where they name a file."""

    uri: str
    suite: str
    components: tuple[str, ...]
    keyring: str | None = None


def parse_one_line(text: str) -> list[PackageArchive]:
    """The binary archives of a file in the one-line style (sources.list(5))."""
    found = []
    for line in text.splitlines():
        match = _ONE_LINE.fullmatch(line.partition("#")[0].strip())
        if match is None:
            continue
        options = dict(option.split("=", 1) for option in (match["options"] or "").split() if "=" in option)
        found.append(
            PackageArchive(
                match["uri"], match["suite"], tuple(match["components"].split()), _keyring(options.get("signed-by"))
            )
        )
    return found


def parse_deb822(text: str) -> list[PackageArchive]:
    """The binary archives of a `.sources` file (sources.list(5), DEB822-STYLE FORMAT)."""
    found = []
    for stanza in re.split(r"\n\s*\n", text):
        fields: dict[str, str] = {}
        key = ""
        for line in stanza.splitlines():
            if line.startswith("#"):
                continue
            if line[:1].isspace():
                fields[key] = f"{fields.get(key, '')} {line.strip()}"
            elif ":" in line:
                key, _, value = line.partition(":")
                key = key.strip().lower()
                fields[key] = value.strip()
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() == "no":
            continue
        found += [
            PackageArchive(uri, suite, tuple(fields.get("components", "").split()), _keyring(fields.get("signed-by")))
            for uri in fields.get("uris", "").split()
            for suite in fields.get("suites", "").split()
        ]
    return found


def _keyring(signed_by: str | None) -> str | None:
    first = (signed_by or "").split(",")[0].strip()
    return first if first.startswith("/") and " " not in first else None


def system_archive(etc: Path = Path("/etc")) -> PackageArchive | None:
    """The archive that this system itself was installed from; None if apt's sources tell of none."""
    codename = _codename(etc)
    archives = [archive for archive in _archives(etc / "apt") if "main" in archive.components]
    for suite in (codename, *_ROLLING):
        for archive in archives:
            uri = _uri(archive.uri)
            if archive.suite == suite and uri is not None:
                return PackageArchive(uri, archive.suite, archive.components, archive.keyring)
    return None


def _codename(etc: Path) -> str | None:
    path = etc / "os-release"
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    found = re.search(r"^VERSION_CODENAME=\"?([\w-]+)", text, re.MULTILINE)
    return found[1] if found else None


def _archives(apt: Path) -> Iterator[PackageArchive]:
    parts = apt / "sources.list.d"
    for path in [apt / "sources.list", *sorted(parts.glob("*.list"))]:
        if path.is_file():
            yield from parse_one_line(path.read_text(encoding="utf-8", errors="replace"))
    for path in sorted(parts.glob("*.sources")):
        yield from parse_deb822(path.read_text(encoding="utf-8", errors="replace"))


def _uri(uri: str) -> str | None:
    if uri.startswith("mirror+file:"):
        # A file with one mirror a line, best first, each perhaps followed by its properties (apt-transport-mirror).
        path = Path("/" + uri.removeprefix("mirror+file:").lstrip("/"))
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
        uri = next((line.split()[0] for line in lines if line.strip() and not line.startswith("#")), "")
    return uri if uri.startswith(("http://", "https://", "file:")) else None
