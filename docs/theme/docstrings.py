"""Makes Markdown of the kit's docstrings, which are plain text for `help()`: field tables, code and references."""

import re

import griffe

_FIELD = re.compile(r"(?P<name>\S+(?: \S+)*?)\s{2,}(?P<meaning>\S.*)")
_SPEC = re.compile(r"\b(rules|records|schedule|sandbox)\.md, ([A-Z][\w, ]*?)(?=[;.)\n]|$)")


class Plain(griffe.Extension):
    """Rewrites each docstring as it is found."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: object) -> None:
        """Called for each module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = "\n\n".join(map(_markdown, obj.docstring.value.split("\n\n")))


def _markdown(paragraph: str) -> str:
    rows: list[list[str]] = []
    for line in paragraph.splitlines():
        field = _FIELD.fullmatch(line)
        if field is not None:
            rows.append([field["name"], field["meaning"]])
        elif rows and line.startswith("  "):
            rows[-1][1] += f" {line.strip()}"
        else:
            return _referring(paragraph)
    return "\n".join(["| | |", "|---|---|", *(f"| `{name}` | {_referring(meaning)} |" for name, meaning in rows)])


def _referring(text: str) -> str:
    def link(found: re.Match[str]) -> str:
        heading = re.sub(r"[^\w]+", "-", found[2].lower()).strip("-")
        return f"[{found[1]}.md, {found[2]}](spec/{found[1]}.md#{heading})"

    return _SPEC.sub(link, text)
