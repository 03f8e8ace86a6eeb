"""The published league.json: a site's nights, with all that a stranger needs to recompute the plan.

    {"format": "treelings-site/1", "league": "thursday",
     "nights": [{"number", "opened", "finished", "commitment", "secret",
                 "settings": {"seats", "deals", "refill", "max_tables",
                              "clock": {"startup_ms", "move_ms", "bank_ms", "increment_ms"}},
                 "bots": [{"name", "author", "version"}],
                 "voids": [{"game", "reasons"}],
                 "until_decided": {"top", "at_most"}}]}

Keys mean what they mean in model.py (Night and what it holds); `finished`, `secret` and `max_tables` may be null,
and `until_decided` is there only where the night was to go on until its order is decided.
Nights are numbered 1, 2, 3 and so on. A reader takes 1,000 nights and 1,000 bots a night at most.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, FailFast, Field, model_validator

from referee.checked_json import BotName, Digest, LeagueName, Version, Wire, read
from referee.model import BotEntry, Night, NightSettings, UntilDecided, VoidGame
from treelings.cards import MAX_PLAYERS, MIN_PLAYERS
from treelings.rules import Refill
from treelings.view import Clock

FORMAT: Final = "treelings-site/1"
NAME: Final = "league.json"

_MAX_NIGHTS: Final = 1_000
_MAX_BOTS: Final = 1_000  # as schedule.MAX_BOTS
_MAX_REASONS: Final = 3  # as match.ATTEMPTS
_HOUR_MS: Final = 3_600_000

_Count = Annotated[int, Field(ge=1, le=1_000_000)]


def _some_day(time: str) -> str:
    try:
        datetime.fromisoformat(time)
    except ValueError as error:
        raise ValueError(f"a time that there is: {error}") from None
    return time


_Time = Annotated[
    str,
    Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"),
    AfterValidator(_some_day),
]
_Short = Annotated[str, Field(max_length=2_000)]


class _Clock(Wire):
    """The same ranges as in league.toml (config.ClockSection)."""

    startup_ms: Annotated[int, Field(ge=100, le=_HOUR_MS)]
    move_ms: Annotated[int, Field(ge=10, le=_HOUR_MS)]
    bank_ms: Annotated[int, Field(ge=10, le=_HOUR_MS)]
    increment_ms: Annotated[int, Field(ge=0, le=_HOUR_MS)]


class _Settings(Wire):
    seats: Annotated[list[Annotated[int, Field(ge=MIN_PLAYERS, le=MAX_PLAYERS)]], Field(min_length=1, max_length=4)]
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
    reasons: Annotated[list[_Short], Field(min_length=1, max_length=_MAX_REASONS), FailFast()]


class _UntilDecided(Wire):
    top: _Count
    at_most: _Count


class _Night(Wire):
    number: _Count
    opened: _Time
    finished: _Time | None
    commitment: Digest
    secret: Digest | None
    settings: _Settings
    bots: Annotated[list[_Bot], Field(max_length=_MAX_BOTS), FailFast()]
    voids: Annotated[list[_Void], FailFast()]
    until_decided: _UntilDecided | None = None

    @model_validator(mode="after")
    def _in_time(self) -> "_Night":
        if self.finished is not None and self.finished < self.opened:
            raise ValueError(f"finished not before opened, {self.opened}")
        return self

    @model_validator(mode="after")
    def _can_be_decided(self) -> "_Night":
        if wish := self.until_decided:
            if wish.top > len(self.bots):
                raise ValueError(f"until_decided: top at most {len(self.bots)}, as many as there are bots")
            if wish.at_most < self.settings.deals:
                raise ValueError(f"until_decided: at_most no less than the {self.settings.deals} deals of the plan")
        return self


class _Site(Wire):
    format: Literal["treelings-site/1"]
    league: LeagueName
    nights: Annotated[list[_Night], Field(max_length=_MAX_NIGHTS), FailFast()]

    @model_validator(mode="after")
    def _numbered(self) -> "_Site":
        for expected, night in enumerate(self.nights, 1):
            if night.number != expected:
                raise ValueError(f"nights numbered 1, 2, 3 and so on without a gap, not {night.number} as {expected}")
        return self


def site_json(league: str, nights: Sequence[Night]) -> str:
    """The text of league.json, the same for the same nights; ends with a line end."""
    value = {"format": FORMAT, "league": league, "nights": [_told(night) for night in nights]}
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


def read_site_json(text: str) -> tuple[str, tuple[Night, ...]]:
    """The league's name and its nights. Raises RecordError naming the key, expected and got."""
    site = read(_Site, text, NAME)
    return site.league, tuple(_night(night) for night in site.nights)


def _told(night: Night) -> dict[str, object]:
    told = asdict(night)
    told["settings"]["clock"] = night.settings.clock._asdict()
    if night.until_decided is None:
        del told["until_decided"]
    return told


def _night(night: _Night) -> Night:
    settings, wish = night.settings, night.until_decided
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
        until_decided=UntilDecided(wish.top, wish.at_most) if wish else None,
    )
