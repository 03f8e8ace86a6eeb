from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Refill(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REFILL_UNSPECIFIED: _ClassVar[Refill]
    REFILL_START: _ClassVar[Refill]
    REFILL_END: _ClassVar[Refill]

class Outcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OUTCOME_UNSPECIFIED: _ClassVar[Outcome]
    OUTCOME_FESTIVAL: _ClassVar[Outcome]
    OUTCOME_FORFEIT: _ClassVar[Outcome]
    OUTCOME_VOID: _ClassVar[Outcome]
REFILL_UNSPECIFIED: Refill
REFILL_START: Refill
REFILL_END: Refill
OUTCOME_UNSPECIFIED: Outcome
OUTCOME_FESTIVAL: Outcome
OUTCOME_FORFEIT: Outcome
OUTCOME_VOID: Outcome

class RefereeMessage(_message.Message):
    __slots__ = ("start", "query", "end")
    START_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    start: Start
    query: Query
    end: End
    def __init__(self, start: _Optional[_Union[Start, _Mapping]] = ..., query: _Optional[_Union[Query, _Mapping]] = ..., end: _Optional[_Union[End, _Mapping]] = ...) -> None: ...

class BotMessage(_message.Message):
    __slots__ = ("ready", "reply")
    READY_FIELD_NUMBER: _ClassVar[int]
    REPLY_FIELD_NUMBER: _ClassVar[int]
    ready: Ready
    reply: Reply
    def __init__(self, ready: _Optional[_Union[Ready, _Mapping]] = ..., reply: _Optional[_Union[Reply, _Mapping]] = ...) -> None: ...

class Start(_message.Message):
    __slots__ = ("protocol", "game", "seat", "players", "refill", "startup_ms", "move_ms", "bank_ms", "increment_ms")
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    GAME_FIELD_NUMBER: _ClassVar[int]
    SEAT_FIELD_NUMBER: _ClassVar[int]
    PLAYERS_FIELD_NUMBER: _ClassVar[int]
    REFILL_FIELD_NUMBER: _ClassVar[int]
    STARTUP_MS_FIELD_NUMBER: _ClassVar[int]
    MOVE_MS_FIELD_NUMBER: _ClassVar[int]
    BANK_MS_FIELD_NUMBER: _ClassVar[int]
    INCREMENT_MS_FIELD_NUMBER: _ClassVar[int]
    protocol: int
    game: str
    seat: int
    players: int
    refill: Refill
    startup_ms: int
    move_ms: int
    bank_ms: int
    increment_ms: int
    def __init__(self, protocol: _Optional[int] = ..., game: _Optional[str] = ..., seat: _Optional[int] = ..., players: _Optional[int] = ..., refill: _Optional[_Union[Refill, str]] = ..., startup_ms: _Optional[int] = ..., move_ms: _Optional[int] = ..., bank_ms: _Optional[int] = ..., increment_ms: _Optional[int] = ...) -> None: ...

class Ready(_message.Message):
    __slots__ = ("protocol",)
    PROTOCOL_FIELD_NUMBER: _ClassVar[int]
    protocol: int
    def __init__(self, protocol: _Optional[int] = ...) -> None: ...

class Query(_message.Message):
    __slots__ = ("turn", "row_sizes", "guilds", "heights", "market", "unseen", "firefly_out", "above_firefly", "moves", "legal", "limit_ms", "bank_ms")
    TURN_FIELD_NUMBER: _ClassVar[int]
    ROW_SIZES_FIELD_NUMBER: _ClassVar[int]
    GUILDS_FIELD_NUMBER: _ClassVar[int]
    HEIGHTS_FIELD_NUMBER: _ClassVar[int]
    MARKET_FIELD_NUMBER: _ClassVar[int]
    UNSEEN_FIELD_NUMBER: _ClassVar[int]
    FIREFLY_OUT_FIELD_NUMBER: _ClassVar[int]
    ABOVE_FIREFLY_FIELD_NUMBER: _ClassVar[int]
    MOVES_FIELD_NUMBER: _ClassVar[int]
    LEGAL_FIELD_NUMBER: _ClassVar[int]
    LIMIT_MS_FIELD_NUMBER: _ClassVar[int]
    BANK_MS_FIELD_NUMBER: _ClassVar[int]
    turn: int
    row_sizes: _containers.RepeatedScalarFieldContainer[int]
    guilds: _containers.RepeatedScalarFieldContainer[int]
    heights: _containers.RepeatedScalarFieldContainer[int]
    market: _containers.RepeatedScalarFieldContainer[int]
    unseen: _containers.RepeatedScalarFieldContainer[int]
    firefly_out: bool
    above_firefly: int
    moves: _containers.RepeatedScalarFieldContainer[str]
    legal: _containers.RepeatedScalarFieldContainer[str]
    limit_ms: int
    bank_ms: int
    def __init__(self, turn: _Optional[int] = ..., row_sizes: _Optional[_Iterable[int]] = ..., guilds: _Optional[_Iterable[int]] = ..., heights: _Optional[_Iterable[int]] = ..., market: _Optional[_Iterable[int]] = ..., unseen: _Optional[_Iterable[int]] = ..., firefly_out: _Optional[bool] = ..., above_firefly: _Optional[int] = ..., moves: _Optional[_Iterable[str]] = ..., legal: _Optional[_Iterable[str]] = ..., limit_ms: _Optional[int] = ..., bank_ms: _Optional[int] = ...) -> None: ...

class Reply(_message.Message):
    __slots__ = ("turn", "move", "comment")
    TURN_FIELD_NUMBER: _ClassVar[int]
    MOVE_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    turn: int
    move: str
    comment: str
    def __init__(self, turn: _Optional[int] = ..., move: _Optional[str] = ..., comment: _Optional[str] = ...) -> None: ...

class End(_message.Message):
    __slots__ = ("outcome", "ranks", "scores")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    RANKS_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    outcome: Outcome
    ranks: _containers.RepeatedScalarFieldContainer[int]
    scores: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, outcome: _Optional[_Union[Outcome, str]] = ..., ranks: _Optional[_Iterable[int]] = ..., scores: _Optional[_Iterable[int]] = ...) -> None: ...
