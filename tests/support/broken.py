"""The broken bots, tests/broken_bots: each is a folder to be checked, with what its author is to be told of it."""

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

COLLECTION: Final = Path(__file__).parents[1] / "broken_bots"


@dataclass(frozen=True)
class Broken:
    """What is expected of a check of a broken bot (expected.toml).

    does     what is wrong with it, in one line
    step     the step that fails; empty: it is good to play
    warns    the steps that are passed with a warning
    fault    the kind of its fault; empty: no game was asked of it
    says     words that the check prints
    hint     words of what it says to do
    sandbox  "process", where that shows the same, or "docker"
    league   settings that differ from a league's own
    """

    name: str
    does: str
    step: str = ""
    warns: tuple[str, ...] = ()
    fault: str = ""
    says: tuple[str, ...] = ()
    hint: str = ""
    sandbox: str = "process"
    league: dict[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """The bot."""
        return COLLECTION / self.name

    def league_toml(self) -> str:
        """Settings of a league for it."""
        settings = {"name": "broken", "seats": [2, 5], **self.league}
        # A bot that is good has far more time than it needs, however busy the machine.
        clock = {"startup_ms": 60_000, "move_ms": 60_000, "bank_ms": 600_000, **settings.pop("clock", {})}
        lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        return "\n".join([*lines, "[clock]", *(f"{key} = {value}" for key, value in clock.items()), ""])


def broken_bots() -> list[Broken]:
    """All of them, by name."""
    return [
        Broken(file.parent.name, **{key: _frozen(value) for key, value in tomllib.loads(file.read_text()).items()})
        for file in sorted(COLLECTION.glob("*/expected.toml"))
    ]


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
