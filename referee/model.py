"""The values that the rest of the referee speaks in (records.md, schedule.md)."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final, Literal

from treelings.rules import Refill
from treelings.view import Clock

Ended = Literal["festival", "forfeit"]

EXTRA: Final = "+"
"""What the number of an extra deal begins with in its id (schedule.md, Extra deals): "night 1/greedy-vs-random/+10"."""

_SITS_OUT: Final = " sits out: "
_AND: Final = "; "
_NUMBER: Final = re.compile(r"/(\+?)([0-9]{1,9})\Z")


class FaultKind(StrEnum):
    """What a bot did (records.md, Faults)."""

    STARTUP = "startup"
    TIMEOUT = "timeout"
    ILLEGAL_MOVE = "illegal_move"
    CRASH = "crash"
    OUT_OF_MEMORY = "out_of_memory"
    PROTOCOL = "protocol"


@dataclass(frozen=True, slots=True)
class Submission:
    """A bot as it was handed in: files under a digest.

    name     unique in a league, [a-z0-9][a-z0-9_-]{0,31}, without "-vs-"
    version  "sha256:" and 64 hex digits over its files
    folder   where these files are; nothing is ever written there
    command  what starts it, e.g. ("python", "bot.py"), run with the folder as working directory
    runtime  name of the runtime image, e.g. "python"
    """

    name: str
    author: str
    version: str
    folder: Path
    command: tuple[str, ...]
    runtime: str


@dataclass(frozen=True, slots=True)
class SeatHolder:
    """Who sat on a seat."""

    bot: str
    version: str


@dataclass(frozen=True, slots=True)
class PlayedMove:
    """One move of a game.

    ms       what the seat's clock was charged
    cpu_ms   processor time that the bot used for it; None where that cannot be told
    comment  what the bot says about it, at most 200 characters; "" if nothing
    """

    seat: int
    move: str
    ms: float
    by_referee: bool = False
    cpu_ms: float | None = None
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """A bot's misdeed in a game; `turn` is the index of the turn during which it happened."""

    seat: int
    turn: int
    kind: FaultKind
    detail: str


@dataclass(frozen=True, slots=True)
class GameSpec:
    """One game that is to be played: a deal in one rotation.

    id        stable, unique within a league; "night 1/greedy-vs-random/0/r1"
    match     "greedy-vs-random": the names in alphabetical order
    deal_id   what the deck is derived from (rules.md); None where a deck was given by hand
    bots      name of the bot on each seat, in this rotation
    """

    id: str
    league: str
    night: int | None
    match: str
    deal_id: str | None
    rotation: int
    refill: Refill
    bots: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MatchSpec:
    """A table's games. `round` counts from 0; no bot plays twice in a round of two-seat matches.

    bots   names in alphabetical order
    games  deal by deal, each in every rotation
    """

    id: str
    round: int
    bots: tuple[str, ...]
    games: tuple[GameSpec, ...]


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A finished game: all that is ever kept of it (records.md). `extra` holds unknown keys."""

    league: str
    night: int | None
    match: str
    deal: str | None
    rotation: int
    refill: Refill
    seats: tuple[SeatHolder, ...]
    deck: str
    moves: tuple[PlayedMove, ...]
    festival_turn: int | None
    ended: Ended
    faults: tuple[Fault, ...]
    scores: tuple[int, ...] | None
    ranks: tuple[int, ...]
    extra: dict[str, object] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of the GameSpec that this is the record of."""
        return game_id(self.deal, self.rotation)


def game_id(deal: str | None, rotation: int) -> str:
    """The stable id of a game, from its deal and rotation."""
    return f"{deal}/r{rotation}"


def deal_place(deal: str | None) -> tuple[int, bool]:
    """A deal's number in its match, and whether it is an extra one; (0, False) for an id that ends in no number."""
    found = _NUMBER.search(deal or "")
    return (int(found[2]), bool(found[1])) if found else (0, False)


@dataclass(frozen=True, slots=True)
class VoidGame:
    """A game that our side failed to play: no record, the reason of each attempt, or why there was none."""

    game: str
    reasons: tuple[str, ...]


def sits_out(absent: Mapping[str, str]) -> str:
    """The reason of a void game that is one because these bots of its table could not be run at all, and why."""
    return _AND.join(f"{bot}{_SITS_OUT}{why}" for bot, why in absent.items())


Outcome = GameRecord | VoidGame
"""What becomes of a game."""


def by_reasons(voids: Iterable[VoidGame]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Void games by what is told of them, in their order: what keeps one bot away is told of all of its games."""
    games: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for void in voids:
        games[void.reasons].append(void.game)
    return {reasons: tuple(ids) for reasons, ids in games.items()}


@dataclass(frozen=True, slots=True)
class Standing:
    """One row of a table of standings (records.md, Points).

    score    mean points a game, 0 to 1
    margin   mean margin in points of the game
    wins, ties, losses  count games: alone at the top, sharing the top rank, anything else
    """

    rank: int
    bot: str
    version: str
    games: int
    wins: int
    ties: int
    losses: int
    score: float
    margin: float
    faults: int


@dataclass(frozen=True, slots=True)
class BotEntry:
    """A bot as a night froze it."""

    name: str
    author: str
    version: str


@dataclass(frozen=True, slots=True)
class NightSettings:
    """What a night's plan follows from, besides its bots (schedule.md).

    seats       table sizes, ascending, e.g. (2, 4)
    deals       deals a match; each is played in every rotation
    max_tables  most matches of three to five seats a table size may have; None: all C(bots, seats)
    """

    seats: tuple[int, ...]
    deals: int
    refill: Refill
    max_tables: int | None
    clock: Clock


@dataclass(frozen=True, slots=True)
class UntilDecided:
    """How far a night goes on after its round robin (schedule.md, Extra deals).

    top      until the order of so many places is decided
    at_most  or each match that matters has so many deals, those of the plan included
    """

    top: int
    at_most: int


@dataclass(frozen=True, slots=True)
class Night:
    """What is public about a night of a league.

    opened, finished  UTC, ISO 8601 to the second, e.g. "2026-11-29T18:00:00Z"; finished: None till then
    commitment        SHA-256 of the secret, hex
    secret            hex, only once it has been revealed
    voids             games listed as void
    until_decided     None: the night ends with its round robin
    """

    number: int
    opened: str
    finished: str | None
    commitment: str
    secret: str | None
    settings: NightSettings
    bots: tuple[BotEntry, ...]
    voids: tuple[VoidGame, ...] = ()
    until_decided: UntilDecided | None = None

    def sat_out(self) -> dict[str, str]:
        """The bots of the night that could not be run for games that are void, and why."""
        reasons = dict.fromkeys(reason for void in self.voids for reason in void.reasons)
        told = dict(each.partition(_SITS_OUT)[::2] for reason in reasons for each in reason.split(_AND))
        return {bot.name: told[bot.name] for bot in self.bots if told.get(bot.name)}
