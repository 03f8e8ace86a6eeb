"""Messages of treelings.v1 to and from the kit's own types; knows protobuf and nothing of gRPC.

Builders take values of our side and trust them. Readers take what a peer sent: whatever bytes came, they
return a value that keeps the ranges of proto/treelings/v1/game.proto or raise ProtocolError, which says in
one bounded, escaped line what was expected and what came.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple, NoReturn, TypeVar

from google.protobuf.message import DecodeError

from treelings.cards import (
    CARDS,
    CARDS_PER_GUILD,
    FIREFLY_INDEX,
    GUILDS,
    MARKET_SIZE,
    MAX_PLAYERS,
    MIN_PLAYERS,
)
from treelings.errors import NotationError, ProtocolError
from treelings.moves import Move
from treelings.rules import Refill
from treelings.v1.game_pb2 import (
    OUTCOME_FESTIVAL,
    OUTCOME_FORFEIT,
    OUTCOME_VOID,
    REFILL_END,
    REFILL_START,
    BotMessage,
    RefereeMessage,
)
from treelings.view import Clock, GameEnd, GameStart, View

PROTOCOL: Final = 1
"""Version of the protocol that this package speaks."""

SERVICE: Final = "treelings.v1.Bot"
METHOD: Final = "Play"
PATH: Final = f"/{SERVICE}/{METHOD}"
"""What a gRPC client calls: one call is one game."""

LONGEST_MOVE: Final = 64
"""Characters that a reply's move may have; the longest move of the game has 9."""

_LONGEST_SHOWN: Final = 40
_BELOW_FIREFLY: Final = CARDS - FIREFLY_INDEX
_ALL_CARDS: Final = [CARDS_PER_GUILD] * len(GUILDS)

_NUMBER: Final = {guild: number for number, guild in enumerate(GUILDS)}
_TO_NUMBERS: Final = bytes.maketrans(GUILDS.encode(), bytes(range(len(GUILDS))))
_REFILL_NUMBER: Final = {"start": REFILL_START, "end": REFILL_END}
_REFILL_NAME: Final[dict[int, Refill]] = {REFILL_START: "start", REFILL_END: "end"}
_OUTCOME_NUMBER: Final = {"festival": OUTCOME_FESTIVAL, "forfeit": OUTCOME_FORFEIT, "void": OUTCOME_VOID}
_OUTCOME_NAME: Final[dict[int, str]] = {number: name for name, number in _OUTCOME_NUMBER.items()}

_Name = TypeVar("_Name", bound=str)


class Reply(NamedTuple):
    """A bot's answer to a query, as it came.

    move     1 to 64 characters, still unjudged
    comment  what the bot says about it, "" if nothing: any characters of Unicode, as many as a message may have
    """

    move: str
    comment: str


_parse = cache(Move.parse)  # successes alone are kept, and there are 6722 of them


def decode_referee(data: bytes) -> RefereeMessage:
    """The message that a referee sent. Raises ProtocolError if the bytes are none."""
    try:
        return RefereeMessage.FromString(data)
    except DecodeError:
        raise ProtocolError(f"expected a RefereeMessage, got {_raw(data)}") from None


def decode_bot(data: bytes) -> BotMessage:
    """The message that a bot sent. Raises ProtocolError if the bytes are none."""
    try:
        return BotMessage.FromString(data)
    except DecodeError:
        raise ProtocolError(f"expected a BotMessage, got {_raw(data)}") from None


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


def read_start(message: RefereeMessage) -> GameStart:
    """The game that begins."""
    _expect(message, "start")
    start = message.start
    if start.protocol != PROTOCOL:
        _fail("Start.protocol", PROTOCOL, start.protocol)
    if not MIN_PLAYERS <= start.players <= MAX_PLAYERS:
        _fail("Start.players", f"{MIN_PLAYERS} to {MAX_PLAYERS}", start.players)
    if start.seat >= start.players:
        _fail("Start.seat", f"0 to {start.players - 1}", start.seat)
    return GameStart(
        game=start.game,
        seat=start.seat,
        players=start.players,
        refill=_known(_REFILL_NAME, "Start.refill", start.refill),
        clock=Clock(start.startup_ms, start.move_ms, start.bank_ms, start.increment_ms),
    )


def read_query(message: RefereeMessage, seat: int, players: int, refill: Refill, history: tuple[Move, ...]) -> View:
    """What the seat sees; `history` holds the moves that earlier queries told."""
    _expect(message, "query")
    query = message.query
    moves = (*history, *_moves("Query.moves", query.moves))
    if query.turn % players != seat:
        _fail("Query.turn", f"a turn of seat {seat} of {players}", query.turn)
    if query.turn != len(moves):
        _fail("Query.moves", f"{query.turn} moves so far", len(moves))
    legal = _moves("Query.legal", query.legal)
    if not legal:
        _fail("Query.legal", "at least one move", "none")
    rows, heights = _rows(query.row_sizes, query.guilds, query.heights, players)
    market, unseen = tuple(query.market), tuple(query.unseen)
    _check_cards(rows, heights, market, unseen)
    pile = sum(unseen)
    if query.above_firefly != max(0, pile - _BELOW_FIREFLY):
        _fail("Query.above_firefly", max(0, pile - _BELOW_FIREFLY), query.above_firefly)
    if query.firefly_out != (pile < _BELOW_FIREFLY):
        _fail("Query.firefly_out", f"{pile < _BELOW_FIREFLY} with {pile} cards unseen", query.firefly_out)
    return View(
        seat=seat,
        turn=query.turn,
        players=players,
        refill=refill,
        rows=rows,
        heights=heights,
        market=market,
        unseen=unseen,
        above_firefly=query.above_firefly,
        firefly_out=query.firefly_out,
        legal_moves=legal,
        history=moves,
        limit_ms=query.limit_ms,
        bank_ms=query.bank_ms,
    )


def read_end(message: RefereeMessage) -> GameEnd:
    """How the game ended."""
    _expect(message, "end")
    end = message.end
    outcome = _known(_OUTCOME_NAME, "End.outcome", end.outcome)
    ranks, scores = tuple(end.ranks), tuple(end.scores)
    if outcome == "void":
        if ranks:
            _fail("End.ranks", "none in a void game", f"{len(ranks)} numbers")
    elif not MIN_PLAYERS <= len(ranks) <= MAX_PLAYERS:
        _fail("End.ranks", f"{MIN_PLAYERS} to {MAX_PLAYERS} numbers", f"{len(ranks)} numbers")
    elif not all(1 <= rank <= len(ranks) for rank in ranks):
        _fail("End.ranks", f"ranks from 1 to {len(ranks)}", ranks)
    expected = len(ranks) if outcome == "festival" else 0
    if len(scores) != expected:
        _fail("End.scores", f"{expected} numbers", f"{len(scores)} numbers")
    return GameEnd(outcome, ranks, scores)


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


def _expect(message: RefereeMessage | BotMessage, kind: str) -> None:
    came = message.WhichOneof("message")
    if came != kind:
        raise ProtocolError(f"expected {kind.title()}, got {came.title() if came else 'an empty message'}")


def _fail(field: str, expected: object, got: object) -> NoReturn:
    raise ProtocolError(f"{field}: expected {expected}, got {got}")


def _known(names: Mapping[int, _Name], field: str, number: int) -> _Name:
    if number not in names:
        _fail(field, "one of " + ", ".join(map(str, names)), number)
    return names[number]


def _moves(field: str, texts: Sequence[str]) -> tuple[Move, ...]:
    try:
        return tuple(map(_parse, texts))
    except NotationError as error:
        raise ProtocolError(f"{field}: {error}") from None


def _rows(
    sizes: Sequence[int], guilds: Sequence[int], heights: Sequence[int], players: int
) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    if len(sizes) != players:
        _fail("Query.row_sizes", f"{players} numbers", f"{len(sizes)} numbers")
    if not sum(sizes) == len(guilds) == len(heights):
        _fail(
            "Query.row_sizes, guilds and heights",
            "as many guilds and heights as columns",
            f"{sum(sizes)} columns, {len(guilds)} guilds, {len(heights)} heights",
        )
    if max(guilds, default=0) >= len(GUILDS):
        _fail("Query.guilds", f"numbers from 0 to {len(GUILDS) - 1}", max(guilds))
    if 0 in heights:
        _fail("Query.heights", "at least one card a column", 0)
    letters = "".join([GUILDS[guild] for guild in guilds])
    rows, tall, at = [], [], 0
    for seat, size in enumerate(sizes):
        row = letters[at : at + size]
        if not row or len(set(row)) != size:
            _fail(f"the row of seat {seat}", "one column or more, no guild twice", repr(row[:_LONGEST_SHOWN]))
        rows.append(row)
        tall.append(tuple(heights[at : at + size]))
        at += size
    return tuple(rows), tuple(tall)


def _check_cards(
    rows: tuple[str, ...], heights: tuple[tuple[int, ...], ...], market: Sequence[int], unseen: Sequence[int]
) -> None:
    """Every card is in a row, in the market or unseen."""
    for field, counts in (("Query.market", market), ("Query.unseen", unseen)):
        if len(counts) != len(GUILDS):
            _fail(field, f"{len(GUILDS)} counts", f"{len(counts)} counts")
    if sum(market) > MARKET_SIZE:
        _fail("Query.market", f"at most {MARKET_SIZE} cards", sum(market))
    cards = [lying + hidden for lying, hidden in zip(market, unseen, strict=True)]
    for row, tall in zip(rows, heights, strict=True):
        for guild, height in zip(row, tall, strict=True):
            cards[_NUMBER[guild]] += height
    if cards != _ALL_CARDS:
        _fail("cards of each guild in rows, market and unseen", _ALL_CARDS, cards)


def _shown(text: str) -> str:
    return ascii(text[:_LONGEST_SHOWN])


def _raw(data: bytes) -> str:
    return f"{len(data)} bytes that are none, beginning {data[:_LONGEST_SHOWN]!r}"
