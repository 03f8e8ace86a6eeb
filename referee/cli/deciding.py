"""Which places of a night are decided, as a run tells it."""

from referee.cli.show import err, out
from referee.decision import Decision, Gap

_MOST_SHOWN = 10


class Deciding:
    """Tells on stderr what is still open, each time that this is looked at and has changed."""

    def __init__(self) -> None:
        self._told = "", ""

    def __call__(self, decision: Decision) -> None:
        """Of an open order; what was decided in the end comes with the standings."""
        if not decision.open:
            return
        sure = sum(bot is not None for bot in decision.places[: decision.wanted])
        more = f" and {len(decision.open) - 1} more" if len(decision.open) > 1 else ""
        news = f"  after {decision.after}: {sure} of {decision.wanted} places decided; open:"
        pair = f"{_gap(decision.open[0])}{more}"
        if (news, pair) != self._told:
            # In narrow terminals, below each other; for programs, one line.
            err.print(f"{news}\n      {pair}" if err.is_terminal else f"{news} {pair}", markup=False, soft_wrap=True)
        self._told = news, pair


def show_decision(decision: Decision) -> None:
    """What is decided, and below it what is not."""
    out.print(decision.summary, markup=False)
    for gap in decision.open[:_MOST_SHOWN]:
        out.print(f"  open: {_gap(gap)}", markup=False, soft_wrap=True)
    if more := decision.open[_MOST_SHOWN:]:
        out.print(f"  and {len(more)} more", markup=False)


def _gap(gap: Gap) -> str:
    assert gap.score.low is not None  # scores have bounds
    assert gap.score.high is not None
    low, high = 100 * gap.score.low, 100 * gap.score.high
    return f"{gap.ahead} {100 * gap.score.mean:.1f} % ahead of {gap.behind} ({low:+.1f} to {high:+.1f})"
