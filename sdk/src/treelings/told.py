"""What a referee has told a bot, as the kit's own types.

Readers take what a peer sent (wire.py) and keep the ranges of proto/treelings/v1/game.proto, or raise ProtocolError,
which says in one bounded, escaped line what was expected and what came.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, NoReturn, TypeVar

from treelings.cards import (
    CARDS,
    CARDS_PER_GUILD,
    FIREFLY_INDEX,
    GUILDS,
    MARKET_SIZE,
    MAX_PLAYERS,
    MIN_PLAYERS,
    Refill,
)
from treelings.errors import NotationError, ProtocolError
from treelings.moves import Move
from treelings.view import Clock, GameEnd, GameStart, View
from treelings.wire import (
    OUTCOME_FESTIVAL,
    OUTCOME_FORFEIT,
    OUTCOME_VOID,
    PROTOCOL,
    REFILL_END,
    REFILL_START,
    End,
    Query,
    Start,
)

_LONGEST_SHOWN: Final = 40
_BELOW_FIREFLY: Final = CARDS - FIREFLY_INDEX
_ALL_CARDS: Final = [CARDS_PER_GUILD] * len(GUILDS)
_NUMBER: Final = {guild: number for number, guild in enumerate(GUILDS)}
_REFILLS: Final[dict[int, Refill]] = {REFILL_START: "start", REFILL_END: "end"}
_OUTCOMES: Final[dict[int, str]] = {OUTCOME_FESTIVAL: "festival", OUTCOME_FORFEIT: "forfeit", OUTCOME_VOID: "void"}

_Message = Start | Query | End | None
_Name = TypeVar("_Name", bound=str)
_M = TypeVar("_M", Start, Query, End)

_parse = cache(Move.parse)  # successes alone are kept, and there are 6722 of them


def read_start(message: _Message) -> GameStart:
    """The game that begins."""
    start = _expect(Start, message)
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
        refill=_known(_REFILLS, "Start.refill", start.refill),
        clock=Clock(start.startup_ms, start.move_ms, start.bank_ms, start.increment_ms),
    )


def read_query(message: _Message, seat: int, players: int, refill: Refill, history: tuple[Move, ...]) -> View:
    """What the seat sees; `history` holds the moves that earlier queries told."""
    query = _expect(Query, message)
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


def read_end(message: _Message) -> GameEnd:
    """How the game ended."""
    end = _expect(End, message)
    outcome = _known(_OUTCOMES, "End.outcome", end.outcome)
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


def _expect(kind: type[_M], message: _Message) -> _M:
    if not isinstance(message, kind):
        came = "an empty message" if message is None else type(message).__name__
        raise ProtocolError(f"expected {kind.__name__}, got {came}")
    return message


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
