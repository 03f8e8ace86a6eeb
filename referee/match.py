"""One match: a table's games, one after the other, on bots that are fresh for it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final

from referee.errors import EngineGone, SandboxError
from referee.game import Watch, play_game
from referee.model import FaultKind, GameRecord, GameSpec, MatchSpec, Outcome, SeatHolder, Submission, VoidGame
from referee.ports import Connect, KeepLog, Link, Sandbox
from referee.text import printable
from treelings import derive_deck
from treelings.view import Clock

LONGEST_REASON: Final = 500
"""Characters of what is told of an attempt that our side failed."""

PAUSES_S: Final = (0.0, 5.0, 15.0)
"""How long a match waits before each round of attempts at games that our side has failed to play."""

ATTEMPTS: Final = len(PAUSES_S)
"""How often a game is played at most before it is listed as void (records.md, Faults)."""

Pause = Callable[[float], Awaitable[object]]


class Table:
    """The bots of one match and the games that they play.

    `open` may be called ahead of time, while an earlier match plays; `close` ends whatever runs, at any
    time and in any state.
    """

    def __init__(
        self, match: MatchSpec, submissions: Mapping[str, Submission], sandbox: Sandbox, secret: bytes,
        clock: Clock, connect: Connect, keep_log: KeepLog | None = None, *, pause: Pause = asyncio.sleep,
        watch: Watch | None = None,
    ) -> None:  # fmt: skip
        """`submissions` holds at least the match's bots by name; `secret` is the night's (rules.md).

        `keep_log` is given what each bot logged, once for each time that it was started; `pause` waits for so many
        seconds; `watch` is shown every position of each game.
        """
        self._match = match
        self._submissions = submissions
        self._sandbox = sandbox
        self._secret = secret
        self._clock = clock
        self._connect = connect
        self._keep_log = keep_log
        self._pause = pause
        self._watch = watch
        self._links: dict[str, Link] = {}
        self._spoiled: set[str] = set()  # bots whose process no further game may be played with

    async def open(self) -> None:
        """Start the bots that do not run yet, without waiting for them to answer. Raises SandboxError."""
        outcomes = await asyncio.gather(
            *(self._start(bot) for bot in self._match.bots if bot not in self._links), return_exceptions=True
        )
        for outcome in outcomes:
            if outcome is not None:
                raise outcome

    async def play(self, games: Sequence[GameSpec]) -> AsyncIterator[Outcome]:
        """Play games of this match in order; one record each, or why there is none.

        A game that fails on our side is played again, three times at most: after the others and a pause, since what
        kept the machine busy may have passed by then. Raises EngineGone at once.
        """
        waiting: list[tuple[GameSpec, tuple[str, ...]]] = [(game, ()) for game in games]
        for pause_s in PAUSES_S:
            if waiting and pause_s:
                await self._pause(pause_s)
            again = []
            for game, reasons in waiting:
                outcome = await self._play(game)
                if isinstance(outcome, GameRecord):
                    yield outcome
                else:
                    again.append((game, (*reasons, outcome)))
            waiting = again
        for game, reasons in waiting:
            yield VoidGame(game.id, reasons)

    async def close(self) -> None:
        """End all bots of this table. Raises SandboxError."""
        await self._end(self._links)

    async def _play(self, game: GameSpec) -> GameRecord | str:
        """The game's record, or why our side failed to play it. Raises EngineGone."""
        try:
            return await self._attempt(game)
        except EngineGone:
            raise
        except (SandboxError, OSError) as error:
            self._spoiled.update(self._links)
            return printable(f"{type(error).__name__}: {error}", LONGEST_REASON)

    async def _attempt(self, game: GameSpec) -> GameRecord:
        if game.deal_id is None:
            raise ValueError(f"game {game.id}: expected a deal id, from which the deck follows, got none")
        await self._look_after_last_game()
        await self._end(self._spoiled)
        await self.open()
        record = await play_game(
            game,
            derive_deck(self._secret, game.deal_id),
            [SeatHolder(bot, self._submissions[bot].version) for bot in game.bots],
            [self._links[bot].player() for bot in game.bots],
            self._clock,
            self._watch,
        )
        # A bot that played an illegal move answers well otherwise; any other fault leaves a process that
        # may be anywhere. It is ended with the next game, so that no failure to do so costs this record.
        self._spoiled.update(
            game.bots[fault.seat] for fault in record.faults if fault.kind is not FaultKind.ILLEGAL_MOVE
        )
        return record

    async def _look_after_last_game(self) -> None:
        # What breaks down after a game has been asked nothing: it has no fault, and no game to come may pay for it.
        # So a game waits until the bots have done with the last one, as long as they may take to start.
        bots = [bot for bot in self._links if bot not in self._spoiled]
        outcomes = await asyncio.gather(
            *(self._links[bot].left_in_order(self._clock.startup_ms) for bot in bots), return_exceptions=True
        )
        for bot, outcome in zip(bots, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                raise outcome
            if not outcome:
                self._spoiled.add(bot)

    async def _start(self, bot: str) -> None:
        running = await self._sandbox.start(self._submissions[bot], self._match.id)
        self._links[bot] = self._connect(running)

    async def _end(self, bots: Iterable[str]) -> None:
        ending = [bot for bot in bots if bot in self._links]
        outcomes = await asyncio.gather(*(self._links[bot].close() for bot in ending), return_exceptions=True)
        for bot, outcome in zip(ending, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                raise outcome
            del self._links[bot]
            self._spoiled.discard(bot)
            if self._keep_log is not None:
                self._keep_log(self._match.id, bot, outcome)
