"""How the outcome of a match looks in a terminal."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from referee.cli.show import out, print_whole
from referee.model import GameRecord
from referee.standings import TIE_BREAKS
from referee.strength import Interval
from referee.summary import BotSummary, summary
from treelings.cards import MIN_PLAYERS

_PERCENT = 100
_WHOLE_MS = 100  # from here on tenths are of no interest


def print_summary(match: str, records: Sequence[GameRecord]) -> None:
    """Print what the games of a match come to: a row for each bot, and below what its numbers mean."""
    deals = len({record.deal for record in records})
    together = "1 deal" if deals == 1 else f"{deals:,} deals"
    games = "1 game" if len(records) == 1 else f"{len(records):,} games"
    title = f"{match}: {together}, {games}"
    table = Table(
        title=Text(title, style="bold", no_wrap=True), title_justify="left", header_style="bold", box=None,
        pad_edge=False,
    )  # fmt: skip
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("bot", style="bold", no_wrap=True)
    for name in ("w-t-l", "score", "95 %", "margin", "ms a move", "faults"):
        table.add_column(name, justify="right", no_wrap=True)
    bots = summary(records)
    for bot in bots:
        row = bot.standing
        table.add_row(
            str(row.rank),
            row.bot,
            f"{row.wins}-{row.ties}-{row.losses}",
            f"{_PERCENT * row.score:.1f} %",
            Text(_range(bot.score), style="dim"),
            f"{row.margin:+.1f} {_more_or_less(bot.margin)}",
            f"{_ms(bot.median_ms)} / {_ms(bot.slow_ms)}",
            Text(str(row.faults), style="bold red" if row.faults else ""),
        )
    print_whole(table)
    if any(len(record.seats) > MIN_PLAYERS for record in records):
        out.print("w-t-l: alone in front, in front with others, behind.", style="dim")
        out.print("score: the share of the other seats that were beaten; a tie counts half.", style="dim")
    out.print(
        "95 % and ±: where the true value lies; a deal with its rotations is one sample.",
        *(["?: these are too few deals, or too much alike, to tell."] if any(map(_untold, bots)) else []),
        "ms a move: the median / what 99 of 100 moves took at most.",
        f"Equal scores: {TIE_BREAKS}.",
        sep="\n", style="dim",
    )  # fmt: skip


def _untold(bot: BotSummary) -> bool:
    return bot.score.high is None or bot.margin.high is None


def _range(score: Interval) -> str:
    if score.low is None or score.high is None:
        return "?"
    return f"{_PERCENT * score.low:.1f} – {_PERCENT * score.high:.1f}"


def _more_or_less(value: Interval) -> str:
    return "± ?" if value.high is None else f"± {value.high - value.mean:.1f}"


def _ms(ms: float | None) -> str:
    return "–" if ms is None else f"{ms:,.1f}" if ms < _WHOLE_MS else f"{ms:,.0f}"
