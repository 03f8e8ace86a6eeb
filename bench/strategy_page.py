"""The figures of the studies: kept in strategy.json, shown as tables in docs/strategy.md."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

RESULTS: Final = Path(__file__).with_name("strategy.json")
PAGE: Final = Path(__file__).parents[1] / "docs" / "strategy.md"
_TABLE: Final = re.compile(r"(?<=<!-- (?:study) ).*?(?=<!-- end -->)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure: its value, how far its interval reaches either way, and from how many deals; None where there is none.

    unit  "%", or "" for a number that is counted
    """

    value: float | None
    half: float | None
    deals: int | None
    unit: str

    def __str__(self) -> str:
        if self.value is None:
            return ""
        if self.unit == "%":
            return f"{self.value:.0f} %" if self.half is None else f"{self.value:.1f} % ± {self.half:.1f}"
        return f"{self.value:,.0f}"


@dataclass(frozen=True, slots=True)
class Study:
    """A table: what it tells, the heads of its columns (the first is that of the labels), and its rows by label."""

    title: str
    heads: tuple[str, ...]
    rows: dict[str, tuple[Cell, ...]]


def load(path: Path = RESULTS) -> dict[str, Study]:
    """What has been found so far, by the names of the studies."""
    if not path.exists():
        return {}
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return {
        name: Study(
            study["title"],
            tuple(study["heads"]),
            {label: tuple(Cell(**cell) for cell in cells) for label, cells in study["rows"].items()},
        )
        for name, study in data.items()
    }


def save(studies: Mapping[str, Study], path: Path = RESULTS, page: Path = PAGE) -> None:
    """Keep them, and write their tables into the page."""
    data = {name: asdict(study) for name, study in studies.items()}
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    page.write_text(filled(page.read_text(encoding="utf-8"), studies), encoding="utf-8")


def filled(page: str, studies: Mapping[str, Study]) -> str:
    """The page with the table of each study behind its mark, <!-- study NAME -->, as far as <!-- end -->."""

    def table(found: "re.Match[str]") -> str:
        name = found[0].split()[0]
        return f"{name} -->\n\n{as_markdown(name, studies[name])}\n\n" if name in studies else found[0]

    return _TABLE.sub(table, page)


def as_markdown(name: str, study: Study) -> str:
    """The table, and below it where its figures come from."""
    deals = sorted({cell.deals for cells in study.rows.values() for cell in cells if cell.deals})
    return "\n".join(
        [
            f"| {' | '.join(study.heads)} |",
            f"|---|{'---:|' * (len(study.heads) - 1)}",
            *(f"| {label} | {' | '.join(map(str, cells))} |" for label, cells in study.rows.items()),
            "",
            f"{study.title}; {_deals(deals)}: `python -m bench.strategy {name}`",
        ]
    )


def _deals(deals: list[int]) -> str:
    return f"{deals[0]:,} deals" if len(deals) == 1 else f"{deals[0]:,} to {deals[-1]:,} deals"
