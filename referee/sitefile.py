"""The published league.json: a site's nights, with all that a stranger needs to recompute the plan.

    {"format": "treelings-site/1", "league": "thursday",
     "nights": [{"number", "opened", "finished", "commitment", "secret",
                 "settings": {"seats", "deals", "refill", "max_tables",
                              "clock": {"startup_ms", "move_ms", "bank_ms", "increment_ms"}},
                 "bots": [{"name", "author", "version"}],
                 "voids": [{"game", "reasons"}]}]}

Keys mean what they mean in model.py (Night and what it holds); `finished`, `secret` and `max_tables` may be null.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from referee.checked_json import BotName, Digest, LeagueName, Version, Wire, read
from referee.model import BotEntry, Night, NightSettings, VoidGame
from treelings.rules import Refill
from treelings.view import Clock

FORMAT: Final = "treelings-site/1"
NAME: Final = "league.json"

_Count = Annotated[int, Field(ge=1, le=1_000_000)]
_Ms = Annotated[int, Field(ge=0, le=10**9)]
_Time = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
_Short = Annotated[str, Field(max_length=2_000)]


class _Clock(Wire):
    startup_ms: _Ms
    move_ms: _Ms
    bank_ms: _Ms
    increment_ms: _Ms


class _Settings(Wire):
    seats: Annotated[list[Annotated[int, Field(ge=2, le=5)]], Field(min_length=1, max_length=4)]
    deals: _Count
    refill: Refill
    max_tables: _Count | None
    clock: _Clock


class _Bot(Wire):
    name: BotName
    author: _Short
    version: Version


class _Void(Wire):
    game: _Short
    reasons: Annotated[list[_Short], Field(max_length=100)]


class _Night(Wire):
    number: _Count
    opened: _Time
    finished: _Time | None
    commitment: Digest
    secret: Digest | None
    settings: _Settings
    bots: Annotated[list[_Bot], Field(max_length=2_000)]
    voids: list[_Void]


class _Site(Wire):
    format: Literal["treelings-site/1"]
    league: LeagueName
    nights: list[_Night]

    @model_validator(mode="after")
    def _ascending(self) -> "_Site":
        numbers = [night.number for night in self.nights]
        if numbers != sorted(set(numbers)):
            raise ValueError("nights in ascending order, each number once")
        return self


def site_json(league: str, nights: Sequence[Night]) -> str:
    """The text of league.json, the same for the same nights; ends with a line end."""
    value = {"format": FORMAT, "league": league, "nights": [asdict(night) for night in nights]}
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


def read_site_json(text: str) -> tuple[str, tuple[Night, ...]]:
    """The league's name and its nights. Raises RecordError naming the key, expected and got."""
    site = read(_Site, text, NAME)
    return site.league, tuple(_night(night) for night in site.nights)


def _night(night: _Night) -> Night:
    settings = night.settings
    clock = settings.clock
    return Night(
        number=night.number,
        opened=night.opened,
        finished=night.finished,
        commitment=night.commitment,
        secret=night.secret,
        settings=NightSettings(
            seats=tuple(settings.seats),
            deals=settings.deals,
            refill=settings.refill,
            max_tables=settings.max_tables,
            clock=Clock(clock.startup_ms, clock.move_ms, clock.bank_ms, clock.increment_ms),
        ),
        bots=tuple(BotEntry(bot.name, bot.author, bot.version) for bot in night.bots),
        voids=tuple(VoidGame(void.game, tuple(void.reasons)) for void in night.voids),
    )
