"""What a run of the benches has found: figures with their goals, in results.json and in docs/performance.md."""

import json
import operator
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

RESULTS: Final = Path(__file__).with_name("results.json")
PAGE: Final = Path(__file__).parents[1] / "docs" / "performance.md"
BEGIN: Final = "<!-- from here on written by make bench -->"
END: Final = "<!-- as far as this -->"

_COMPARE: Final[dict[str, Callable[[float, float], bool]]] = {"<=": operator.le, ">=": operator.ge}


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure: what it is in words, its value, and its goal such as "<= 1.15", "" if it has none."""

    what: str
    value: float
    goal: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the value is as the goal wants it; None if there is no goal."""
        if not self.goal:
            return None
        sign, bound = self.goal.split()
        return _COMPARE[sign](self.value, float(bound))


@dataclass(frozen=True, slots=True)
class Part:
    """One bench's figures by name, and when and at which commit they were taken."""

    title: str
    taken: str
    commit: str
    figures: dict[str, Figure]


@dataclass(frozen=True, slots=True)
class Results:
    """All that is known, by the names of the parts; `machine` says what it was measured on, label by label."""

    machine: dict[str, str]
    parts: dict[str, Part]

    def with_part(self, name: str, part: Part, order: Mapping[str, object]) -> "Results":
        """The same with one part anew, in this order; parts that the order does not name any more are left out."""
        parts = {**self.parts, name: part}
        return Results(self.machine, {each: parts[each] for each in order if each in parts})


def load(path: Path = RESULTS) -> Results | None:
    """What earlier runs have found; None if there were none."""
    if not path.exists():
        return None
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    parts = {
        name: Part(
            part["title"],
            part["taken"],
            part["commit"],
            {each: Figure(figure["what"], figure["value"], figure["goal"]) for each, figure in part["figures"].items()},
        )
        for name, part in data["parts"].items()
    }
    return Results(data["machine"], parts)


def save(results: Results, path: Path = RESULTS, page: Path = PAGE) -> None:
    """Write results.json, and the table into the page between its two marks."""
    path.write_text(json.dumps(asdict(results), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    text = page.read_text(encoding="utf-8")
    before, after = text.index(BEGIN) + len(BEGIN), text.index(END)
    page.write_text(f"{text[:before]}\n\n{as_markdown(results)}\n{text[after:]}", encoding="utf-8")


def as_markdown(results: Results) -> str:
    """The machine and one table a part."""
    lines = ["Measured on:", "", *(f"- {label}: {value}" for label, value in results.machine.items()), ""]
    for name, part in results.parts.items():
        lines += [
            f"### {part.title[0].upper()}{part.title[1:]}",
            "",
            f"`make bench PARTS={name}`, {part.taken}, commit {part.commit}.",
            "",
            "| figure | value | goal | |",
            "|---|---:|---:|---|",
            *(
                f"| {figure.what} | {shown(figure.value)} | {_goal(figure.goal)} | {_MET[figure.met]} |"
                for figure in part.figures.values()
            ),
            "",
        ]
    return "\n".join(lines)


def shown(value: float) -> str:
    """A figure with three digits or so, thousands set apart."""
    size = abs(value)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{value:,.{digits}f}"


def _goal(goal: str) -> str:
    return goal.replace("<=", "≤").replace(">=", "≥")


_MET: Final = {True: "met", False: "**missed**", None: ""}
