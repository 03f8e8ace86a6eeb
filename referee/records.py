"""Game records: write, read and re-play one (records.md)."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from sys import intern
from typing import Annotated, Final, Literal, cast

from pydantic import Field, model_validator

from referee.checked_json import MAX_NAME, BotName, LeagueName, Version, Wire, dump, open_file, read
from referee.errors import RecordError
from referee.model import Ended, Fault, FaultKind, GameRecord, PlayedMove, SeatHolder
from referee.text import printable
from treelings.bot import LONGEST_COMMENT
from treelings.cards import CARDS, MAX_PLAYERS, MIN_PLAYERS
from treelings.errors import TreelingsError
from treelings.rules import Refill, State

FORMAT: Final = "treelings-game/1"
MAX_RECORD_BYTES: Final = 64 * 1024

MAX_DEAL_ID: Final = 300
"""Characters of a deal's id."""

MAX_COMMENTS_BYTES: Final = 32 * 1024
"""Of a record, for the comments on all its moves: what is left is enough for everything else."""

_MAX_MATCH_ID: Final = MAX_PLAYERS * (MAX_NAME + len("-vs-"))
_MAX_TURNS: Final = 1_000
_SHOWN: Final = 200
_HOLDERS: Final = 2_000  # of a big league: each is kept once

_Seat = Annotated[int, Field(ge=0, lt=MAX_PLAYERS)]
_Turn = Annotated[int, Field(ge=0, le=_MAX_TURNS)]


class _Rules(Wire):
    players: Annotated[int, Field(ge=MIN_PLAYERS, le=MAX_PLAYERS)]
    refill: Refill


class _SeatHolder(Wire):
    bot: BotName
    version: Version


class _Move(Wire):
    seat: _Seat
    move: Annotated[str, Field(min_length=1, max_length=20)]
    ms: Annotated[float, Field(ge=0, le=1e9)]
    cpu_ms: Annotated[float, Field(ge=0, le=1e9)] | None = None
    by: Literal["referee"] | None = None
    comment: Annotated[str, Field(max_length=LONGEST_COMMENT)] = ""


class _Fault(Wire):
    seat: _Seat
    turn: _Turn
    kind: Literal["startup", "timeout", "illegal_move", "crash", "out_of_memory", "protocol"]
    detail: Annotated[str, Field(max_length=1_000)]


class _Record(Wire):
    format: Literal["treelings-game/1"]
    league: LeagueName
    night: Annotated[int, Field(ge=1, le=1_000_000)] | None
    match: Annotated[str, Field(max_length=_MAX_MATCH_ID)]
    deal: Annotated[str, Field(max_length=MAX_DEAL_ID)] | None
    rotation: _Seat
    rules: _Rules
    seats: Annotated[list[_SeatHolder], Field(min_length=MIN_PLAYERS, max_length=MAX_PLAYERS)]
    deck: Annotated[str, Field(min_length=CARDS + 1, max_length=CARDS + 1, pattern=r"^[ROYGBP!]*$")]
    moves: Annotated[list[_Move], Field(max_length=_MAX_TURNS)]
    festival_turn: _Turn | None
    ended: Ended
    faults: Annotated[list[_Fault], Field(max_length=MAX_PLAYERS)]
    scores: list[Annotated[int, Field(ge=0, le=CARDS)]] | None
    ranks: list[Annotated[int, Field(ge=1, le=MAX_PLAYERS)]]

    @model_validator(mode="after")
    def _fits_together(self) -> "_Record":
        players = self.rules.players
        for name, rows in (("seats", self.seats), ("scores", self.scores), ("ranks", self.ranks)):
            if rows is not None and len(rows) != players:
                raise ValueError(f"{players} {name} for {players} players, not {len(rows)}")
        if len({seat.bot for seat in self.seats}) < len(self.seats):
            raise ValueError("a different bot on each seat")
        if (self.scores is None) != (self.ended == "forfeit"):
            raise ValueError("scores where the game was played out, null where it ended by forfeit")
        for name, seats in (
            ("moves", [move.seat for move in self.moves]),
            ("faults", [fault.seat for fault in self.faults]),
            ("rotation", [self.rotation]),
        ):
            if any(seat >= players for seat in seats):
                raise ValueError(f"{name} with numbers under {players}, the number of players")
        return self


def to_json(record: GameRecord) -> str:
    """The record as one line of JSON without its line end; keys in the order of records.md.

    Raises RecordError if it would be longer than 64 KiB.
    """
    value: dict[str, object] = {
        "format": FORMAT,
        "league": record.league,
        "night": record.night,
        "match": record.match,
        "deal": record.deal,
        "rotation": record.rotation,
        "rules": {"players": len(record.seats), "refill": record.refill},
        "seats": [{"bot": seat.bot, "version": seat.version} for seat in record.seats],
        "deck": record.deck,
        "moves": [
            {"seat": move.seat, "move": move.move, "ms": move.ms}
            | ({} if move.cpu_ms is None else {"cpu_ms": move.cpu_ms})
            | ({"by": "referee"} if move.by_referee else {})
            | ({"comment": move.comment} if move.comment else {})
            for move in record.moves
        ],
        "festival_turn": record.festival_turn,
        "ended": record.ended,
        "faults": [
            {"seat": fault.seat, "turn": fault.turn, "kind": fault.kind.value, "detail": fault.detail}
            for fault in record.faults
        ],
        "scores": None if record.scores is None else list(record.scores),
        "ranks": list(record.ranks),
    }
    _put_back(value, record.extra)
    line = dump(value)
    if len(line) > MAX_RECORD_BYTES:
        raise RecordError(f"record {record.id}: expected at most {MAX_RECORD_BYTES} bytes, got {len(line)}")
    return line


def from_json(line: str, where: str = "record") -> GameRecord:
    """The record that a line of JSON holds; only its shape is judged, see `problems` for the game in it.

    `where` names the line in errors. Raises RecordError naming key, expected and got.
    """
    if len(line.encode(errors="replace")) > MAX_RECORD_BYTES:
        raise RecordError(f"{where}: expected at most {MAX_RECORD_BYTES} bytes, got more")
    wire = read(_Record, line, where)
    # Names, versions, moves and more are the same few texts in thousands of records: each is kept once.
    return GameRecord(
        league=intern(wire.league),
        night=wire.night,
        match=intern(wire.match),
        deal=wire.deal,
        rotation=wire.rotation,
        refill=cast("Refill", intern(wire.rules.refill)),
        seats=tuple(_holder(seat.bot, seat.version) for seat in wire.seats),
        deck=wire.deck,
        moves=tuple(
            PlayedMove(m.seat, intern(m.move), m.ms, m.by is not None, m.cpu_ms, m.comment) for m in wire.moves
        ),
        festival_turn=wire.festival_turn,
        ended=cast("Ended", intern(wire.ended)),
        faults=tuple(Fault(f.seat, f.turn, FaultKind(f.kind), f.detail) for f in wire.faults),
        scores=None if wire.scores is None else tuple(wire.scores),
        ranks=tuple(wire.ranks),
        extra=_unknown(wire),
    )


@lru_cache(maxsize=_HOLDERS)
def _holder(bot: str, version: str) -> SeatHolder:
    return SeatHolder(intern(bot), intern(version))


def read_records(path: Path) -> Iterator[GameRecord]:
    """The records of a `.jsonl` file. Raises RecordError naming the file and the line."""
    for where, line in record_lines(path):
        yield from_json(line, where)


def record_lines(path: Path) -> Iterator[tuple[str, str]]:
    """The lines of a `.jsonl` file that are not empty, each with its place for errors: "games.jsonl, line 3".

    Never holds more than one line. Raises RecordError where there is no file that can be read, or a line is
    too long.
    """
    name = printable(path.name, _SHOWN)
    try:
        with open_file(path) as file:
            number = 0
            while raw := file.readline(MAX_RECORD_BYTES + 2):
                number += 1
                where = f"{name}, line {number}"
                if len(raw.rstrip(b"\r\n")) > MAX_RECORD_BYTES:
                    raise RecordError(f"{where}: expected at most {MAX_RECORD_BYTES} bytes, got more")
                try:
                    line = raw.decode().strip()
                except UnicodeDecodeError as error:
                    raise RecordError(f"{where}: expected UTF-8 text, got {error.reason}") from None
                if line:
                    yield where, line
    except OSError as error:
        raise RecordError(f"{name}: cannot be read: {error.strerror}") from None


def states(record: GameRecord) -> Iterator[State]:
    """Every position of the game, from the deal to its end: one more than there are moves.

    Each is the caller's own. Raises TreelingsError (DeckError, NotationError, IllegalMove) where the rules
    do not allow the record.
    """
    state = State.deal(record.deck, len(record.seats), record.refill)
    yield state.copy()
    for move in record.moves:
        state.play(state.parse(move.move))
        yield state.copy()


def ranks(players: int, scores: Sequence[int] | None, faults: Sequence[Fault]) -> tuple[int, ...]:
    """Each seat's rank, 1 is best, equal ranks are ties (records.md, Faults).

    scores  of the finished table; None where the game ended by forfeit
    faults  at most one per seat: the seat forfeited in that turn

    Seats that forfeited come last, among them the later the better.
    """
    forfeited = {fault.seat: fault.turn for fault in faults}
    keys = [
        (0, forfeited[seat]) if seat in forfeited else (1, 0 if scores is None else scores[seat])
        for seat in range(players)
    ]
    return tuple(1 + sum(other > key for other in keys) for key in keys)


def problems(record: GameRecord) -> list[str]:
    """What is wrong with the record by the rules alone, in words; empty if all of it can have happened."""
    found = _misfits(record)
    try:
        state = State.deal(record.deck, len(record.seats), record.refill)
    except TreelingsError as error:
        return [*found, printable(str(error), _SHOWN)]
    forfeits = {fault.seat: fault.turn for fault in record.faults}
    for turn, move in enumerate(record.moves):
        if state.over:
            return [*found, f"turn {turn}: expected no more moves after the end, got {len(record.moves) - turn}"]
        wrong = _misplayed(state, move, by_referee=forfeits.get(state.seat, turn + 1) <= turn)
        if wrong is not None:
            return [*found, f"turn {turn}: {wrong}"]
        state.play(state.parse(move.move))
    return found + _ending(record, state)


def _misfits(record: GameRecord) -> list[str]:
    """What can be told without playing."""
    found = []
    players = len(record.seats)
    if not 0 <= record.rotation < players:
        found.append(f"rotation: expected 0 to {players - 1}, got {record.rotation}")
    expected = "-vs-".join(sorted(seat.bot for seat in record.seats))
    if record.match != expected:
        found.append(f"match: expected {expected!a}, got {printable(ascii(record.match), _SHOWN)}")
    return found + _misfaulted(players, record.faults)


def _misfaulted(players: int, faults: Sequence[Fault]) -> list[str]:
    """What is wrong with the faults: all seats are started at once, then each is asked on its own turns alone."""
    found = []
    if len({fault.seat for fault in faults}) < len(faults):
        found.append("faults: expected one a seat at most, since the first one forfeits the game")
    order = [(fault.turn, fault.kind is not FaultKind.STARTUP, fault.seat) for fault in faults]
    if order != sorted(order):
        found.append("faults: expected them in the order of their turns, those of the start first and seat by seat")
    for number, fault in enumerate(faults):
        if fault.kind is FaultKind.STARTUP:
            if fault.turn != 0:
                found.append(f"faults[{number}]: expected a startup at turn 0, got it at turn {fault.turn}")
        elif fault.seat != (on_turn := fault.turn % players):
            found.append(
                f"faults[{number}]: expected seat {on_turn}, on turn at turn {fault.turn}, got seat {fault.seat}"
            )
        elif players - number < MIN_PLAYERS:
            found.append(f"faults[{number}]: expected none after the forfeit that ended the game")
    return found


def _misplayed(state: State, move: PlayedMove, *, by_referee: bool) -> str | None:
    """What is wrong with a move, whose turn it is included; None if nothing is."""
    if move.seat != state.seat:
        return f"expected a move of seat {state.seat}, got one of seat {move.seat}"
    if move.by_referee != by_referee:
        wanted = "the referee's, since the seat had forfeited" if by_referee else "the bot's own"
        return f"expected the move to be {wanted}"
    try:
        canonical = state.parse(move.move).notation
    except TreelingsError as error:
        return printable(str(error), _SHOWN)
    if move.move != canonical:
        return f"expected the move in canonical notation, {canonical}, got {move.move}"
    if by_referee and move.cpu_ms is not None:
        return f"expected the referee's move to use none of the seat's processor time, got {move.cpu_ms} ms"
    if by_referee and move.ms:
        return f"expected the referee's move to take 0 ms of the seat's clock, got {move.ms}"
    if by_referee and canonical != (first := state.legal_moves()[0].notation):
        return f"expected the referee to play the first legal move, {first}, got {canonical}"
    return None


def _ending(record: GameRecord, state: State) -> list[str]:
    """What is wrong with the outcome, given the position after the last move."""
    found = []
    players = state.players
    festival_turn = state.festival_turn if state.firefly_out else None
    if record.festival_turn != festival_turn:
        found.append(f"festival_turn: expected {_null(festival_turn)}, got {_null(record.festival_turn)}")
    if any(fault.turn > len(record.moves) for fault in record.faults):
        found.append(f"faults: expected turns up to {len(record.moves)}, got a later one")
    left = players - len({fault.seat for fault in record.faults})
    expected: Ended = "forfeit" if left < MIN_PLAYERS else "festival"
    scores = state.scores() if expected == "festival" else None
    if record.ended != expected:
        found.append(f"ended: expected {expected} with {left} seats that had not forfeited, got {record.ended}")
    elif expected == "forfeit":
        found += _broken_off(record, state)
    elif not state.over:
        found.append(f"moves: expected the game to be played out, got only {len(record.moves)}")
    elif any(fault.turn == len(record.moves) for fault in record.faults):
        found.append("faults: expected none after the last turn")
    if record.scores != scores:
        found.append(f"scores: expected {_null(scores)}, got {_null(record.scores)}")
    if record.ranks != (wanted := ranks(players, scores, record.faults)):
        found.append(f"ranks: expected {_null(wanted)}, got {_null(record.ranks)}")
    return found


def _broken_off(record: GameRecord, state: State) -> list[str]:
    """A game ends at once in the turn that leaves fewer than two seats."""
    last = sorted(fault.turn for fault in record.faults)[state.players - MIN_PLAYERS]
    if state.over:
        return ["ended: expected festival, since the game was played out"]
    if last != len(record.moves):
        return [f"moves: expected {last}, up to the forfeit that ended the game, got {len(record.moves)}"]
    return []


def _null(value: object) -> str:
    if value is None:
        return "null"
    return str(list(value)) if isinstance(value, tuple) else str(value)


def _unknown(wire: _Record) -> dict[str, object]:
    """Unknown keys; those inside a known key K lie under K, and in a list under the entry's index there."""
    extra: dict[str, object] = dict(wire.model_extra or {})
    if wire.rules.model_extra:
        extra["rules"] = dict(wire.rules.model_extra)
    lists: dict[str, Sequence[Wire]] = {"seats": wire.seats, "moves": wire.moves, "faults": wire.faults}
    for name, rows in lists.items():
        if found := {str(at): dict(row.model_extra) for at, row in enumerate(rows) if row.model_extra}:
            extra[name] = found
    return extra


def _put_back(value: dict[str, object], extra: dict[str, object]) -> None:
    for name, unknown in extra.items():
        if name not in value:
            value[name] = unknown
            continue
        known = value[name]
        if isinstance(known, dict):
            known.update(cast("dict[str, object]", unknown))
        elif isinstance(known, list):
            for at, found in cast("dict[str, dict[str, object]]", unknown).items():
                known[int(at)].update(found)
