"""The progress of a run, drawn on stderr while games are played."""

from collections import Counter
from types import TracebackType
from typing import Self

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from referee.cli.show import err
from referee.model import Fault, GameRecord, VoidGame

_TOLD_IN_FULL = 3
"""Faults of a kind that are told for each bot; whoever fails in every game would hide all else."""


class GameProgress:
    """A bar over all games of a run, with the last result beside it and faults above it.

    On a terminal the bar moves; elsewhere only faults and void games are printed, a line each.
    """

    def __init__(self, title: str) -> None:
        self._bar = Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("games"),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            TextColumn("[dim]{task.fields[last]}", markup=True),
            console=err,
            disable=not err.is_terminal,
        )
        self._told: Counter[tuple[str, str]] = Counter()
        self._task = self._bar.add_task(title, total=None, last="")

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
            self._tell(names[fault.seat], fault, f"{record.deal}, rotation {record.rotation}")
        scores = record.scores or ("forfeit",) * len(names)
        last = " · ".join(f"{name} {score}" for name, score in zip(names, scores, strict=True))
        self._bar.update(self._task, advance=1, last=last)

    def _tell(self, bot: str, fault: Fault, where: str) -> None:
        self._told[bot, fault.kind] += 1
        told = self._told[bot, fault.kind]
        if told <= _TOLD_IN_FULL:
            line = f"  {bot} forfeits ({where}, turn {fault.turn}): {fault.kind}: {fault.detail}"
        elif told == _TOLD_IN_FULL + 1:
            line = f"  {bot} forfeits again: {fault.kind}; more like it are counted in the standings"
        else:
            return
        err.print(line, markup=False, soft_wrap=True)

    def game_void(self, void: VoidGame) -> None:
        """A game was given up for now; it can be played by another run."""
        err.print(f"  void: {void.game}: {void.reasons[-1]}", markup=False, soft_wrap=True)
        self._bar.update(self._task, advance=1)
