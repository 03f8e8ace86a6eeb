"""The referee's messages of treelings.v1 as they come in bytes, and a bot's as they go; by hand, without protobuf.

Importing protobuf takes as long as all else of a bot's start. What is read here is what protobuf reads, and what it
refuses is refused (tests/property holds it to that): fields may come in any order, again, packed or not, and unknown
ones are passed over. (proto/treelings/v1/game.proto; protobuf's encoding)
"""

from typing import ClassVar, Final

from treelings.errors import ProtocolError

PROTOCOL: Final = 1
"""Version of the protocol that this package speaks."""

SERVICE: Final = "treelings.v1.Bot"
METHOD: Final = "Play"
PATH: Final = f"/{SERVICE}/{METHOD}"
"""What a gRPC client calls: one call is one game."""

REFILL_START, REFILL_END = 1, 2
OUTCOME_FESTIVAL, OUTCOME_FORFEIT, OUTCOME_VOID = 1, 2, 3

_LONGEST_SHOWN: Final = 40
_VARINT, _LONG, _BYTES, _GROUP, _GROUP_END, _SHORT = range(6)  # types on the wire, a tag's lowest bits
_FIXED: Final = {_LONG: 8, _SHORT: 4}
_LONGEST_VARINT: Final = 10
_LONGEST_SIZE: Final = 5  # as protobuf reads them: sizes and tags, whatever number their bytes come to
_LAST_TAG: Final = 2**32
_DEEPEST: Final = 100
_WORD: Final = 2**32

# Kinds of fields, as they come: a number by itself, or a length and so many bytes.
_NUMBER, _FLAG, _ENUM, _ONE_MORE, _TEXT, _TEXTS, _NUMBERS = range(7)


def _fields(**kinds: int) -> dict[int, tuple[str, int]]:
    """Names and kinds by tag; fields are numbered from 1 in the order in which they are given."""
    fields = {}
    for number, (name, kind) in enumerate(kinds.items(), 1):
        fields[number << 3 | (_BYTES if kind >= _TEXT else _VARINT)] = name, kind
        if kind == _NUMBERS:
            fields[number << 3 | _VARINT] = name, _ONE_MORE
    return fields


class _Message:
    """Its fields by tag."""

    __slots__ = ()
    fields: ClassVar[dict[int, tuple[str, int]]] = {}


class Start(_Message):
    """A game begins."""

    __slots__ = (
        "bank_ms", "game", "increment_ms", "move_ms", "players", "protocol", "refill", "seat", "startup_ms",
    )  # fmt: skip
    fields: ClassVar = _fields(
        protocol=_NUMBER, game=_TEXT, seat=_NUMBER, players=_NUMBER, refill=_ENUM, startup_ms=_NUMBER,
        move_ms=_NUMBER, bank_ms=_NUMBER, increment_ms=_NUMBER,
    )  # fmt: skip

    def __init__(self) -> None:
        self.game = ""
        self.protocol = self.seat = self.players = self.refill = 0
        self.startup_ms = self.move_ms = self.bank_ms = self.increment_ms = 0


class Query(_Message):
    """A move is asked for."""

    __slots__ = (
        "above_firefly", "bank_ms", "firefly_out", "guilds", "heights", "legal", "limit_ms", "market", "moves",
        "row_sizes", "turn", "unseen",
    )  # fmt: skip
    fields: ClassVar = _fields(
        turn=_NUMBER, row_sizes=_NUMBERS, guilds=_NUMBERS, heights=_NUMBERS, market=_NUMBERS, unseen=_NUMBERS,
        firefly_out=_FLAG, above_firefly=_NUMBER, moves=_TEXTS, legal=_TEXTS, limit_ms=_NUMBER, bank_ms=_NUMBER,
    )  # fmt: skip

    def __init__(self) -> None:
        self.turn = self.above_firefly = self.limit_ms = self.bank_ms = 0
        self.firefly_out = False
        self.row_sizes: list[int] = []
        self.guilds: list[int] = []
        self.heights: list[int] = []
        self.market: list[int] = []
        self.unseen: list[int] = []
        self.moves: list[str] = []
        self.legal: list[str] = []


class End(_Message):
    """A game is over."""

    __slots__ = ("outcome", "ranks", "scores")
    fields: ClassVar = _fields(outcome=_ENUM, ranks=_NUMBERS, scores=_NUMBERS)

    def __init__(self) -> None:
        self.outcome = 0
        self.ranks: list[int] = []
        self.scores: list[int] = []


_MESSAGES: Final[dict[int, type[Start | Query | End]]] = {1: Start, 2: Query, 3: End}


class _Malformed(Exception):
    """The bytes are no message."""


def read_referee(data: bytes) -> Start | Query | End | None:
    """The message that a referee sent; None for an empty one. Raises ProtocolError if the bytes are none."""
    message: Start | Query | End | None = None
    at, end = 0, len(data)
    try:
        while at < end:
            tag, at = _tag(data, at)
            kind = _MESSAGES.get(tag >> 3)
            if kind is None or tag & 7 != _BYTES:
                at = _skip(data, at, tag, _DEEPEST)
                continue
            if type(message) is not kind:  # the same one again is more of it, another takes its place
                message = kind()
            size, at = _varint(data, at, _LONGEST_SIZE)
            _fill(message, _piece(data, at, size))
            at += size
    except (_Malformed, IndexError, UnicodeDecodeError):
        raise ProtocolError(f"expected a RefereeMessage, got {raw(data)}") from None
    return message


def ready() -> bytes:
    """That the bot is set up for the game."""
    return _field(1, _field(1, PROTOCOL))


def reply(turn: int, move: str, comment: str = "") -> bytes:
    """The bot's move in this turn, and what it says about it."""
    return _field(2, _field(1, turn) + _field(2, move.encode()) + _field(3, comment.encode()), always=True)


def raw(data: bytes) -> str:
    """Bytes that are no message, fit to stand in one of ours."""
    return f"{len(data)} bytes that are none, beginning {data[:_LONGEST_SHOWN]!r}"


def _fill(message: _Message, data: bytes) -> None:
    """Set the fields that the bytes tell. Raises _Malformed, IndexError, UnicodeDecodeError."""
    fields = message.fields
    at, end = 0, len(data)
    while at < end:
        tag = data[at]
        at += 1
        if tag >= 0x80 or tag not in fields:
            tag, at = _tag(data, at - 1)
            if tag not in fields:
                at = _skip(data, at, tag, _DEEPEST - 1)
                continue
        name, kind = fields[tag]
        number = data[at]
        at += 1
        if number >= 0x80:
            number, at = _varint(data, at - 1, _LONGEST_VARINT if kind < _TEXT else _LONGEST_SIZE)
        if kind < _TEXT:
            if kind == _ONE_MORE:
                getattr(message, name).append(number % _WORD)
            else:
                setattr(message, name, _as(kind, number))
            continue
        stop = at + number
        if stop > end:
            raise _Malformed
        piece = data[at:stop]
        at = stop
        if kind == _TEXT:
            setattr(message, name, str(piece, "utf-8"))
        elif kind == _NUMBERS:
            getattr(message, name).extend(piece if piece.isascii() else _unpacked(piece))
        else:
            texts = getattr(message, name)
            texts.append(str(piece, "utf-8"))
            # Most of a query is a list of moves: the next ones of it, as long as they are short.
            while at < end and data[at] == tag and data[at + 1] < 0x80:
                stop = at + 2 + data[at + 1]
                if stop > end:
                    raise _Malformed
                texts.append(str(data[at + 2 : stop], "utf-8"))
                at = stop


def _as(kind: int, number: int) -> int | bool:
    if kind == _NUMBER:
        return number % _WORD
    if kind == _FLAG:
        return number != 0
    number %= _WORD
    return number - _WORD if number >= _WORD // 2 else number


def _unpacked(data: bytes) -> list[int]:
    """Packed numbers, some of which have more than seven bits; of others, each is a byte."""
    numbers, at = [], 0
    while at < len(data):
        number, at = _varint(data, at)
        numbers.append(number % _WORD)
    return numbers


def _piece(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise _Malformed
    return data[at : at + size]


def _tag(data: bytes, at: int) -> tuple[int, int]:
    tag, at = _varint(data, at, _LONGEST_SIZE)
    if tag >= _LAST_TAG or not tag >> 3:
        raise _Malformed
    return tag, at


def _varint(data: bytes, at: int, longest: int = _LONGEST_VARINT) -> tuple[int, int]:
    """The number that begins here, of 64 bits at most, and where it ends; `longest` is how many bytes it may take."""
    byte = data[at]
    if byte < 0x80:
        return byte, at + 1
    number, shift = byte & 0x7F, 7
    for behind in range(at + 1, at + longest):
        byte = data[behind]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number % 2**64, behind + 1
        shift += 7
    raise _Malformed


def _skip(data: bytes, at: int, tag: int, deepest: int) -> int:
    """Where a field that nobody asked for ends; `at` is behind its tag, `deepest` how many groups may be open."""
    groups = []
    while True:
        wire = tag & 7
        if wire == _VARINT:
            _, at = _varint(data, at)
        elif wire == _BYTES:
            size, at = _varint(data, at, _LONGEST_SIZE)
            at += size
        elif wire in _FIXED:
            at += _FIXED[wire]
        elif wire == _GROUP:
            groups.append(tag >> 3)
        elif wire != _GROUP_END or not groups or groups.pop() != tag >> 3:
            raise _Malformed
        if at > len(data) or len(groups) > deepest:
            raise _Malformed
        if not groups:
            return at
        tag, at = _varint(data, at, _LONGEST_SIZE)  # in a group, protobuf passes over field 0, too
        if tag >= _LAST_TAG:
            raise _Malformed


def _field(number: int, value: int | bytes, *, always: bool = False) -> bytes:
    """One field; nothing where it is zero or empty, which it is by itself."""
    if not value and not always:
        return b""
    if isinstance(value, int):
        return bytes((number << 3 | _VARINT,)) + _packed(value)
    return bytes((number << 3 | _BYTES,)) + _packed(len(value)) + value


def _packed(number: int) -> bytes:
    packed = bytearray()
    while number >= 0x80:
        packed.append(number & 0x7F | 0x80)
        number >>= 7
    packed.append(number)
    return bytes(packed)
