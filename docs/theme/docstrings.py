"""Makes Markdown of the kit's docstrings, which are plain text for `help()`: field tables, code and references."""

import re

import griffe

_FIELD = re.compile(r"(?P<name>\S+(?: \S+)*?)\s{2,}(?P<meaning>\S.*)")
_SPEC = re.compile(r"\b(rules|records|schedule|sandbox)\.md(?:, ([A-Z][\w, -]*?)(?=[;.)\n]|$))?")
_CODE = re.compile(r"(`[^`]*`)")


class Plain(griffe.Extension):
    """Rewrites each docstring as it is found."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: object) -> None:
        """Called for each module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = "\n\n".join(map(markdown, obj.docstring.value.split("\n\n")))


def markdown(paragraph: str) -> str:
    """A paragraph as Markdown: lines of a name, two spaces or more and a meaning become a table."""
    rows: list[list[str]] = []
    for line in paragraph.splitlines():
        inner = _FIELD.fullmatch(line.strip())
        if inner is not None and not line.startswith("  "):
            rows.append([inner["name"], _text(inner["meaning"])])
        elif rows and line.startswith("  "):
            more = f"<br>{_text(inner['name'])}: {_text(inner['meaning'])}" if inner else f" {_text(line.strip())}"
            rows[-1][1] += more
        else:
            return paragraph if paragraph.startswith("    ") else _text(paragraph)
    return "\n".join(["| name | meaning |", "|---|---|", *(f"| `{name}` | {meaning} |" for name, meaning in rows)])


def _text(plain: str) -> str:
    """Text that says in Markdown what it says as it is; what stands between backticks is code in both."""
    return "".join(
        part if part.startswith("`") else _SPEC.sub(_link, re.sub(r"([\\*_\[\]|])", r"\\\1", part).replace("<", "&lt;"))
        for part in _CODE.split(plain)
    )


def _link(found: re.Match[str]) -> str:
    heading = "#" + re.sub(r"\W+", "-", found[2].lower()) if found[2] else ""
    return f"[{found[0]}](spec/{found[1]}.md{heading})"
