"""How a comparison looks in a terminal: a gauge while it is played, then its outcome."""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from math import isfinite
from types import TracebackType
from typing import Final, Self

import scipy.special  # noqa: F401 - which intervals need: now, and not while a bot's clock runs
from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from referee.cli.show import err, out, redraws, short_version
from referee.comparison import Comparison, End
from referee.model import Submission
from referee.strength import Interval, Sprt, Verdict, elo_interval, nelo_interval, score_interval
from referee.text import printable

_PERCENT: Final = 100
_LONGEST_GAUGE: Final = 40
_BESIDE_GAUGE: Final = 28
_LONGEST_BAR: Final = 40
_DRAWN_A_SECOND: Final = 4
_SHOWN: Final = 200  # characters of what was typed


class Gauge:
    """Shows how far the test is: on a terminal always, elsewhere a line after 1, 2, 5, 10, 20, 50 … deals."""

    def __init__(self, comparison: Comparison, clock: Callable[[], float], console: Console = err) -> None:
        """`clock` gives seconds, from any point in time."""
        self._comparison = comparison
        self._clock = clock
        self._console = console
        self._redraws = redraws(console)
        self._began = clock()
        self._games = 0
        self._marks = (digit * 10**power for power in count() for digit in (1, 2, 5))
        self._mark = next(self._marks)
        self._live = Live(
            console=console, get_renderable=self._draw, refresh_per_second=_DRAWN_A_SECOND, transient=True,
            redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip

    def __enter__(self) -> Self:
        if self._redraws:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def game_over(self) -> None:
        """A game has been played, or given up, of a deal that will count or not."""
        self._games += 1

    def deals_done(self) -> None:
        """More deals count."""
        if self._comparison.deals < self._mark:
            return
        if not self._redraws:
            line = f"{_count(self._comparison)}: LLR {self._comparison.llr:+.2f}, {_estimates(self._comparison)}"
            line += _mishaps(self._comparison)
            self._console.print(line, markup=False, soft_wrap=True)
        while self._mark <= self._comparison.deals:
            self._mark = next(self._marks)

    def _draw(self) -> Group:
        compared = self._comparison
        seconds = int(self._clock() - self._began)
        games = "1 game" if self._games == 1 else f"{self._games:,} games"
        counted = Text(f"{_count(compared)}, {games} so far, {seconds // 60}:{seconds % 60:02}", style="dim")
        counted.append(_mishaps(compared), style="red")
        return Group(self._scale(), Text(_estimates(compared) if compared.deals else "the first deal …"), counted)

    def _scale(self) -> Text:
        test, llr = self._comparison.test, self._comparison.llr
        width = max(10, min(_LONGEST_GAUGE, self._console.width - _BESIDE_GAUGE))
        at, middle = (
            round((width - 1) * min(1.0, max(0.0, (value - test.lower) / (test.upper - test.lower))))
            for value in (llr, 0.0)
        )
        line = "".join("●" if place == at else "┼" if place == middle else "─" for place in range(width))
        return Text.assemble(
            ("LLR ", "bold"), (f"{test.lower:+.2f} ", "dim"), (line[:at], "dim"), (line[at], _colour(llr)),
            (line[at + 1 :], "dim"), (f" {test.upper:+.2f} ", "dim"), (f"  {llr:+.2f}", f"bold {_colour(llr)}"),
        )  # fmt: skip


def print_heading(bots: Sequence[Submission], typed: Sequence[str], test: Sprt) -> None:
    """Say on stderr who is compared and what is asked: OLD, NEW and their opponents, each with how it was named."""
    width = max(len(bot.name) for bot in bots)
    roles = ("OLD", "NEW", *("with" for _ in bots[2:]))
    for role, bot, text in zip(roles, bots, typed, strict=True):
        line = Text.assemble((f"{role:<4} ", "bold"), f"{bot.name:<{width}}  ", (short_version(bot.version), "dim"))
        if text != bot.name:  # what plays twice has a second name, and a folder may have any
            line.append(f"  {printable(text, _SHOWN)}")
        err.print(line, soft_wrap=True)
    for name, meaning in (("H0", _at_most(test.elo0)), ("H1", _at_least(test.elo1))):
        err.print(Text.assemble((f"{name:<4} ", "bold"), f"NEW is {meaning}"))
    err.print()


def print_outcome(comparison: Comparison, names: Mapping[str, str]) -> None:
    """Print what came out; `names` says who is OLD and NEW, by the bots' names, in this order."""
    headline, style, meaning = _conclusion(comparison, names)
    out.print(headline, style=f"bold {style}", markup=False)
    for line in meaning:
        out.print(line, markup=False)
    if comparison.deals:
        out.print()
        out.print(Padding(_numbers(comparison), (0, 0, 0, 2), expand=False))
        out.print()
        out.print("NEW's points against OLD in a deal, and how many deals gave them:", style="dim")
        out.print(Padding(_points(comparison.counts), (0, 0, 0, 2), expand=False))
    for bot, faults in sorted(comparison.faults.items()):
        assert faults.first is not None  # else it would not be among them
        game, fault = faults.first
        out.print()
        out.print(f"{names.get(bot, bot)} forfeited {faults.games:,} of {comparison.games:,} games.", style="red")
        out.print(
            Padding(
                Text(f"The first: {game}, turn {fault.turn}: {fault.kind}: {fault.detail}"), (0, 0, 0, 2), expand=False
            )
        )
    if comparison.voids:
        out.print()
        out.print(f"Void on our side and not counted, deals: {comparison.voids:,}.", style="yellow")
        out.print(Padding(Text(f"The last: {comparison.reason}"), (0, 0, 0, 2), expand=False))


def outcome(comparison: Comparison, old: Submission, new: Submission) -> dict[str, object]:
    """The outcome in JSON's types; null for what is infinite or cannot be told."""
    test = comparison.test
    played = comparison.deals > 0
    return {
        "format": "treelings-comparison/1",
        "old": {"name": old.name, "version": old.version, "forfeits": comparison.forfeits(old.name)},
        "new": {"name": new.name, "version": new.version, "forfeits": comparison.forfeits(new.name)},
        "better": comparison.verdict is Verdict.H1,
        "verdict": comparison.verdict.value,
        "end": None if comparison.end is None else comparison.end.value,
        "llr": _rounded(comparison.llr),
        "bounds": [_rounded(test.lower), _rounded(test.upper)],
        "elo0": test.elo0,
        "elo1": test.elo1,
        "alpha": test.alpha,
        "beta": test.beta,
        "deals": comparison.deals,
        "games": comparison.games,
        "voids": comparison.voids,
        "half_points": list(comparison.counts),
        "score": _plain(score_interval(comparison.counts) if played else None),
        "elo": _plain(elo_interval(comparison.counts) if played else None),
        "nelo": _plain(nelo_interval(comparison.counts) if played else None),
    }


def _conclusion(comparison: Comparison, names: Mapping[str, str]) -> tuple[str, str, tuple[str, ...]]:
    """What came out in a few words, their colour, and what that means."""
    test, llr = comparison.test, comparison.llr
    if comparison.verdict is Verdict.H1:
        accepted = f"LLR {llr:+.2f} has reached {test.upper:+.2f}: H1 is accepted."
        meaning = f"Of tests in which NEW is {_at_most(test.elo0)}, {_rate(test.alpha)} end like this."
        return "Yes: NEW is better." if test.elo0 >= 0 else "Yes: NEW is good enough.", "green", (accepted, meaning)
    if comparison.verdict is Verdict.H0:
        accepted = f"LLR {llr:+.2f} has reached {test.lower:+.2f}: H0 is accepted."
        meaning = f"Of tests in which NEW is {_at_least(test.elo1)}, {_rate(test.beta)} end like this."
        return (
            "No: NEW is not better." if test.elo1 > 0 else "No: NEW is not good enough.",
            "yellow",
            (accepted, meaning),
        )
    if comparison.end is End.BROKEN:
        broken = " and ".join(names[bot] for bot in comparison.broken)
        hint = "`treelings check BOT` shows what goes wrong."
        return f"Nothing to compare: {broken} forfeited every game.", "red", (hint,)
    if comparison.end is End.VOID:
        hint = "`treelings doctor` may tell why."
        return "Nothing to compare: deal after deal failed on our side.", "red", (hint,)
    between = f"LLR {llr:+.2f} is still between {test.lower:+.2f} (H0) and {test.upper:+.2f} (H1)."
    return f"Undecided after {_count(comparison)}.", "yellow", (between,)


def _numbers(comparison: Comparison) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right", style="bold")
    table.add_column(style="dim")
    score, nelo = score_interval(comparison.counts), nelo_interval(comparison.counts)
    elo = elo_interval(comparison.counts)
    table.add_row("score", _percent(score.mean), f"95 %: {_range(score, _percent)}")
    table.add_row("Elo", _elo(elo.mean), f"95 %: {_range(elo, _elo)}")
    table.add_row(
        "nElo", "–" if nelo is None else _elo(nelo.mean), "" if nelo is None else f"95 %: {_range(nelo, _elo)}"
    )
    table.add_row("deals", f"{comparison.deals:,}", f"{comparison.games:,} games")
    return table


def _points(counts: Sequence[int]) -> Table:
    """How many deals gave NEW how many points."""
    table = Table.grid(padding=(0, 1))
    most = max(counts)
    for halves, deals in enumerate(counts):
        points = f"{halves // 2 or ''}½" if halves % 2 else str(halves // 2)
        bar = "█" * round(_LONGEST_BAR * deals / most)
        table.add_row(
            Text(points, justify="right"), Text.assemble((bar, "cyan"), f" {deals:,}" if bar else f"{deals:,}")
        )
    return table


def _estimates(comparison: Comparison) -> str:
    score, elo = score_interval(comparison.counts), elo_interval(comparison.counts)
    return f"score {_percent(score.mean)}, Elo {_elo(elo.mean)} ({_range(elo, _elo)})"


def _mishaps(comparison: Comparison) -> str:
    """What went wrong so far, to be added to a line; nothing, as a rule."""
    # A copy: the thread that draws may look while a bot commits its first fault.
    forfeits = sum(faults.games for faults in comparison.faults.copy().values())
    told = (("forfeits", forfeits), ("void deals", comparison.voids))
    return "".join(f", {what}: {number:,}" for what, number in told if number)


def _count(comparison: Comparison) -> str:
    return "1 deal" if comparison.deals == 1 else f"{comparison.deals:,} deals"


def _colour(llr: float) -> str:
    return "green" if llr >= 0 else "yellow"


def _at_most(nelo: float) -> str:
    return f"at least {-nelo:g} nElo weaker than OLD" if nelo < 0 else f"at most {_strong(nelo)} OLD"


def _at_least(nelo: float) -> str:
    return f"at most {-nelo:g} nElo weaker than OLD" if nelo < 0 else f"at least {_strong(nelo)} OLD"


def _strong(nelo: float) -> str:
    return f"{nelo:g} nElo stronger than" if nelo else "as strong as"


def _rate(rate: float) -> str:
    return f"{_PERCENT * rate:g} % at most"


def _percent(score: float) -> str:
    return f"{_PERCENT * score:.1f} %"


def _elo(elo: float) -> str:
    return f"{elo:+,.0f}" if isfinite(elo) else "+∞" if elo > 0 else "-∞"


def _range(interval: Interval, shown: Callable[[float], str]) -> str:
    if interval.low is None or interval.high is None:
        return "?"
    return f"{shown(interval.low)} to {shown(interval.high)}"


def _plain(interval: Interval | None) -> dict[str, float | None] | None:
    if interval is None:
        return None
    return {"mean": _rounded(interval.mean), "low": _rounded(interval.low), "high": _rounded(interval.high)}


def _rounded(number: float | None) -> float | None:
    return round(number, 6) if number is not None and isfinite(number) else None
