"""What the readers of messages refuse, field by field, and in which words (proto/treelings/v1/game.proto)."""

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from treelings import Clock, GameEnd, GameStart, Move, ProtocolError, State, View, codec, derive_deck, told, wire
from treelings.v1.game_pb2 import BotMessage, Query, RefereeMessage

DECK = derive_deck(bytes(32), "demo/0")
GAME = GameStart("night 1/a-vs-b/0/r0", 1, 2, "end", Clock(10_000, 1_000, 20_000, 100))


def came(message: RefereeMessage) -> wire.Start | wire.Query | wire.End | None:
    """A message of the referee's as a bot reads it."""
    return wire.read_referee(message.SerializeToString())


def position(turns: int = 0) -> tuple[State, tuple[Move, ...]]:
    state, history = State.deal(DECK, 2), []
    for _ in range(turns):
        history.append(state.legal_moves()[0])
        state.play(history[-1])
    return state, tuple(history)


def query(change: Callable[[Query], object] = lambda _: None) -> RefereeMessage:
    """The query of turn 2, changed."""
    message = codec.query_message(View.of(*position(2), limit_ms=1_000, bank_ms=20_000), 0)
    change(message.query)
    return message


def refusal(change: Callable[[Query], object]) -> str:
    with pytest.raises(ProtocolError) as caught:
        told.read_query(came(query(change)), 0, 2, "start", ())
    return str(caught.value)


def put(field: str, *numbers: int) -> Callable[[Query], None]:
    def change(message: Query) -> None:
        getattr(message, field)[:] = numbers

    return change


# Referee to bot


def test_a_start_comes_back_as_it_was_sent() -> None:
    assert told.read_start(came(codec.start_message(GAME))) == GAME


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("protocol", 2, "Start.protocol: expected 1, got 2"),
        ("protocol", 0, "Start.protocol: expected 1, got 0"),
        ("players", 1, "Start.players: expected 2 to 5, got 1"),
        ("players", 6, "Start.players: expected 2 to 5, got 6"),
        ("seat", 2, "Start.seat: expected 0 to 1, got 2"),
        ("refill", 0, "Start.refill: expected one of 1, 2, got 0"),
        ("refill", 3, "Start.refill: expected one of 1, 2, got 3"),
    ],
)
def test_a_start_out_of_range_is_refused(field: str, value: int, says: str) -> None:
    message = codec.start_message(GAME)
    setattr(message.start, field, value)
    with pytest.raises(ProtocolError) as caught:
        told.read_start(came(message))
    assert str(caught.value) == says


def test_a_query_comes_back_as_the_view_that_it_was_made_from() -> None:
    state, history = position(6)
    view = View.of(state, history, limit_ms=1_000, bank_ms=19_876)
    assert told.read_query(came(codec.query_message(view, 0)), 0, 2, "start", ()) == view


def test_a_query_brings_only_the_moves_since_the_query_before() -> None:
    state, history = position(6)
    message = codec.query_message(View.of(state, history), 4)
    assert list(message.query.moves) == [move.notation for move in history[4:]]
    assert told.read_query(came(message), 0, 2, "start", history[:4]).history == history


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda q: setattr(q, "turn", 3), "Query.turn: expected a turn of seat 0 of 2, got 3"),
        (lambda q: setattr(q, "turn", 4), "Query.moves: expected 4 moves so far, got 2"),
        (lambda q: q.moves.append("R"), "Query.moves: expected 2 moves so far, got 3"),
        (put("moves"), "Query.moves: expected 2 moves so far, got 0"),
        (put("legal"), "Query.legal: expected at least one move, got none"),
        (put("row_sizes"), "Query.row_sizes: expected 2 numbers, got 0 numbers"),
        (put("row_sizes", 1, 1, 1), "Query.row_sizes: expected 2 numbers, got 3 numbers"),
        (put("market", 1, 1, 1), "Query.market: expected 6 counts, got 3 counts"),
        (put("market", 3, 3, 0, 0, 0, 0), "Query.market: expected at most 5 cards, got 6"),
        (put("unseen", *[1] * 7), "Query.unseen: expected 6 counts, got 7 counts"),
        (lambda q: setattr(q, "firefly_out", True), "Query.firefly_out: expected False with"),
        (lambda q: setattr(q, "above_firefly", 1), "Query.above_firefly: expected"),
        (lambda q: q.guilds.__setitem__(0, 6), "Query.guilds: expected numbers from 0 to 5, got 6"),
        (lambda q: q.guilds.__setitem__(0, 2**32 - 1), "Query.guilds: expected numbers from 0 to 5, got 4294967295"),
        (lambda q: q.guilds.__setitem__(0, q.guilds[1]), "the row of seat 0: expected one column or more, no guild"),
        (lambda q: q.heights.__setitem__(0, 0), "Query.heights: expected at least one card a column, got 0"),
        (lambda q: q.heights.__setitem__(0, 9), "cards of each guild in rows, market and unseen: expected [18, 18"),
        (lambda q: q.heights.append(1), "Query.row_sizes, guilds and heights: expected as many guilds and heights"),
    ],
)  # fmt: skip
def test_a_query_out_of_range_is_refused(change: Callable[[Query], object], says: str) -> None:
    assert refusal(change).startswith(says)


def test_a_row_without_columns_is_refused() -> None:
    def change(message: Query) -> None:
        message.row_sizes[:] = [0, sum(message.row_sizes)]

    assert refusal(change).startswith("the row of seat 0: expected one column or more")


@pytest.mark.parametrize("field", ["moves", "legal"])
def test_a_text_that_is_no_move_is_refused_and_shown_bounded(field: str) -> None:
    said = refusal(lambda q: getattr(q, field).append("\x1b[31m" + "X" * 10_000))
    assert said.startswith(f"Query.{field}: ")
    assert "\x1b" not in said
    assert len(said) < 200


@pytest.mark.parametrize(
    "result",
    [
        GameEnd("festival", (1, 2), (21, 17)),
        GameEnd("festival", (1, 1, 3, 3, 5), (9, 9, 4, 4, 0)),
        GameEnd("forfeit", (2, 1), ()),
        GameEnd("void", (), ()),
    ],
)
def test_an_end_comes_back_as_it_was_sent(result: GameEnd) -> None:
    assert told.read_end(came(codec.end_message(result))) == result


@pytest.mark.parametrize(
    ("result", "says"),
    [
        (GameEnd("festival", (), ()), "End.ranks: expected 2 to 5 numbers, got 0 numbers"),
        (GameEnd("festival", (1,) * 6, (1,) * 6), "End.ranks: expected 2 to 5 numbers, got 6 numbers"),
        (GameEnd("festival", (1, 3), (1, 1)), "End.ranks: expected ranks from 1 to 2, got (1, 3)"),
        (GameEnd("festival", (0, 1), (1, 1)), "End.ranks: expected ranks from 1 to 2, got (0, 1)"),
        (GameEnd("festival", (1, 2), (1,)), "End.scores: expected 2 numbers, got 1 numbers"),
        (GameEnd("forfeit", (1, 2), (1, 1)), "End.scores: expected 0 numbers, got 2 numbers"),
        (GameEnd("void", (1, 2), ()), "End.ranks: expected none in a void game, got 2 numbers"),
        (GameEnd("void", (), (1,)), "End.scores: expected 0 numbers, got 1 numbers"),
    ],
)
def test_an_end_out_of_range_is_refused(result: GameEnd, says: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        told.read_end(came(codec.end_message(result)))
    assert str(caught.value) == says


def test_an_outcome_that_nobody_knows_is_refused() -> None:
    message = codec.end_message(GameEnd("void", (), ()))
    message.end.outcome = 0  # type: ignore[assignment]  # what a peer may send all the same
    with pytest.raises(ProtocolError, match=r"^End.outcome: expected one of 1, 2, 3, got 0$"):
        told.read_end(came(message))


# Bot to referee


def test_a_ready_of_our_version_passes() -> None:
    codec.read_ready(codec.ready_message())


def test_a_ready_of_another_version_is_refused() -> None:
    message = codec.ready_message()
    message.ready.protocol = 2
    with pytest.raises(ProtocolError, match=r"^Ready.protocol: expected 1, got 2$"):
        codec.read_ready(message)


def test_a_reply_gives_the_move_as_text_unjudged() -> None:
    message = BotMessage()
    message.reply.turn = 7
    message.reply.move = "not a move"
    assert codec.read_reply(message, 7) == ("not a move", "")


def test_a_reply_carries_the_moves_notation() -> None:
    assert codec.read_reply(codec.reply_message(12, Move.parse("*<BP>G")), 12).move == "*<BP>G"


def test_a_reply_carries_a_comment_whole_and_without_one_not_a_byte_for_it() -> None:
    move = Move.parse("R")
    assert codec.read_reply(codec.reply_message(12, move, "\x1b[2J" * 100), 12) == codec.Reply("R", "\x1b[2J" * 100)
    assert codec.reply_message(12, move, "").SerializeToString() == codec.reply_message(12, move).SerializeToString()
    assert len(codec.reply_message(12, move, "x").SerializeToString()) > len(
        codec.reply_message(12, move).SerializeToString()
    )


def test_a_reply_to_another_turn_is_refused() -> None:
    with pytest.raises(ProtocolError, match=r"^Reply.turn: expected 12, got 11$"):
        codec.read_reply(codec.reply_message(11, Move.parse("R")), 12)


def test_a_reply_without_a_move_is_refused() -> None:
    message = BotMessage()
    message.reply.turn = 3
    with pytest.raises(ProtocolError, match=r"^Reply.move: expected a move, got an empty text$"):
        codec.read_reply(message, 3)


def test_a_reply_of_64_characters_passes_and_one_of_65_is_refused_bounded_and_escaped() -> None:
    message = BotMessage()
    message.reply.move = "\x1b" * 64
    assert codec.read_reply(message, 0).move == "\x1b" * 64
    message.reply.move = "\x1b]0;gotcha\x07" + "X" * 100_000
    with pytest.raises(ProtocolError) as caught:
        codec.read_reply(message, 0)
    assert str(caught.value).startswith("Reply.move: expected at most 64 characters, got 100011, beginning '\\x1b]0;")
    assert len(str(caught.value)) < 150


# Both


def test_an_empty_message_is_refused_by_every_reader() -> None:
    for kind, read in REFEREE_READERS.items():
        with pytest.raises(ProtocolError, match=rf"^expected {kind}, got an empty message$"):
            read(RefereeMessage())
    for kind, read_bot in BOT_READERS.items():
        with pytest.raises(ProtocolError, match=rf"^expected {kind}, got an empty message$"):
            read_bot(BotMessage())


def test_a_message_of_another_kind_is_refused_by_every_reader() -> None:
    sent = {"Start": codec.start_message(GAME), "Query": query(), "End": codec.end_message(GameEnd("void", (), ()))}
    for kind, read in REFEREE_READERS.items():
        for other in sent.keys() - {kind}:
            with pytest.raises(ProtocolError, match=rf"^expected {kind}, got {other}$"):
                read(sent[other])
    with pytest.raises(ProtocolError, match=r"^expected Ready, got Reply$"):
        codec.read_ready(codec.reply_message(0, Move.parse("R")))
    with pytest.raises(ProtocolError, match=r"^expected Reply, got Ready$"):
        codec.read_reply(codec.ready_message(), 0)


def test_every_message_of_ours_differs_from_an_empty_one() -> None:
    for message in (codec.ready_message(), codec.reply_message(0, Move.parse("-")), codec.start_message(GAME)):
        assert message.SerializeToString()


def test_bytes_that_are_no_message_are_refused_with_a_bounded_sample() -> None:
    for decode in (codec.decode_bot, wire.read_referee):
        with pytest.raises(ProtocolError, match=r"^expected a \w+Message, got 5000 bytes") as caught:
            decode(b"\xff" * 5000)
        assert len(str(caught.value)) < 300


def test_a_number_that_the_wire_cannot_carry_is_our_own_error_when_building() -> None:
    with pytest.raises(ValueError, match="out of range"):
        codec.end_message(GameEnd("festival", (-1, 1), (0, 0)))


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("treelings", {"dataclasses", "google.protobuf", "grpc", "hashlib", "hpack", "treelings.rules"}),
        ("treelings.server", {"dataclasses", "google.protobuf", "grpc", "hashlib", "hpack", "treelings.rules"}),
        ("treelings.codec", {"grpc"}),
    ],
)
def test_what_a_bot_does_not_need_is_not_loaded(module: str, absent: set[str]) -> None:
    # -S: what is installed for all programs may load what it likes.
    command = [sys.executable, "-S", "-c", f"import sys, {module}; print(*sys.modules)"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    loaded = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
    assert module in loaded
    assert not absent & set(loaded)


@pytest.mark.parametrize("name", ["State", "Rng", "rules"])
def test_the_forward_model_is_loaded_once_it_is_asked_for(name: str) -> None:
    script = f"import sys, treelings; treelings.{name}; assert 'treelings.rules' in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


REFEREE_READERS: dict[str, Callable[[RefereeMessage], object]] = {
    "Start": lambda message: told.read_start(came(message)),
    "Query": lambda message: told.read_query(came(message), 0, 2, "start", ()),
    "End": lambda message: told.read_end(came(message)),
}
BOT_READERS: dict[str, Callable[[BotMessage], object]] = {
    "Ready": codec.read_ready,
    "Reply": lambda message: codec.read_reply(message, 0),
}
