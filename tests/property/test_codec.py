"""Whatever is sent comes back equal, and whatever comes is a value or a ProtocolError."""

import random

from hypothesis import given
from hypothesis import strategies as st

from treelings import Clock, GameEnd, GameStart, Move, ProtocolError, Refill, State, View, codec, derive_deck
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


def over_the_wire(message: RefereeMessage) -> RefereeMessage:
    return codec.decode_referee(message.SerializeToString())


@given(starts())
def test_a_start_survives_the_wire(game: GameStart) -> None:
    assert codec.read_start(over_the_wire(codec.start_message(game))) == game


@given(views(), st.data())
def test_a_query_survives_the_wire(view: View, data: st.DataObject) -> None:
    since = data.draw(st.integers(0, len(view.history)))
    message = over_the_wire(codec.query_message(view, since))
    told = view.history[:since]
    assert codec.read_query(message, view.seat, view.players, view.refill, told) == view


@given(views())
def test_a_view_off_the_wire_can_be_sampled_and_played_on(view: View) -> None:
    message = over_the_wire(codec.query_message(view, 0))
    came = codec.read_query(message, view.seat, view.players, view.refill, ())
    state = came.sample(random.Random(0))
    assert state.legal_moves() == came.legal_moves
    state.play(came.legal_moves[0])


@given(ends())
def test_an_end_survives_the_wire(result: GameEnd) -> None:
    assert codec.read_end(over_the_wire(codec.end_message(result))) == result


@given(views(), st.data())
def test_a_reply_survives_the_wire(view: View, data: st.DataObject) -> None:
    move = data.draw(st.sampled_from(view.legal_moves))
    comment = data.draw(st.text(st.characters(codec="utf-8")))
    message = codec.decode_bot(codec.reply_message(view.turn, move, comment).SerializeToString())
    assert codec.read_reply(message, view.turn) == (move.notation, comment)


@given(st.binary() | altered(st.builds(lambda view: codec.query_message(view, 0).SerializeToString(), views())))
def test_whatever_a_referee_sends_gives_a_value_or_a_short_protocol_error(data: bytes) -> None:
    try:
        message = codec.decode_referee(data)
    except ProtocolError as error:
        assert_is_fit_to_show(error)
        return
    for read in (
        codec.read_start,
        lambda message: codec.read_query(message, 0, 2, "start", ()),
        codec.read_end,
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
