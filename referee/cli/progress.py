"""The progress of a run, drawn on stderr while games are played."""

from collections import Counter
from types import TracebackType
from typing import Self

from rich.console import RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

from referee.cli.show import err
from referee.model import Fault, GameRecord, VoidGame

_LONGEST_TITLE = 24
_ECHO = 3
"""Columns at the right for the ^C that a terminal shows: were it broken, what is drawn would not be found again."""
_FIXED_WIDTH = _LONGEST_TITLE + 40 + _ECHO  # of all that stands beside the bar
_ROOM_FOR_LAST = 100  # columns from which the last result has its place
_TOLD_IN_FULL = 3
"""Faults of a kind that are told for each bot; whoever fails in every game would hide all else."""


class GameProgress:
    """A bar over all games of a run, with the last result beside it and faults above it.

    On a terminal the bar moves; elsewhere, and where `quiet`, only faults and void games are printed.
    """

    def __init__(self, title: str, *, quiet: bool = False) -> None:
        columns: list[ProgressColumn] = [
            TextColumn("[bold]{task.description}", table_column=_narrow(len(title[:_LONGEST_TITLE]))),
            BarColumn(bar_width=min(30, max(8, err.width - _FIXED_WIDTH)), table_column=_narrow(8)),
            MofNCompleteColumn(table_column=_narrow(5)),
            TextColumn("games", table_column=_narrow(5)),
            TimeElapsedColumn(table_column=_narrow(7)),
            TextColumn("left:", table_column=_narrow(5)),
            TimeRemainingColumn(table_column=_narrow(7)),
        ]
        if err.width >= _ROOM_FOR_LAST:
            column = Column(no_wrap=True, overflow="ellipsis", ratio=1)
            columns.append(TextColumn("[dim]{task.fields[last]}", table_column=column))
        self._bar = _Bar(*columns, console=err, disable=quiet or not err.is_terminal, expand=True)
        self._told: Counter[tuple[str, str]] = Counter()
        self._task = self._bar.add_task(_short(title), total=None, last="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def begin(self, done: int, total: int) -> None:
        """The run has `total` games, of which `done` are recorded already."""
        self._bar.update(self._task, total=total, completed=done)

    def game_done(self, record: GameRecord) -> None:
        """A game has been played."""
        names = [seat.bot for seat in record.seats]
        for fault in record.faults:
            self._tell(names[fault.seat], fault, f"{record.id}, turn {fault.turn}")
        self._bar.update(self._task, advance=1, last=f"last: {result_of(record)}")

    def _tell(self, bot: str, fault: Fault, where: str) -> None:
        self._told[bot, fault.kind] += 1
        told = self._told[bot, fault.kind]
        if told <= _TOLD_IN_FULL:
            _note(f"{bot} forfeits ({where}): {fault.kind}", fault.detail)
        elif told == _TOLD_IN_FULL + 1:
            _note(f"{bot} forfeits again: {fault.kind}", "more like it are counted in the standings")

    def game_void(self, void: VoidGame) -> None:
        """A game was given up for now; it can be played by another run."""
        _note(f"void: {void.game}", void.reasons[-1])
        self._bar.update(self._task, advance=1)


class _Bar(Progress):
    """Progress that leaves the end of its line free."""

    def get_renderable(self) -> RenderableType:
        return Constrain(super().get_renderable(), max(1, err.width - _ECHO))


def _narrow(width: int) -> Column:
    """A column that keeps so much, however wide its neighbours are."""
    return Column(no_wrap=True, min_width=width)


def _short(title: str) -> str:
    return title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 1]}…"


def result_of(record: GameRecord) -> str:
    """How a game ended, in a few words."""
    forfeited = {fault.seat for fault in record.faults}
    scores = record.scores or ("wins",) * len(record.seats)
    return " · ".join(
        f"{seat.bot} {'forfeits' if at in forfeited else score}"
        for at, (seat, score) in enumerate(zip(record.seats, scores, strict=True))
    )


def _note(what: str, why: str) -> None:
    """One line for programs; on a terminal, what happened and below it why, broken between words."""
    if not err.is_terminal:
        err.print(f"  {what}: {why}", markup=False, soft_wrap=True)
        return
    err.print(Padding(Text(what, overflow="fold"), (0, 0, 0, 2)))
    err.print(Padding(Text(why, style="dim", overflow="fold"), (0, 0, 0, 6)))
