"""The referee's side of treelings.v1: its messages made, a bot's read; knows protobuf and nothing of gRPC.

Builders take values of our side and trust them. Readers take what a peer sent: whatever bytes came, they
return a value that keeps the ranges of proto/treelings/v1/game.proto or raise ProtocolError, which says in
one bounded, escaped line what was expected and what came. A bot's side is told.py and wire.py; its two messages are
made here for whoever stands in for one, and has protobuf.
"""

from typing import Final, NamedTuple, NoReturn

from google.protobuf.message import DecodeError

from treelings.cards import GUILDS
from treelings.errors import ProtocolError
from treelings.moves import Move
from treelings.v1.game_pb2 import (
    OUTCOME_FESTIVAL,
    OUTCOME_FORFEIT,
    OUTCOME_VOID,
    REFILL_END,
    REFILL_START,
    BotMessage,
    RefereeMessage,
)
from treelings.view import GameEnd, GameStart, View
from treelings.wire import METHOD as METHOD
from treelings.wire import PATH as PATH
from treelings.wire import PROTOCOL as PROTOCOL
from treelings.wire import SERVICE as SERVICE
from treelings.wire import raw

LONGEST_MOVE: Final = 64
"""Characters that a reply's move may have; the longest move of the game has 9."""

_LONGEST_SHOWN: Final = 40

_TO_NUMBERS: Final = bytes.maketrans(GUILDS.encode(), bytes(range(len(GUILDS))))
_REFILL_NUMBER: Final = {"start": REFILL_START, "end": REFILL_END}
_OUTCOME_NUMBER: Final = {"festival": OUTCOME_FESTIVAL, "forfeit": OUTCOME_FORFEIT, "void": OUTCOME_VOID}


class Reply(NamedTuple):
    """A bot's answer to a query, as it came.

    move     1 to 64 characters, still unjudged
    comment  what the bot says about it, "" if nothing: any characters of Unicode, as many as a message may have
    """

    move: str
    comment: str


def decode_bot(data: bytes) -> BotMessage:
    """The message that a bot sent. Raises ProtocolError if the bytes are none."""
    try:
        return BotMessage.FromString(data)
    except DecodeError:
        raise ProtocolError(f"expected a BotMessage, got {raw(data)}") from None


def start_message(game: GameStart) -> RefereeMessage:
    """Tell a bot of the game that begins."""
    message = RefereeMessage()
    start = message.start
    start.protocol = PROTOCOL
    start.game = game.game
    start.seat = game.seat
    start.players = game.players
    start.refill = _REFILL_NUMBER[game.refill]
    start.startup_ms = game.clock.startup_ms
    start.move_ms = game.clock.move_ms
    start.bank_ms = game.clock.bank_ms
    start.increment_ms = game.clock.increment_ms
    return message


def query_message(view: View, since: int) -> RefereeMessage:
    """Ask for a move; `since` is how many moves of the view's history the bot has been told already."""
    message = RefereeMessage()
    query = message.query
    query.turn = view.turn
    query.row_sizes.extend([len(row) for row in view.rows])
    query.guilds.extend("".join(view.rows).encode().translate(_TO_NUMBERS))
    query.heights.extend([height for heights in view.heights for height in heights])
    query.market.extend(view.market)
    query.unseen.extend(view.unseen)
    query.firefly_out = view.firefly_out
    query.above_firefly = view.above_firefly
    query.moves.extend([move.notation for move in view.history[since:]])
    query.legal.extend([move.notation for move in view.legal_moves])
    query.limit_ms = view.limit_ms
    query.bank_ms = view.bank_ms
    return message


def end_message(result: GameEnd) -> RefereeMessage:
    """Tell a bot how the game ended."""
    message = RefereeMessage()
    end = message.end
    end.outcome = _OUTCOME_NUMBER[result.outcome]
    end.ranks.extend(result.ranks)
    end.scores.extend(result.scores)
    return message


def ready_message() -> BotMessage:
    """Tell the referee that the bot is set up for the game."""
    message = BotMessage()
    message.ready.protocol = PROTOCOL
    return message


def reply_message(turn: int, move: Move, comment: str = "") -> BotMessage:
    """Tell the referee the bot's move in this turn, and what the bot says about it."""
    message = BotMessage()
    reply = message.reply
    reply.turn = turn
    reply.move = move.notation
    if comment:
        reply.comment = comment
    return message


def read_ready(message: BotMessage) -> None:
    """Check that the bot is ready and speaks our version."""
    _expect(message, "ready")
    if message.ready.protocol != PROTOCOL:
        _fail("Ready.protocol", PROTOCOL, message.ready.protocol)


def read_reply(message: BotMessage, turn: int) -> Reply:
    """The bot's move in this turn and its comment, both still unjudged."""
    _expect(message, "reply")
    reply = message.reply
    if reply.turn != turn:
        _fail("Reply.turn", turn, reply.turn)
    text = reply.move
    if not text:
        _fail("Reply.move", "a move", "an empty text")
    if len(text) > LONGEST_MOVE:
        _fail("Reply.move", f"at most {LONGEST_MOVE} characters", f"{len(text)}, beginning {_shown(text)}")
    return Reply(text, reply.comment)


def _expect(message: BotMessage, kind: str) -> None:
    came = message.WhichOneof("message")
    if came != kind:
        raise ProtocolError(f"expected {kind.title()}, got {came.title() if came else 'an empty message'}")


def _fail(field: str, expected: object, got: object) -> NoReturn:
    raise ProtocolError(f"{field}: expected {expected}, got {got}")


def _shown(text: str) -> str:
    return ascii(text[:_LONGEST_SHOWN])
