"""Whatever is sent comes back equal, and whatever comes is a value or a ProtocolError."""

import random

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from treelings import (
    Clock,
    GameEnd,
    GameStart,
    Move,
    ProtocolError,
    Refill,
    State,
    View,
    codec,
    derive_deck,
    told,
    wire,
)
from treelings.v1.game_pb2 import BotMessage, RefereeMessage

numbers = st.integers(0, 2**32 - 1)
players = st.integers(2, 5)
refills: st.SearchStrategy[Refill] = st.sampled_from(("start", "end"))


@st.composite
def starts(draw: st.DrawFn) -> GameStart:
    seats = draw(players)
    clock = Clock(draw(numbers), draw(numbers), draw(numbers), draw(numbers))
    name = draw(st.text(st.characters(codec="utf-8"), max_size=80))
    return GameStart(name, draw(st.integers(0, seats - 1)), seats, draw(refills), clock)


@st.composite
def views(draw: st.DrawFn) -> View:
    """A view out of a random game that is not yet over."""
    rng = random.Random(draw(st.integers(0, 2**64)))
    state = State.deal(derive_deck(rng.randbytes(32), "deal"), draw(players), draw(refills))
    history: list[Move] = []
    for _ in range(draw(st.integers(0, 60))):
        after = state.copy()
        move = rng.choice(state.legal_moves())
        after.play(move)
        if after.over:
            break
        history.append(move)
        state = after
    return View.of(state, tuple(history), limit_ms=draw(numbers), bank_ms=draw(numbers))


@st.composite
def ends(draw: st.DrawFn) -> GameEnd:
    seats = draw(players)
    ranks = tuple(draw(st.lists(st.integers(1, seats), min_size=seats, max_size=seats)))
    scores = tuple(draw(st.lists(numbers, min_size=seats, max_size=seats)))
    return draw(
        st.sampled_from((GameEnd("festival", ranks, scores), GameEnd("forfeit", ranks, ()), GameEnd("void", (), ())))
    )


@st.composite
def altered(draw: st.DrawFn, messages: st.SearchStrategy[bytes]) -> bytes:
    """Bytes that nearly are a message: a few of them replaced, cut out or added."""
    data = bytearray(draw(messages))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
    return bytes(data)


def over_the_wire(message: RefereeMessage) -> wire.Start | wire.Query | wire.End | None:
    return wire.read_referee(message.SerializeToString())


@given(starts())
def test_a_start_survives_the_wire(game: GameStart) -> None:
    assert told.read_start(over_the_wire(codec.start_message(game))) == game


@given(views(), st.data())
def test_a_query_survives_the_wire(view: View, data: st.DataObject) -> None:
    since = data.draw(st.integers(0, len(view.history)))
    message = over_the_wire(codec.query_message(view, since))
    known = view.history[:since]
    assert told.read_query(message, view.seat, view.players, view.refill, known) == view


@given(views())
def test_a_view_off_the_wire_can_be_sampled_and_played_on(view: View) -> None:
    message = over_the_wire(codec.query_message(view, 0))
    came = told.read_query(message, view.seat, view.players, view.refill, ())
    state = came.sample(random.Random(0))
    assert state.legal_moves() == came.legal_moves
    state.play(came.legal_moves[0])


@given(ends())
def test_an_end_survives_the_wire(result: GameEnd) -> None:
    assert told.read_end(over_the_wire(codec.end_message(result))) == result


@st.composite
def fields(draw: st.DrawFn) -> bytes:
    """Fields of any number, type and content, most of them such as our messages have."""
    number, wire_type = draw(st.integers(1, 13) | st.integers(0, 2**29)), draw(st.integers(0, 7))
    content = {
        0: st.builds(varint, st.integers(0, 2**64 - 1) | st.integers(0, 130)),
        1: st.binary(min_size=8, max_size=8),
        2: st.builds(sized, st.binary(max_size=12) | st.lists(fields(), max_size=3).map(b"".join)),
        3: st.builds(lambda inside: inside + varint(number << 3 | 4), st.lists(fields(), max_size=2).map(b"".join)),
        5: st.binary(min_size=4, max_size=4),
    }
    inside: bytes = draw(content.get(wire_type, st.binary(max_size=2)))
    return longer(varint(number << 3 | wire_type), draw(st.just(0) | st.integers(0, 9))) + inside


def varint(number: int) -> bytes:
    return bytes((number,)) if number < 0x80 else bytes((number & 0x7F | 0x80,)) + varint(number >> 7)


def longer(number: bytes, more: int) -> bytes:
    """The same number in so many bytes more."""
    return number[:-1] + bytes((number[-1] | 0x80,)) + bytes((0x80,)) * (more - 1) + b"\0" if more else number


def sized(data: bytes) -> bytes:
    return varint(len(data)) + data


@st.composite
def messages(draw: st.DrawFn) -> bytes:
    """Starts, queries and ends with such fields, some of them begun again or replaced by another."""
    kinds = draw(st.lists(st.sampled_from((1, 2, 3)), max_size=3))
    return b"".join(bytes((kind << 3 | 2,)) + sized(b"".join(draw(st.lists(fields(), max_size=6)))) for kind in kinds)


def told_by_protobuf(data: bytes) -> dict[str, object] | str | None:
    try:
        message = RefereeMessage.FromString(data)
    except DecodeError:
        return "refused"
    kind = message.WhichOneof("message")
    if kind is None:
        return None
    inside = getattr(message, kind)
    values = {field.name: getattr(inside, field.name) for field in inside.DESCRIPTOR.fields}
    return {"": kind} | {
        name: value if isinstance(value, (int, str)) else list(value) for name, value in values.items()
    }


def told_by_hand(data: bytes) -> dict[str, object] | str | None:
    try:
        message = wire.read_referee(data)
    except ProtocolError:
        return "refused"
    if message is None:
        return None
    return {"": type(message).__name__.lower()} | {name: getattr(message, name) for name in type(message).__slots__}


@given(
    messages()
    | altered(st.builds(lambda view: codec.query_message(view, 0).SerializeToString(), views()))
    | altered(st.builds(lambda game: codec.start_message(game).SerializeToString(), starts()))
    | altered(st.builds(lambda result: codec.end_message(result).SerializeToString(), ends()))
    | st.lists(fields(), max_size=4).map(b"".join)
)
def test_a_bot_reads_and_refuses_what_protobuf_does(data: bytes) -> None:
    assert told_by_hand(data) == told_by_protobuf(data)


@pytest.mark.parametrize("more", [0, 1, 3, 4, 5, 8, 9, 10])
@pytest.mark.parametrize("tag", [1 << 3, 2 << 3 | 2, 13 << 3 | 2, 13 << 3])
def test_a_bot_reads_numbers_in_more_bytes_than_they_need_as_protobuf_does(tag: int, more: int) -> None:
    one = varint(1)
    for field in (
        longer(varint(tag), more) + one + b"R",
        varint(tag) + longer(one, more) + b"R",
        varint(14 << 3 | 3) + varint(tag) + longer(one, more) + b"R" * (tag & 2 > 0) + varint(14 << 3 | 4),
    ):
        for data in (field, b"\x0a" + sized(field), longer(b"\x0a", more) + b"\0", b"\x0a" + longer(b"\0", more)):
            assert told_by_hand(data) == told_by_protobuf(data)


@pytest.mark.parametrize("deep", [1, 98, 99, 100, 101])
def test_a_bot_passes_over_groups_as_deep_as_protobuf_does(deep: int) -> None:
    groups = b"\x7b" * deep + b"\x00\x01" + b"\x7c" * deep  # field 0, which is none, as well
    for data in (groups, b"\x12" + sized(groups), groups[1:], groups[:-1]):
        assert told_by_hand(data) == told_by_protobuf(data)


@given(
    numbers, st.sampled_from([Move.parse(text) for text in ("R", "*<BP>G", "-")]), st.text(st.characters(codec="utf-8"))
)
def test_a_bot_answers_as_protobuf_would_write_it(turn: int, move: Move, comment: str) -> None:
    assert wire.reply(turn, move.notation, comment) == codec.reply_message(turn, move, comment).SerializeToString()
    assert wire.ready() == codec.ready_message().SerializeToString()


@given(views(), st.data())
def test_a_reply_survives_the_wire(view: View, data: st.DataObject) -> None:
    move = data.draw(st.sampled_from(view.legal_moves))
    comment = data.draw(st.text(st.characters(codec="utf-8")))
    message = codec.decode_bot(codec.reply_message(view.turn, move, comment).SerializeToString())
    assert codec.read_reply(message, view.turn) == (move.notation, comment)


@given(st.binary() | altered(st.builds(lambda view: codec.query_message(view, 0).SerializeToString(), views())))
def test_whatever_a_referee_sends_gives_a_value_or_a_short_protocol_error(data: bytes) -> None:
    try:
        message = wire.read_referee(data)
    except ProtocolError as error:
        assert_is_fit_to_show(error)
        return
    for read in (
        told.read_start,
        lambda message: told.read_query(message, 0, 2, "start", ()),
        told.read_end,
    ):
        try:
            read(message)
        except ProtocolError as error:
            assert_is_fit_to_show(error)


@given(
    st.binary()
    | altered(st.just(codec.ready_message().SerializeToString()))
    | altered(st.just(codec.reply_message(0, Move.parse("*<BP>G")).SerializeToString())),
    st.integers(0, 3),
)
def test_whatever_a_bot_sends_gives_a_value_or_a_short_protocol_error(data: bytes, turn: int) -> None:
    try:
        message: BotMessage = codec.decode_bot(data)
    except ProtocolError as error:
        assert_is_fit_to_show(error)
        return
    try:
        codec.read_ready(message)
    except ProtocolError as error:
        assert_is_fit_to_show(error)
    try:
        text, _ = codec.read_reply(message, turn)
    except ProtocolError as error:
        assert_is_fit_to_show(error)
    else:
        assert 1 <= len(text) <= codec.LONGEST_MOVE


def assert_is_fit_to_show(error: ProtocolError) -> None:
    assert str(error).isprintable()
    assert len(str(error)) <= 400
