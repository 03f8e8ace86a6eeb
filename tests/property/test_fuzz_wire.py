"""Whatever bytes a bot or a referee sends: a value in its ranges, or the project's own error in one bounded line."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import chain, repeat
from random import Random
from typing import TypeVar

from hypothesis import given
from hypothesis import strategies as st

from referee.game import LONGEST_DETAIL, play_game
from referee.model import FaultKind, GameRecord, SeatHolder
from referee.ports import Answer, Failure
from referee.records import from_json, problems, to_json
from referee.schedule import plan_match
from tests.support.fuzz import (
    LOOKALIKES,
    NOISE,
    bounded,
    made,
    mutated_bytes,
    mutated_text,
    tagged,
    value_of,
    varint,
    wire_message,
)
from tests.support.players import FakePlayer
from tests.support.records import version_of
from treelings import (
    Clock,
    GameEnd,
    GameStart,
    IllegalMove,
    Move,
    NotationError,
    ProtocolError,
    State,
    View,
    codec,
    derive_deck,
    told,
    wire,
)
from treelings.bot import LONGEST_COMMENT
from treelings.v1.game_pb2 import RefereeMessage

_Value = TypeVar("_Value")

DECK = derive_deck(bytes(32), "fuzz")


def position(rng: Random) -> State:
    """Any position of a game that is not over."""
    state = State.deal(DECK, rng.randint(2, 5), rng.choice(("start", "end")))
    for _ in range(rng.randint(0, 30)):
        after = state.copy()
        after.play(rng.choice(state.legal_moves()))
        if after.over:
            break
        state = after
    return state


def referee_message(rng: Random) -> bytes:
    """A right message of a referee."""
    state = position(rng)
    view = View.of(state, (), limit_ms=1_000, bank_ms=20_000)
    return rng.choice(
        (
            codec.start_message(GameStart("a game", 1, 3, "end", Clock())),
            codec.query_message(view, 0),
            codec.end_message(GameEnd("festival", (1, 2), (20, 10))),
        )
    ).SerializeToString()


def bot_message(rng: Random) -> bytes:
    """A right message of a bot: for the start, or for one of the first turns."""
    move = Move.parse(rng.choice(("R", "*<BP>G", "-")))
    return rng.choice((codec.ready_message(), codec.reply_message(rng.randrange(4), move))).SerializeToString()


def near_reply(rng: Random) -> bytes:
    """What reads as a reply, or might: fields twice or in another order, unknown ones, odd numbers and texts."""
    fields = [
        varint(1 << 3) + varint(rng.choice((0, 0, 0, 1, 2, 3, 2**32 - 1, 2**32, 2**64 - 1))),
        tagged(2, rng.choice(("R", "R<R", "*", "-", rng.choice(LOOKALIKES), *NOISE)).encode(errors="surrogatepass")),
        *rng.choice(([], [], [varint(3 << 3) + varint(7)], [wire_message(rng)])),
        *rng.choice(([], [tagged(3, rng.choice(NOISE).encode(errors="surrogatepass") * 99)])),
    ]
    rng.shuffle(fields)
    reply = tagged(2, b"".join(fields))
    ready = codec.ready_message().SerializeToString()
    return rng.choice((reply, reply, reply, reply + reply, ready + reply, reply + ready, reply + wire_message(rng)))


def peers(right: Callable[[Random], bytes]) -> st.SearchStrategy[bytes]:
    """What a peer may send: noise, protobuf of its own making, right messages that were tampered with."""
    return st.binary(max_size=200) | made(wire_message) | made(lambda rng: mutated_bytes(rng, right(rng)))


def reply_of(data: bytes, turn: int) -> str | None:
    return value_of(lambda: codec.read_reply(codec.decode_bot(data), turn).move, ProtocolError)


@bounded(1_000)
@given(peers(bot_message) | made(near_reply), st.integers(0, 3))
def test_a_bots_bytes_are_read_or_refused(data: bytes, turn: int) -> None:
    value_of(lambda: codec.read_ready(codec.decode_bot(data)), ProtocolError)
    text = reply_of(data, turn)
    if text is not None:
        assert codec.decode_bot(data).reply.turn == turn
        assert 1 <= len(text) <= codec.LONGEST_MOVE


@bounded(600)
@given(peers(referee_message))
def test_a_referees_bytes_are_read_or_refused(data: bytes) -> None:
    survives(data, told.read_start, codec.start_message)
    survives(data, told.read_end, codec.end_message)
    survives(
        data,
        lambda message: told.read_query(message, 0, 2, "start", ()),
        lambda view: codec.query_message(view, 0),
    )


def survives(
    data: bytes,
    read: Callable[[wire.Start | wire.Query | wire.End | None], _Value],
    write: Callable[[_Value], RefereeMessage],
) -> None:
    """What was read is the same when it was written and read again."""
    value = value_of(lambda: read(wire.read_referee(data)), ProtocolError)
    if value is not None:
        assert read(wire.read_referee(write(value).SerializeToString())) == value


@bounded(1_000)
@given(
    st.text(max_size=12)
    | made(lambda rng: mutated_text(rng, rng.choice(("R", "R<R", "*<BP>G", "-", "Y>Y")), tuple(LOOKALIKES) + NOISE))
    | st.text(st.sampled_from("ROYGBP*-<>" + LOOKALIKES), max_size=10)
)
def test_text_is_the_notation_of_one_move_or_of_none(text: str) -> None:
    move = value_of(lambda: Move.parse(text), NotationError)
    if move is not None:
        assert move.notation == text
        assert set(text) <= set("ROYGBP*-<>")
        assert Move.parse(text) is move


@bounded(600)
@given(
    st.integers(0, 2**63),
    st.text(st.sampled_from("ROYGBP*-<>"), max_size=6) | st.text(st.sampled_from(LOOKALIKES), max_size=4),
)
def test_text_is_a_legal_move_of_a_position_or_refused(seed: int, text: str) -> None:
    state = position(Random(seed))
    move = value_of(lambda: state.parse(text), NotationError, IllegalMove)
    assert move is None or move in state.legal_moves()


class WirePlayer:
    """A seat whose bot sends these messages, one for its start and one for each query, read as a referee reads them.

    None is the right message at its place.
    """

    def __init__(self, messages: Iterator[bytes | None]) -> None:
        self._messages = messages

    async def start(self, game: GameStart) -> Failure | None:
        data = next(self._messages)
        try:
            codec.read_ready(codec.decode_bot(codec.ready_message().SerializeToString() if data is None else data))
        except ProtocolError as error:
            return Failure(FaultKind.STARTUP, str(error))
        return None

    async def ask(self, view: View) -> Answer | Failure:
        data = next(self._messages)
        if data is None:
            data = codec.reply_message(view.turn, view.legal_moves[-1]).SerializeToString()
        try:
            text, comment = codec.read_reply(codec.decode_bot(data), view.turn)
            return Answer(text, 1.0, comment=comment)
        except ProtocolError as error:
            return Failure(FaultKind.PROTOCOL, str(error))

    async def end(self, result: GameEnd) -> None:
        pass


GAME = plan_match(league="fuzz", night=1, bots=("amber", "birch"), deals=1, refill="start").games[0]


def played_against(messages: list[bytes | None]) -> GameRecord:
    """The game of a bot that sends these messages, then right ones, on seat 0 against an honest one on seat 1."""
    wild = WirePlayer(chain(messages, repeat(None)))
    seats = [SeatHolder(bot, version_of(bot)) for bot in GAME.bots]
    return asyncio.run(play_game(GAME, DECK, seats, [wild, FakePlayer()], Clock()))


@bounded(250)
@given(st.lists(st.none() | peers(bot_message) | made(near_reply), max_size=4))
def test_whatever_a_bot_sends_is_a_move_or_a_fault_of_that_bot_alone(messages: list[bytes | None]) -> None:
    record = played_against(messages)
    assert problems(record) == []
    assert from_json(to_json(record)) == record
    for move in record.moves:
        assert move.comment.isprintable()
        assert len(move.comment) <= LONGEST_COMMENT
    for fault in record.faults:
        assert fault.seat == 0
        assert fault.kind in (FaultKind.STARTUP, FaultKind.PROTOCOL, FaultKind.ILLEGAL_MOVE)
        assert fault.detail.isprintable()
        assert len(fault.detail) <= LONGEST_DETAIL


@bounded(250)
@given(made(wire_message) | made(near_reply))
def test_what_is_no_reply_at_all_costs_the_bot_the_game(data: bytes) -> None:
    if reply_of(data, 0) is None:
        record = played_against([None, data])
        assert [(fault.seat, fault.turn, fault.kind) for fault in record.faults] == [(0, 0, FaultKind.PROTOCOL)]
        assert record.ranks == (2, 1)
