"""Playing many matches: tables in parallel, the next two started ahead, every result kept as it comes."""

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, Protocol

from referee.errors import EngineGone, SandboxError
from referee.model import GameRecord, GameSpec, MatchSpec, Outcome, VoidGame

AHEAD: Final = 2
"""Matches whose bots are started while others are still played. More gained nothing, and would only take memory."""

_SAVE_EVERY_S: Final = 1.0


class PlayableTable(Protocol):
    """One match's bots and games; match.Table is one."""

    async def open(self) -> None:
        """Start the bots. Raises SandboxError."""

    def play(self, games: Sequence[GameSpec]) -> AsyncIterator[Outcome]:
        """Play the games in order. Raises EngineGone."""

    async def close(self) -> None:
        """End the bots, in whatever state the table is. Raises SandboxError."""


class Progress(Protocol):
    """Is told how a run goes on; draws a bar, for example."""

    def begin(self, done: int, total: int) -> None:
        """The night has `total` games, of which `done` are recorded already."""

    def game_done(self, record: GameRecord) -> None:
        """A game has been played."""

    def game_void(self, void: VoidGame) -> None:
        """A game was given up for this run."""


def default_jobs() -> int:
    """Tables at a time where nothing else is said: one a processor core that this process may use."""
    if count := getattr(os, "process_cpu_count", None):  # Python 3.13
        return count() or 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def tables_at_once(jobs: int) -> int:
    """Tables whose bots run at the same time at most, where `jobs` of them play."""
    return jobs + AHEAD


async def play_matches(
    matches: Sequence[MatchSpec], *, jobs: int, seat: Callable[[MatchSpec], PlayableTable],
    save: Callable[[Sequence[Outcome]], None], progress: Progress,
) -> None:  # fmt: skip
    """Play all games of the matches, `jobs` tables at a time, each on bots that `seat` provides.

    The bots of the next AHEAD matches are started meanwhile, and those of played ones ended in the background.

    `save` is called in a thread of its own, so that the disk holds up no bot's clock: at the end of every match,
    every second while something is new, and once more at the end, however that comes. Its calls may repeat games.
    Raises what a table or `save` raises; whatever was finished till then is saved.
    """
    await _Run(matches, seat, save, progress).play(jobs)


class _Ahead:
    """A match whose bots are being started while another one is still played."""

    def __init__(self, match: MatchSpec, table: PlayableTable) -> None:
        self.match = match
        self.table = table
        self._opening = asyncio.create_task(table.open())

    async def ready(self) -> None:
        """Wait until the bots are started. Raises EngineGone."""
        try:
            await self._opening
        except EngineGone:
            raise
        except (SandboxError, OSError):
            # The table tries again when it plays; if that fails too, the reason is in the void game.
            return

    async def close(self) -> None:
        """End the bots, also those that are just starting."""
        self._opening.cancel()
        await asyncio.wait([self._opening])
        if not self._opening.cancelled():
            self._opening.exception()  # was raised by `ready`, or no longer matters
        await self.table.close()


class _Run:
    def __init__(
        self, matches: Sequence[MatchSpec], seat: Callable[[MatchSpec], PlayableTable],
        save: Callable[[Sequence[Outcome]], None], progress: Progress,
    ) -> None:  # fmt: skip
        self._waiting = deque(matches)
        self._started: deque[_Ahead] = deque()
        self._seat = seat
        self._save_batch = save
        self._progress = progress
        self._unsaved: list[Outcome] = []
        self._saving = asyncio.Lock()
        self._closing: set[asyncio.Task[None]] = set()

    async def play(self, jobs: int) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                regularly = group.create_task(self._save_regularly())
                async with asyncio.TaskGroup() as tables:
                    for _ in range(min(jobs, len(self._waiting))):
                        tables.create_task(self._play_one_after_the_other())
                regularly.cancel()
        except BaseExceptionGroup as several:
            # The first error stopped the run and the others follow from that.
            raise _first(several) from several
        finally:
            while self._started:
                self._close(self._started.popleft())
            try:
                self._save_batch(tuple(self._unsaved))
            finally:
                await self._all_closed()

    async def _play_one_after_the_other(self) -> None:
        while (current := self._next()) is not None:
            try:
                await current.ready()
                self._start(AHEAD)
                async for outcome in current.table.play(current.match.games):
                    self._keep(outcome)
                await self._save()
            finally:
                self._close(current)

    def _close(self, seated: _Ahead) -> None:
        """Begin to end a table's bots: in a task of its own, since neither the next match nor a cancelled one waits."""
        task = asyncio.create_task(seated.close())
        self._closing.add(task)
        task.add_done_callback(self._closed)

    def _closed(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is None:
            self._closing.discard(task)

    async def _all_closed(self) -> None:
        """Wait for the bots that are being ended. Raises SandboxError if some could not be."""
        closing = tuple(self._closing)  # also those that failed at it earlier
        if closing:
            await asyncio.wait(closing)  # unlike `gather`, ends none of them when this is cancelled
        for task in closing:
            task.result()

    def _next(self) -> _Ahead | None:
        self._start(1)
        return self._started.popleft() if self._started else None

    def _start(self, ahead: int) -> None:
        """Begin to start bots, until those of so many matches run or are about to, which nobody plays yet."""
        while self._waiting and len(self._started) < ahead:
            match = self._waiting.popleft()
            self._started.append(_Ahead(match, self._seat(match)))

    def _keep(self, outcome: Outcome) -> None:
        self._unsaved.append(outcome)
        if isinstance(outcome, VoidGame):
            self._progress.game_void(outcome)
        else:
            self._progress.game_done(outcome)

    async def _save(self) -> None:
        async with self._saving:
            batch = tuple(self._unsaved)
            await asyncio.to_thread(self._save_batch, batch)
            # Only now: if this is cancelled or fails, the batch is saved once more at the end.
            del self._unsaved[: len(batch)]

    async def _save_regularly(self) -> None:
        while True:
            await asyncio.sleep(_SAVE_EVERY_S)
            if self._unsaved:
                await self._save()


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
