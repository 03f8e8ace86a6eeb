"""The hostile collection, tests/adversarial: each kind's case, its submission, and what an outcome must be."""

import importlib.util
import re
import shutil
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from referee.errors import Overloaded
from referee.game import LONGEST_DETAIL
from referee.limits import Limits
from tests.support.submissions import bot_toml
from treelings.view import Clock

COLLECTION: Final = Path(__file__).parents[1] / "adversarial"
_SHARED: Final = COLLECTION / "shared"

PEAK_BYTES: Final = 130_000_000
"""More memory than this no bot may make a referee use; one match between honest bots takes about 65 MB."""

_PATHS: Final = re.compile(r"/(dev/shm|tmp|proc|root|home|var)/")


@dataclass(frozen=True)
class Case:
    """A kind of hostile bot and what is expected of a match with it (case.toml).

    does      what the bot does, in one line
    fault     kinds that its faults may have, one fault in each game; empty: it plays on without any
    detail    a regular expression that each fault's detail holds: what its author is told
    log       the same for what is kept of its output; None: anything
    honest    first games of the match in which it still behaves
    games     games of the match; two are a deal in both rotations
    copies    hostile bots at the table, beside one honest bot
    vendor    packages of the tests' own environment that are put into the submission
    calm      what it does with time shows only on a machine with nothing else to do
    checks    what else is looked at, by name and setting (tests/adversarial/checks.py)
    """

    kind: str
    does: str
    clock: Clock
    limits: Limits
    fault: tuple[str, ...] = ()
    detail: str = ""
    log: str | None = None
    honest: int = 0
    games: int = 2
    copies: int = 1
    vendor: tuple[str, ...] = ()
    calm: bool = False
    checks: dict[str, float] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Its source."""
        return COLLECTION / self.kind


@dataclass(frozen=True)
class GameFaults:
    """A game's faults, as pairs of kind and detail: the hostile bots' and the honest one's."""

    hostile: tuple[tuple[str, str], ...]
    honest: tuple[tuple[str, str], ...]


@dataclass
class Outcome:
    """What came of a match with a hostile bot.

    games       those with a record, in order
    voids       reasons of those without
    invalid     what is wrong with the records by the rules alone
    log         what was kept of the hostile bots' output
    left        what was left behind, in words
    seconds     the match took so long, with its start and its end
    closing_ms  the table's end alone
    peak_bytes  most memory that the referee's process had
    cpu_s       processor time that it used, its imports left out
    stderr      what it printed there
    found       figures of the case's own checks, for people
    wrong       what these checks found wrong
    """

    games: list[GameFaults] = field(default_factory=list)
    voids: list[str] = field(default_factory=list)
    invalid: list[str] = field(default_factory=list)
    log: str = ""
    left: list[str] = field(default_factory=list)
    seconds: float = 0.0
    closing_ms: float = 0.0
    peak_bytes: int = 0
    cpu_s: float = 0.0
    stderr: str = ""
    found: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, values: dict[str, Any]) -> "Outcome":
        """What `dataclasses.asdict` and JSON have made of one."""
        games = [
            GameFaults(*(tuple((kind, detail) for kind, detail in game[of]) for of in ("hostile", "honest")))
            for game in values.pop("games")
        ]
        return cls(games=games, **values)


def kinds() -> list[str]:
    """The names of all kinds."""
    return sorted(path.parent.name for path in COLLECTION.glob("*/case.toml"))


def load(kind: str) -> Case:
    """A kind's case. Raises ValueError for a key that is none."""
    values = tomllib.loads((COLLECTION / kind / "case.toml").read_text(encoding="utf-8"))
    unknown = set(values) - {known.name for known in fields(Case)}
    if unknown:
        raise ValueError(f"{kind}/case.toml: unknown keys {sorted(unknown)}")
    lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
    clock = Clock(**{"startup_ms": 10_000, "move_ms": 400} | values.pop("clock", {}))
    limits = Limits(**values.pop("limits", {}))
    return Case(kind, **values | lists, clock=clock, limits=limits)


def stage(case: Case, parent: Path, name: str | None = None) -> Path:
    """Write the kind's submission to `parent/NAME`, complete and as a league takes it; NAME is the kind's if None."""
    folder = parent / (name or case.kind)
    shutil.copytree(case.folder, folder, ignore=shutil.ignore_patterns("case.toml", "__pycache__"))
    for shared in _SHARED.glob("*.py"):
        shutil.copy(shared, folder)
    for package in case.vendor:
        found = importlib.util.find_spec(package)
        assert found is not None
        assert found.origin is not None
        shutil.copytree(
            Path(found.origin).parent, folder / package, ignore=shutil.ignore_patterns("__pycache__", "py.typed")
        )
    (folder / "bot.toml").write_text(bot_toml(folder.name), encoding="utf-8")
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


def overloaded(outcome: Outcome) -> bool:
    """Whether nothing can be said of the bot, since the machine was too busy for a fair game."""
    return bool(outcome.voids) and all(reason.startswith(Overloaded.__name__) for reason in outcome.voids)


def problems(case: Case, outcome: Outcome) -> list[str]:
    """What is not as it must be with any hostile bot, and what this case asks for; empty if all is well."""
    found = [f"void: {reason}" for reason in outcome.voids]
    found += [f"record: {problem}" for problem in outcome.invalid]
    if len(outcome.games) + len(outcome.voids) != case.games:
        found.append(f"expected {case.games} games, got {len(outcome.games)}")
    for at, game in enumerate(outcome.games):
        found += [f"game {at}: the honest bot's fault: {kind}: {detail}" for kind, detail in game.honest]
        found += [f"game {at}: {problem}" for problem in _verdict(case, game, honest=at < case.honest)]
    found += [f"left behind: {left}" for left in outcome.left]
    if outcome.stderr:
        found.append(f"the referee printed: {outcome.stderr[-600:]!r}")
    if case.log is not None and not re.search(case.log, outcome.log):
        found.append(f"log: expected {case.log!r}, got {outcome.log[-300:]!r}")
    if outcome.peak_bytes > PEAK_BYTES:
        found.append(f"the referee's memory: expected at most {PEAK_BYTES:,} bytes, got {outcome.peak_bytes:,}")
    return found + outcome.wrong


def _verdict(case: Case, game: GameFaults, *, honest: bool) -> list[str]:
    expected = 0 if honest or not case.fault else case.copies
    if len(game.hostile) != expected:
        return [f"expected {expected} faults of {case.fault or 'any kind'}, got {game.hostile or 'none'}"]
    found = []
    for kind, detail in game.hostile:
        if kind not in case.fault:
            found.append(f"expected {' or '.join(case.fault)}, got {kind}: {detail}")
        if not re.search(case.detail, detail):
            found.append(f"expected words of {case.detail!r}, got {detail!r}")
        if not detail.isprintable() or len(detail) > LONGEST_DETAIL:
            found.append(f"expected one printable line of {LONGEST_DETAIL} characters at most, got {detail!r}")
        if _PATHS.search(detail):
            found.append(f"expected no path of this machine in words that get published, got {detail!r}")
    return found


def verdict(outcome: Outcome) -> str:
    """What became of the hostile bot, in a word or two."""
    if not outcome.games:
        return "no game"
    return ", ".join(sorted({kind for game in outcome.games for kind, _ in game.hostile})) or "plays"
