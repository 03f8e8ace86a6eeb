"""Makes one site of the repository's pages: links work in the site as they do on a repository's web view.

A page that stands elsewhere, such as SECURITY.md, is taken in under a name of the site. Any other file or folder of the
repository that a page links to is taken in as its text, below `source/`.
"""

import html
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ELSEWHERE = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "docs/spec": "spec/README.md",
    "sdk/README.md": "kit.md",
}
"""Pages of the site by where they stand in the repository, for those that are not beneath docs/."""

LOOKS = {"assets/forest.svg": "forest.svg", "assets/firefly.svg": "firefly.svg"}
"""Pictures that the docs share with a league's own site."""

_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)")
_SUFFIXES = {"": "text", ".js": "javascript", ".cpp": "cpp", ".md": "markdown", ".py": "python", ".svg": "xml"}
_SHOWN_BYTES = 200_000


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Show commands and what they print as tests/support/walkthrough.py reads them."""
    fences = config.mdx_configs.setdefault("pymdownx.superfences", {})
    fences["custom_fences"] = [{"name": "console", "class": "console", "format": _console}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Take in what stands elsewhere: whole pages, what they and all others link to, and pictures."""
    root = _root(config)
    for path, uri in ELSEWHERE.items():
        if (root / path).is_file():
            files.append(File.generated(config, uri, content=(root / path).read_text(encoding="utf-8")))
    for uri, name in LOOKS.items():
        files.append(File.generated(config, uri, abs_src_path=str(root / "referee/publish/static" / name)))
    for page in list(files.documentation_pages()):
        for target in _linked(page.content_string, _path_of(page.src_uri)):
            uri = _uri_of(target)
            if uri.startswith("source/") and (root / target).exists() and files.get_file_from_path(uri) is None:
                files.append(File.generated(config, uri, content=_source(root, target)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Have each link to a file of the repository lead to the page of the site that shows it."""
    here = page.file.src_uri

    def link(found: re.Match[str]) -> str:
        uri = _uri_of(_target(found[1], _path_of(here)))
        if files.get_file_from_path(uri) is None:
            return found[0]  # mkdocs says what is wrong with it
        return f"]({posixpath.relpath(uri, posixpath.dirname(here))}{found[2] or ''})"

    return markdown if here.startswith("source/") else _LINK.sub(link, markdown)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Give the theme's search a name, for people who hear the page."""
    return output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )


def _console(source: str, _language: str, css_class: str, _options: object, _md: object, **_kwargs: object) -> str:
    """A fence ```console as HTML: commands stand out, and they alone are what its button copies."""
    lines = [
        f'<span class="gp">$ </span><b>{html.escape(line.removeprefix("$ "))}</b>'
        if line.startswith("$ ")
        else f'<span class="go">{html.escape(line)}</span>'
        for line in source.splitlines()
    ]
    commands = html.escape("\n".join(line.removeprefix("$ ") for line in source.splitlines() if line.startswith("$ ")))
    shown = "\n".join(lines)
    return f'<div class="highlight {css_class}" data-copy="{commands}"><pre><code>{shown}\n</code></pre></div>'


def _root(config: MkDocsConfig) -> Path:
    assert config.config_file_path is not None
    return Path(config.config_file_path).parent


def _path_of(uri: str) -> str:
    """Where a page of the site stands in the repository."""
    return next((path for path, other in ELSEWHERE.items() if other == uri and path.endswith(".md")), f"docs/{uri}")


def _uri_of(path: str) -> str:
    """The page of the site that shows a file or folder of the repository."""
    if path in ELSEWHERE:
        return ELSEWHERE[path]
    return path.removeprefix("docs/") if path.startswith("docs/") else f"source/{path}.md"


def _linked(markdown: str, path: str) -> Iterator[str]:
    return (_target(found[1], path) for found in _LINK.finditer(markdown))


def _target(link: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), link))


def _source(root: Path, target: str) -> str:
    """A page that shows a file, or the files of a folder, as they are."""
    chosen = root / target
    found = [chosen] if chosen.is_file() else sorted(file for file in chosen.rglob("*") if _is_text(file))
    shown = [f"---\nsearch:\n  exclude: true\n---\n\n# `{target}`\n\nAs it stands in the repository.\n"]
    for file in found:
        if file != chosen:
            shown.append(f"## `{file.relative_to(chosen)}`\n")
        kind = _SUFFIXES.get(file.suffix, file.suffix.removeprefix("."))
        shown.append(f"``````{kind}\n{file.read_text(encoding='utf-8').rstrip()}\n``````\n")
    return "\n".join(shown)


def _is_text(file: Path) -> bool:
    hidden = any(part.startswith((".", "__")) or part in ("node_modules", "vendor") for part in file.parts)
    return file.is_file() and not hidden and file.stat().st_size < _SHOWN_BYTES and b"\0" not in file.read_bytes()
