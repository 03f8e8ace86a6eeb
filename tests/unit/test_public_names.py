"""What bots may rely on: every public name of the kit, with its signature. A change here is a change for all bots."""

import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import FunctionType

import treelings

PUBLIC = """
GUILDS = 'ROYGBP'
GUILD_NAMES = ('red', 'orange', 'yellow', 'green', 'blue', 'purple')
class Bot(ABC)
    def start(self, game: GameStart) -> None
    def choose(self, view: View) -> Move
    def end(self, result: GameEnd) -> None
    def say(self, text: str) -> None
class Clock(NamedTuple)
    startup_ms: int = …
    move_ms: int = …
    bank_ms: int = …
    increment_ms: int = …
class DeckError(TreelingsError)
class GameEnd(NamedTuple)
    outcome: str
    ranks: tuple[int, ...]
    scores: tuple[int, ...]
class GameStart(NamedTuple)
    game: str
    seat: int
    players: int
    refill: Refill
    clock: Clock
class IllegalMove(TreelingsError)
class Move
    take: str
    left: str
    right: str
    notation: str
    take_index: int
    new_mask: int
    left_end: str
    static def parse(text: str) -> Move
class NotationError(TreelingsError)
class ProtocolError(TreelingsError)
Refill = typing.Literal['start', 'end']
class Rng(Protocol)
    def random(self) -> float
class State
    players: int
    refill: Refill
    turn: int
    seat: int
    rows: list[str]
    festival_turn: int
    over: bool
    static def deal(deck: str, players: int, refill: Refill = 'start') -> State
    static def resume(rows: list[str], heights: list[int], market: int, pile: Iterable[int], turn: int, refill: Refill) -> State
    def copy(self) -> State
    market: tuple[int, ...], computed
    pile: int, computed
    firefly_out: bool, computed
    above_firefly: int, computed
    def heights(self, seat: int) -> tuple[int, ...]
    def unseen(self) -> tuple[int, ...]
    def legal_moves(self) -> tuple[Move, ...]
    def parse(self, text: str) -> Move
    def play(self, move: Move) -> None
    def playout(self, rng: Rng) -> None
    def scores(self) -> tuple[int, ...]
    def scoring(self) -> tuple[tuple[bool, ...], ...]
    def margin(self, seat: int) -> float
class TreelingsError(Exception)
class View(NamedTuple)
    seat: int
    turn: int
    players: int
    refill: Refill
    rows: tuple[str, ...]
    heights: tuple[tuple[int, ...], ...]
    market: tuple[int, ...]
    unseen: tuple[int, ...]
    above_firefly: int
    firefly_out: bool
    legal_moves: tuple[Move, ...]
    history: tuple[Move, ...] = …
    limit_ms: int = …
    bank_ms: int = …
    class def of(state: State, history: tuple[Move, ...] = (), *, limit_ms: int = 0, bank_ms: int = 0) -> View
    pile: int, computed
    def sample(self, rng: Rng) -> State
def commitment(secret: bytes) -> str
def derive_deck(secret: bytes, deal_id: str) -> str
def serve(bot: type[Bot], listen: str | None = None) -> NoReturn
"""  # noqa: E501


def test_the_public_names_are_these_with_these_signatures() -> None:
    assert "\n".join(described()) == PUBLIC.strip()


def test_all_that_is_public_has_a_docstring_that_tells_of_each_field() -> None:
    for name in treelings.__all__:
        value = getattr(treelings, name)
        if inspect.isclass(value):
            told = inspect.getdoc(value)
            assert told, name
            for attribute, member in members(value):
                if isinstance(member, FunctionType | staticmethod | classmethod | property):
                    assert inspect.getdoc(member), f"{name}.{attribute}"
                else:
                    assert re.search(rf"(^|, |`){attribute}\b", told, re.MULTILINE), f"{name}.{attribute}"
        elif inspect.isfunction(value):
            assert inspect.getdoc(value), name


def test_all_that_is_public_is_listed_before_it_is_loaded() -> None:
    command = [sys.executable, "-c", "import treelings; print(*dir(treelings))"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert not {*treelings.__all__} - {*listed}


def described() -> Iterator[str]:
    """Every public name as a line, and below a class its public attributes and methods."""
    for name in treelings.__all__:
        value = getattr(treelings, name)
        if inspect.isclass(value):
            base = "NamedTuple" if hasattr(value, "_fields") else value.__mro__[1].__name__
            yield f"class {name}" + f"({base})" * (base != "object")
            for attribute, member in members(value):
                yield f"    {line(value, attribute, member)}"
        elif inspect.isfunction(value):
            yield f"def {name}{signature(value)}"
        else:
            yield f"{name} = {value!r}"


def members(of: type) -> Iterator[tuple[str, object]]:
    """A class's own public attributes: fields in the order of their annotations, then the rest as it is written."""
    own = dict.fromkeys([*inspect.get_annotations(of), *vars(of)])
    yield from ((name, vars(of)[name]) for name in own if not name.startswith("_"))


def line(of: type, name: str, member: object) -> str:
    if isinstance(member, property):
        assert member.fget is not None
        return f"{name}: {short(inspect.signature(member.fget).return_annotation)}, computed"
    if isinstance(member, FunctionType | staticmethod | classmethod):
        kind = {staticmethod: "static ", classmethod: "class "}.get(type(member), "")
        return f"{kind}def {name}{signature(getattr(of, name))}"
    has_default = name in getattr(of, "_field_defaults", ())
    return f"{name}: {short(of.__annotations__[name])}" + " = …" * has_default


def signature(function: Callable[..., object]) -> str:
    return re.sub(r"(: |-> )'(\w+)'", r"\1\2", short(str(inspect.signature(function))))


def short(annotation: object) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(treelings\.\w+|typing|collections\.abc)\.", "", text).replace(
        "Literal['start', 'end']", "Refill"
    )
