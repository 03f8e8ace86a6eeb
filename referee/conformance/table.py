"""A game of the conformance run: the bot has one seat of it, and the run moves for all others."""

from collections.abc import Callable
from typing import Final

from referee.clock import SeatClock
from referee.conformance.talk import Ended, Talk
from treelings import Clock, GameEnd, GameStart, IllegalMove, Move, NotationError, ProtocolError, State, View, codec
from treelings.rules import Refill
from treelings.v1.game_pb2 import RefereeMessage

Choose = Callable[[State], Move]
"""Moves for the seats that the bot does not have."""

_SHOWN_LEGAL: Final = 8
_CLOSE_MS: Final = 1_000


class Measures:
    """What a whole run has seen of the bot.

    comment      characters of the longest comment
    message      bytes of the largest message
    game         bytes of the game for which the bot sent most, HTTP/2's own included
    """

    def __init__(self) -> None:
        self.comment = 0
        self.message = 0
        self.game = 0


class Table:
    """One game on one stream.

    state          the position
    largest_query  bytes of the largest Query so far
    """

    def __init__(
        self, talk: Talk, game: GameStart, deck: str, measures: Measures, *,
        others: Choose, alter: Callable[[RefereeMessage], None] = lambda _: None,
    ) -> None:  # fmt: skip
        """`alter` may change each message before it is sent."""
        self.talk = talk
        self.largest_query = 0
        self.state = State.deal(deck, game.players, game.refill)
        self._game = game
        self._measures = measures
        self._others = others
        self._alter = alter
        self._clock = SeatClock(game.clock)
        self._history: list[Move] = []
        self._told = 0

    async def start(self) -> None:
        """Send Start. Raises Wrong."""
        await self._send(codec.start_message(self._game))

    async def ready(self) -> None:
        """Wait for Ready. Raises Wrong."""
        data, _ = await self.talk.message("Ready", self._game.clock.startup_ms)
        try:
            codec.read_ready(codec.decode_bot(data))
        except ProtocolError as error:
            expected = f"Ready of protocol {codec.PROTOCOL}"
            raise self.talk.wrong(expected, _got(error)) from None

    async def begin(self) -> None:
        """Send Start and wait for Ready. Raises Wrong."""
        await self.start()
        await self.ready()

    async def play(self, queries: int | None = None) -> None:
        """Play on: so many queries, or to the end. Raises Wrong."""
        while not self.state.over and queries != 0:
            if self.state.seat != self._game.seat:
                self._move(self._others(self.state))
                continue
            await self.ask()
            await self.answer()
            queries = None if queries is None else queries - 1

    async def ask(self) -> None:
        """Come to the bot's next turn and send its Query. Raises Wrong."""
        while self.state.seat != self._game.seat:
            self._move(self._others(self.state))
        query = self.query()
        self.largest_query = max(self.largest_query, query.ByteSize())
        await self._send(query)
        self._told = len(self._history)

    def query(self) -> RefereeMessage:
        """What is asked at this position."""
        return codec.query_message(self._view(), self._told)

    async def answer(self) -> None:
        """Wait for the Reply to the Query, and play it. Raises Wrong."""
        turn, limit_ms = self.state.turn, self._clock.limit_ms
        data, ms = await self.talk.message(f"a Reply to turn {turn}", limit_ms)
        try:
            reply = codec.read_reply(codec.decode_bot(data), turn)
            move = self.state.parse(reply.move)
        except ProtocolError as error:
            raise self.talk.wrong(f"a Reply to turn {turn}", _got(error)) from None
        except (IllegalMove, NotationError) as error:
            legal = [move.notation for move in self.state.legal_moves()]
            more = f" … ({len(legal)} in all)" if len(legal) > _SHOWN_LEGAL else ""
            expected = f"a legal move: {' '.join(legal[:_SHOWN_LEGAL])}{more}"
            raise self.talk.wrong(expected, str(error)) from None
        self._clock.charge(ms)
        self._measure(reply.comment)
        self._move(move)

    async def end(self, within_ms: int, outcome: str = "festival") -> None:
        """Send End as this outcome has it, hang up, and wait for the bot to do so too. Raises Wrong."""
        await self._leave(outcome)
        await self.talk.end(within_ms)

    async def close(self, outcome: str = "void") -> None:
        """The same, but how the bot ends the stream is for another corner to say."""
        await self._leave(outcome)
        while isinstance(await self.talk.receive(_CLOSE_MS), bytes):
            pass
        self.talk.cancel()

    async def over(self, within_ms: int) -> bytes | Ended | None:
        """The same, and what came then."""
        await self._leave("void")
        return await self.talk.receive(within_ms)

    async def _leave(self, outcome: str) -> None:
        await self._send(codec.end_message(self._result(outcome)))
        await self.talk.half_close()

    def _result(self, outcome: str) -> GameEnd:
        ranks = () if outcome == "void" else tuple(range(1, self._game.players + 1))
        if outcome == "festival":
            scores = self.state.scores()
            return GameEnd(outcome, tuple(1 + sum(other > own for other in scores) for own in scores), scores)
        return GameEnd(outcome, ranks, ())

    def _view(self) -> View:
        clock = self._clock
        return View.of(self.state, tuple(self._history), limit_ms=clock.limit_ms, bank_ms=int(clock.bank_ms))

    def _move(self, move: Move) -> None:
        self._history.append(move)
        self.state.play(move)

    async def _send(self, message: RefereeMessage) -> None:
        self._alter(message)
        await self.talk.send(message)

    def _measure(self, comment: str) -> None:
        measures = self._measures
        measures.comment = max(measures.comment, len(comment))
        measures.message = max(measures.message, self.talk.largest)


def start(players: int, seat: int, refill: Refill, clock: Clock, name: str) -> GameStart:
    """A game of the run."""
    return GameStart(f"conformance/{name}", seat, players, refill, clock)


def any_move(state: State) -> Move:
    """One of the legal moves, now this and now that."""
    legal = state.legal_moves()
    return legal[state.turn * 7 % len(legal)]


def most_cards(state: State) -> Move:
    """The move that takes most cards; of equal ones the first."""
    return max(state.legal_moves(), key=lambda move: _cards(state, move))


def fewest_cards(state: State) -> Move:
    """The move that takes fewest cards; of equal ones the first."""
    return min(state.legal_moves(), key=lambda move: _cards(state, move))


def _cards(state: State, move: Move) -> int:
    after = state.copy()
    after.play(move)
    seat = state.seat
    return sum(after.heights(seat)) - sum(state.heights(seat))


def _got(error: ProtocolError) -> str:
    """The part of a refusal that says what came, with the field that it came in."""
    text = str(error)
    field, found, rest = text.partition(": expected ")
    if not found:
        return text.partition("got ")[2] or text
    return f"{field} = {rest.rpartition('got ')[2]}"
