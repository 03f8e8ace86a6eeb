"""The figures of a study as a chart: a dot for each with its interval as a line, on a scale from 0 to 100 %."""

from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bench.strategy_page import Study
from tests.support.pictures import site_colours

_LETTER: Final = 6.8  # of a label, on the mean
_PLOT: Final = 400
_EDGE: Final = 20
_TOP: Final = 18
_LEGEND: Final = 24
_ROW: Final = 26
_APART: Final = 9  # the second figure of a row stands so much lower
_BELOW: Final = 34


def chart(study: Study) -> str:
    """A file that stands by itself; its figures all have intervals."""
    series = study.heads[1:]
    left = round(_EDGE + _LETTER * max(map(len, study.rows)))
    top = _TOP + (_LEGEND * len(series) if len(series) > 1 else 0)
    row = _ROW + _APART * (len(series) - 1)
    dots = []
    for at, cells in enumerate(study.rows.values()):
        for number, cell in enumerate(cells):
            assert cell.value is not None
            assert cell.half is not None
            low, high = max(0.0, cell.value - cell.half), min(100.0, cell.value + cell.half)
            x, x1, x2 = (round(left + share * _PLOT / 100, 1) for share in (cell.value, low, high))
            dots.append((number, x, x1, x2, top + at * row + _ROW // 2 + number * _APART))
    env = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    bottom = top + row * len(study.rows)
    return env.get_template("strategy_chart.svg").render(
        words="; ".join(f"{label}: {', '.join(map(str, cells))}" for label, cells in study.rows.items()),
        labels=[(label.replace("`", ""), top + at * row + row // 2 + 5) for at, label in enumerate(study.rows)],
        series=[(name.replace("`", ""), _TOP + at * _LEGEND) for at, name in enumerate(series)],
        ticks=[(left + share * _PLOT // 100, share) for share in (0, 25, 50, 75, 100)],
        dots=dots, left=left, top=top, bottom=bottom, wide=left + _PLOT + 2 * _EDGE, tall=bottom + _BELOW,
        style=site_colours(),
    )  # fmt: skip
