"""league.toml: the settings of a league, validated."""

from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, Field

from referee.errors import ConfigError
from referee.limits import Limits, Reach
from referee.model import NightSettings
from referee.tomlfile import Section, read_toml
from treelings import Clock, Refill
from treelings.cards import MAX_PLAYERS, MIN_PLAYERS

CONFIG_FILE: Final = "league.toml"
_TEMPLATE: Final = Path(__file__).with_name("league_template.toml")
_HOUR_MS: Final = 3_600_000
_CLOCK: Final = Clock()
_LIMITS: Final = Limits()
_MB: Final = 1024 * 1024
_KB: Final = 1024
_CPUSET: Final = r"^[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*$"


def check_title(text: str) -> str:
    """The text if it is fit to be printed as a name: 1 to 64 printable characters, no space at its ends.

    Raises ValueError saying what was expected.
    """
    if not (1 <= len(text) <= 64 and text.isprintable() and text == text.strip()):
        raise ValueError("expected 1 to 64 printable characters without a space at either end")
    return text


def _check_path(text: str) -> str:
    if not (1 <= len(text) <= 1_000 and text.isprintable()):
        raise ValueError("expected a path of 1 to 1,000 printable characters")
    return text


def _sizes(value: object) -> object:
    return (value,) if isinstance(value, int) else tuple(value) if isinstance(value, list) else value


def _check_sizes(sizes: tuple[int, ...]) -> tuple[int, ...]:
    if not sizes or len(set(sizes)) != len(sizes) or any(not MIN_PLAYERS <= size <= MAX_PLAYERS for size in sizes):
        raise ValueError(f"expected one or more different table sizes, each {MIN_PLAYERS} to {MAX_PLAYERS}")
    return tuple(sorted(sizes))


Title = Annotated[str, AfterValidator(check_title)]
TableSizes = Annotated[tuple[int, ...], BeforeValidator(_sizes), AfterValidator(_check_sizes)]


class ClockSection(Section):
    """`[clock]`: the chess clock of every seat, in milliseconds; defaults as treelings.Clock."""

    startup_ms: Annotated[int, Field(ge=100, le=_HOUR_MS)] = _CLOCK.startup_ms
    move_ms: Annotated[int, Field(ge=10, le=_HOUR_MS)] = _CLOCK.move_ms
    bank_ms: Annotated[int, Field(ge=10, le=_HOUR_MS)] = _CLOCK.bank_ms
    increment_ms: Annotated[int, Field(ge=0, le=_HOUR_MS)] = _CLOCK.increment_ms


class SandboxSection(Section):
    """`[sandbox]`: what one bot may use; defaults as Limits, which says what each means."""

    memory_mb: Annotated[int, Field(ge=32, le=65_536)] = _LIMITS.memory_bytes // _MB
    pids: Annotated[int, Field(ge=16, le=4_096)] = _LIMITS.pids
    cpus: Annotated[float, Field(ge=0.1, le=64)] = _LIMITS.cpus
    cpu_shares: Annotated[int, Field(ge=2, le=262_144)] = _LIMITS.cpu_shares
    cpuset: Annotated[str | None, Field(pattern=_CPUSET)] = _LIMITS.cpuset
    nofile: Annotated[int, Field(ge=32, le=65_536)] = _LIMITS.nofile
    tmp_mb: Annotated[int, Field(ge=1, le=4_096)] = _LIMITS.tmp_bytes // _MB
    tmp_inodes: Annotated[int, Field(ge=16, le=1_000_000)] = _LIMITS.tmp_inodes
    shm_mb: Annotated[int, Field(ge=1, le=4_096)] = _LIMITS.shm_bytes // _MB
    log_kb: Annotated[int, Field(ge=16, le=102_400)] = _LIMITS.log_bytes // _KB
    sent_kb: Annotated[int, Field(ge=64, le=102_400)] = _LIMITS.sent_bytes // _KB
    runtime: Annotated[str | None, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")] = _LIMITS.runtime
    reach: Reach = _LIMITS.reach


class LeagueConfig(Section):
    """A league's settings, as league.toml gives them; `site` is relative to the league's folder."""

    name: Title
    seats: TableSizes = (2,)
    deals: Annotated[int, Field(ge=1, le=10_000)] = 10
    refill: Refill = "start"
    max_tables: Annotated[int | None, Field(ge=1, le=1_000_000)] = None
    jobs: Annotated[int | None, Field(ge=1, le=256)] = None
    site: Annotated[str, AfterValidator(_check_path)] = "site"
    clock: ClockSection = ClockSection()
    sandbox: SandboxSection = SandboxSection()

    def settings(self) -> NightSettings:
        """What a night opened now would be played with."""
        return NightSettings(self.seats, self.deals, self.refill, self.max_tables, Clock(**dict(self.clock)))

    def limits(self) -> Limits:
        """What each bot may use."""
        box = self.sandbox
        return Limits(
            memory_bytes=box.memory_mb * _MB,
            pids=box.pids,
            cpus=box.cpus,
            cpu_shares=box.cpu_shares,
            cpuset=box.cpuset,
            nofile=box.nofile,
            tmp_bytes=box.tmp_mb * _MB,
            tmp_inodes=box.tmp_inodes,
            shm_bytes=box.shm_mb * _MB,
            log_bytes=box.log_kb * _KB,
            sent_bytes=box.sent_kb * _KB,
            runtime=box.runtime,
            reach=box.reach,
        )


def read_config(folder: Path) -> LeagueConfig:
    """The settings in a league's folder. Raises ConfigError naming file, key, expected and got."""
    return read_toml(folder / CONFIG_FILE, LeagueConfig, ConfigError)


def template(name: str) -> str:
    """The text of a new league's league.toml. Raises ConfigError if the name is not fit to be one."""
    try:
        check_title(name)
    except ValueError as problem:
        raise ConfigError(f"name of the league: {problem}, got {name[:80]!r}") from problem
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return _TEMPLATE.read_text(encoding="utf-8").replace("@NAME@", f'"{quoted}"')
