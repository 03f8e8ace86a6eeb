"""One game: asks the seats for their moves, judges what they answer and rules on faults (records.md)."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from referee.checked_json import dump
from referee.clock import SeatClock
from referee.model import Ended, Fault, FaultKind, GameRecord, GameSpec, PlayedMove, SeatHolder
from referee.ports import Failure, Player
from referee.records import MAX_COMMENTS_BYTES, ranks
from referee.text import printable
from treelings import GameEnd, GameStart, IllegalMove, Move, NotationError, State, View
from treelings.bot import LONGEST_COMMENT
from treelings.cards import MIN_PLAYERS
from treelings.view import Clock

LONGEST_DETAIL: Final = 300
"""Characters that a fault's detail may have in a record."""

Watch = Callable[[GameSpec, State, PlayedMove | None], None]
"""Is shown each position of a game: its deal, with no move, and what each move led to, with that. The state is the
game's own, so that it must be copied to be kept; bots wait meanwhile."""

_LONGEST_LEGAL: Final = 100


async def play_game(
    spec: GameSpec, deck: str, seats: Sequence[SeatHolder], players: Sequence[Player], clock: Clock,
    watch: Watch | None = None,
) -> GameRecord:  # fmt: skip
    """Play a game to its end and return its record; `seats` and `players` are in seat order.

    Whatever a bot does becomes a fault in the record. Raises what the players raise for our own side
    (SandboxError); the game is void then, and the bots are told so.
    """
    return await _Game(spec, deck, seats, players, clock, watch).play()


class _Game:
    def __init__(
        self, spec: GameSpec, deck: str, seats: Sequence[SeatHolder], players: Sequence[Player], clock: Clock,
        watch: Watch | None,
    ) -> None:  # fmt: skip
        self._spec = spec
        self._deck = deck
        self._seats = seats
        self._players = players
        self._clock = clock
        self._watch = watch
        self._clocks = [SeatClock(clock) for _ in players]
        self._state = State.deal(deck, len(players), spec.refill)
        self._history: list[Move] = []
        self._played: list[tuple[int, str, float, bool, float | None, str]] = []  # the fields of PlayedMove
        self._faults: list[Fault] = []
        self._in_play = [True] * len(players)  # seats that have not forfeited
        # A share for each seat, so that none can take the others' room for comments.
        self._comment_bytes = [MAX_COMMENTS_BYTES // len(players)] * len(players)

    async def play(self) -> GameRecord:
        end = GameEnd("void", (), ())
        try:
            await self._start()
            if self._watch is not None:
                self._watch(self._spec, self._state, None)
            while self._contested and not self._state.over:
                await self._turn()
            record = self._record()
            end = GameEnd(record.ended, record.ranks, record.scores or ())
        finally:
            for player, in_play in zip(self._players, self._in_play, strict=True):
                if in_play:
                    await player.end(end)
        return record

    @property
    def _contested(self) -> bool:
        return sum(self._in_play) >= MIN_PLAYERS

    async def _start(self) -> None:
        # Waits for all of them, so that no start is left running when one fails on our side.
        outcomes = await asyncio.gather(
            *(
                player.start(GameStart(self._spec.id, seat, len(self._players), self._spec.refill, self._clock))
                for seat, player in enumerate(self._players)
            ),
            return_exceptions=True,
        )
        for seat, outcome in enumerate(outcomes):
            if isinstance(outcome, BaseException):
                raise outcome
            if outcome is not None:
                self._forfeit(seat, FaultKind.STARTUP, outcome.detail)

    async def _turn(self) -> None:
        state = self._state
        seat = state.seat
        if not self._in_play[seat]:
            self._play(state.legal_moves()[0], 0.0, by_referee=True)
            return
        clock = self._clocks[seat]
        view = View.of(state, tuple(self._history), limit_ms=clock.limit_ms, bank_ms=int(clock.bank_ms))
        answer = await self._players[seat].ask(view)
        if isinstance(answer, Failure):
            self._forfeit(seat, answer.kind, answer.detail)
            return
        try:
            move = state.parse(answer.text)
        except IllegalMove as error:  # which says what was legal
            self._forfeit(seat, FaultKind.ILLEGAL_MOVE, f"{error} (after {answer.ms:.1f} ms)")
            return
        except NotationError as error:
            legal = printable(" ".join(move.notation for move in view.legal_moves), _LONGEST_LEGAL)
            detail = f"illegal move at turn {state.turn}: {error}; legal: {legal} (after {answer.ms:.1f} ms)"
            self._forfeit(seat, FaultKind.ILLEGAL_MOVE, detail)
            return
        ms = round(answer.ms * 1000) / 1000  # whole microseconds
        clock.charge(ms)
        comment = self._kept(seat, answer.comment) if answer.comment else ""
        self._play(move, ms, by_referee=False, cpu_ms=answer.cpu_ms, comment=comment)

    def _kept(self, seat: int, comment: str) -> str:
        """What the record keeps of a comment: all that can be shown of it, or nothing if it is not within the room."""
        shown = printable(comment, LONGEST_COMMENT)
        size = len(dump(shown))
        if size > self._comment_bytes[seat]:
            return ""
        self._comment_bytes[seat] -= size
        return shown

    def _play(self, move: Move, ms: float, *, by_referee: bool, cpu_ms: float | None = None, comment: str = "") -> None:
        self._played.append((self._state.seat, move.notation, ms, by_referee, cpu_ms, comment))
        self._history.append(move)
        self._state.play(move)
        if self._watch is not None:
            self._watch(self._spec, self._state, PlayedMove(*self._played[-1]))

    def _forfeit(self, seat: int, kind: FaultKind, detail: str) -> None:
        self._in_play[seat] = False
        self._faults.append(Fault(seat, self._state.turn, kind, printable(detail, LONGEST_DETAIL)))

    def _record(self) -> GameRecord:
        ended: Ended = "festival" if self._contested else "forfeit"
        scores = self._state.scores() if self._contested else None
        spec = self._spec
        return GameRecord(
            league=spec.league,
            night=spec.night,
            match=spec.match,
            deal=spec.deal_id,
            rotation=spec.rotation,
            refill=spec.refill,
            seats=tuple(self._seats),
            deck=self._deck,
            moves=tuple(PlayedMove(*played) for played in self._played),
            festival_turn=self._state.festival_turn if self._state.firefly_out else None,
            ended=ended,
            faults=tuple(self._faults),
            scores=scores,
            ranks=ranks(len(self._players), scores, self._faults),
        )
