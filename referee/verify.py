"""Check what a league published: re-play its records, and recompute decks, plan, clocks and standings.

Of a site that is league.json, records/, standings.json and standings.csv; its pages (*.html) are not looked at.
Nothing but the rules and these files is used, and none of the files is trusted. What no file can prove: that a
bot was as slow, or failed in such a way, as its record says.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from referee.checked_json import open_file
from referee.clock import SeatClock
from referee.decision import plan_so_far
from referee.errors import RecordError, UsageError
from referee.leaderboard import leaderboard, standings_csv, standings_json
from referee.model import GameRecord, GameSpec, Night
from referee.records import from_json, problems, record_lines
from referee.site_size import check_bots, check_nights
from referee.sitefile import NAME, read_site_json
from referee.standings_differences import csv_differences, json_differences
from referee.text import printable
from treelings.cards import commitment, derive_deck
from treelings.view import Clock

MAX_FILE_BYTES: Final = 32 * 1024 * 1024
"""The most that league.json, standings.json or standings.csv may have."""

ROUNDING_MS: Final = 1.0
"""How far a move may be beyond its limit: limits are whole milliseconds, times are rounded."""

_MOST_DIFFERENCES: Final = 100
_MOST_NOTES: Final = 1_000
_LINE: Final = 400


@dataclass(frozen=True, slots=True)
class Report:
    """What was checked and what differs; every text is printable.

    games      records that were re-played
    decks      deals whose deck was proven to follow from the secret
    standings  sites whose standings were recomputed and are identical, as JSON and as CSV
    untold     differences beyond the first 100, of which only the number is kept
    """

    games: int
    decks: int
    standings: int
    differences: tuple[str, ...]
    untold: int
    notes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Nothing differs."""
        return not self.differences

    @property
    def summary(self) -> str:
        """The outcome in one line."""
        if self.differences:
            many = len(self.differences) + self.untold
            return f"not verified: {many} {'difference' if many == 1 else 'differences'} in {self.games} games"
        identical = ", standings identical" if self.standings else ""
        return f"verified: {self.games} games, {self.decks} decks{identical}"


@dataclass(slots=True)
class _Findings:
    """A report in the making.

    broken      lines that hold no record
    incomplete  games that were played may be unknown: a file of records is not there, or not all of it can be read
    """

    games: int = 0
    decks: int = 0
    standings: int = 0
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    untold: int = 0
    broken: int = 0
    incomplete: bool = False

    @property
    def count(self) -> int:
        """All differences so far, told or not."""
        return len(self.differences) + self.untold

    def differs(self, text: str) -> None:
        if len(self.differences) < _MOST_DIFFERENCES:
            self.differences.append(printable(text, _LINE))
        else:
            self.untold += 1

    def note(self, text: str) -> None:
        if len(self.notes) < _MOST_NOTES:
            self.notes.append(printable(text, _LINE))
        elif len(self.notes) == _MOST_NOTES:
            self.notes.append("further notes are left out")

    def report(self) -> Report:
        return Report(self.games, self.decks, self.standings, tuple(self.differences), self.untold, tuple(self.notes))


def verify(paths: Sequence[Path], secret: bytes | None = None) -> Report:
    """Check record files and published sites (folders with a league.json).

    secret  of the night that record files are from; a site tells its own

    Of a file: every game follows the rules, and every deck the secret. Of a site besides: every game is one of
    the plan, once, on the seats and with the versions that it asks for; none is missing; no move took longer than
    its clock allowed by more than ROUNDING_MS; every secret is the one committed to; the standings are those of the
    records. Pages are not looked at.

    Never raises for what the files hold or lack: that is a difference.
    """
    found = _Findings()
    for path in paths:
        try:
            if path.is_dir():
                _site(found, path)
            else:
                _file(found, path, secret)
        except RecordError as error:
            found.differs(str(error))
    return found.report()


def _file(found: _Findings, path: Path, secret: bytes | None) -> None:
    decks = _Decks(secret)
    seen: set[tuple[str, str | None, tuple[str, ...], int]] = set()
    for line, record in _records(found, path):
        where = f"{line} ({record.id})"
        _replay(found, where, record, decks)
        key = (record.league, record.deal, tuple(seat.bot for seat in record.seats), record.rotation)
        if record.deal is not None and key in seen:
            found.differs(f"{where}: expected each game once, got it again")
        seen.add(key)
    found.decks += decks.proven
    if secret is None:
        found.note(f"{path.name}: no secret given: decks unproven")


def _site(found: _Findings, site: Path) -> None:
    league, nights = read_site_json(_text(site / NAME))
    check_nights(nights)
    found.incomplete = False
    _missing_files(found, site, nights)
    records: list[GameRecord] = []
    commitments: dict[str, int] = {}
    for night in nights:
        other = commitments.setdefault(night.commitment, night.number)
        if other != night.number:
            found.differs(f"night {night.number}: expected a commitment of its own, got night {other}'s")
        try:
            records += _night(found, site, league, night, over=_is_over(night, nights))
        except (RecordError, UsageError) as error:
            found.differs(f"night {night.number}: {error}")
            found.incomplete = True
    known = {_record_file(site, night.number) for night in nights}
    for path in sorted((site / "records").glob("*")):
        if path not in known:
            found.differs(f"records/{path.name}: expected only the records of nights in {NAME}")
    check_bots(records)
    compared = _Findings() if found.incomplete else found
    board = leaderboard(league, records)
    before = compared.count
    for difference in (
        *json_differences("standings.json", standings_json(board), _text(site / "standings.json")),
        *csv_differences("standings.csv", standings_csv(board.season), _text(site / "standings.csv")),
    ):
        compared.differs(difference)
    if compared is not found and compared.count:
        found.differs(f"standings: values that differ, as they must without all records: {compared.count}")
    found.standings += compared.count == before


def _missing_files(found: _Findings, site: Path, nights: Sequence[Night]) -> None:
    """Tell of files that have to be there; what follows from their lack is then no more than counted."""
    for night in nights:
        path = _record_file(site, night.number)
        if not path.exists() and _is_over(night, nights):
            found.differs(f"records/{path.name}: expected by {NAME}, not there")
            found.incomplete = True


def _night(found: _Findings, site: Path, league: str, night: Night, *, over: bool) -> list[GameRecord]:
    """Check a night; its records, each game once, without their moves (the standings need none)."""
    versions = {bot.name: bot.version for bot in night.bots}
    decks = _Decks(_revealed(found, night))
    records: dict[str, GameRecord] = {}
    path = _record_file(site, night.number)
    broken = found.broken
    for _, record in _records(found, path) if path.exists() else ():
        where = f"night {night.number}, game {record.id}"
        _replay(found, where, record, decks)
        if record.league != league:
            found.differs(f"{where}: expected league {league!a}, got {record.league!a}")
        if record.id in records:
            found.differs(f"{where}: expected each game once, got it again")
            continue
        if overtime := _overtime(record, night.settings.clock):
            found.differs(f"{where}: {overtime}")
        records[record.id] = replace(record, moves=(), extra={})
    found.decks += decks.proven
    # Last, since which extra deals were due follows from the records before them.
    matches, _ = plan_so_far(league, night, records.values())
    plan = {game.id: game for match in matches for game in match.games}
    # Without the file no game can be there; and a line that holds no record may have been that of a missing game.
    excused = found.broken - broken if path.exists() else len(plan)
    _complete(found, night, plan, records, excused, over=over)
    # After what is missing: without one game of the round robin no extra deal was due, and all of them are outside.
    for record in records.values():
        _as_planned(found, f"night {night.number}, game {record.id}", record, plan.get(record.id), versions)
    return list(records.values())


def _revealed(found: _Findings, night: Night) -> bytes | None:
    """The night's secret, if it was revealed and is the one that the night was bound to."""
    if night.secret is None:
        found.note(f"night {night.number}: secret not yet revealed: decks unproven")
        return None
    secret = bytes.fromhex(night.secret)
    if (digest := commitment(secret)) != night.commitment:
        found.differs(
            f"night {night.number}: expected a secret whose SHA-256 is the commitment {night.commitment}, "
            f"got one with {digest}"
        )
        return None
    return secret


class _Decks:
    """The decks of deals: derived from the secret where it is known, else the first that was seen."""

    def __init__(self, secret: bytes | None) -> None:
        self._secret = secret
        self._decks: dict[str, str] = {}

    @property
    def proven(self) -> int:
        return len(self._decks) if self._secret else 0

    def wrong(self, deal: str, deck: str) -> str | None:
        """What is wrong with this deck for the deal, in words; None if nothing is."""
        if deal not in self._decks:
            self._decks[deal] = derive_deck(self._secret, deal) if self._secret else deck
        if deck == self._decks[deal]:
            return None
        if self._secret:
            return f"deck: expected the one that follows from the secret, {self._decks[deal]}, got {deck}"
        return f"deck: expected the same in every rotation of the deal, {self._decks[deal]}, got {deck}"


def _replay(found: _Findings, where: str, record: GameRecord, decks: _Decks) -> None:
    found.games += 1
    for problem in problems(record):
        found.differs(f"{where}: {problem}")
    if record.deal is None:
        found.note(f"{where}: its deck was given by hand")
    elif wrong := decks.wrong(record.deal, record.deck):
        found.differs(f"{where}: {wrong}")


def _overtime(record: GameRecord, clock: Clock) -> str | None:
    """The first move that took longer than the clock of its seat allowed, in words; None if none did.

    A timeout would have been due. Up to ROUNDING_MS beyond the limit are let pass.
    """
    clocks = [SeatClock(clock) for _ in record.seats]
    for turn, move in enumerate(record.moves):
        seat = clocks[move.seat]
        if move.ms > seat.limit_ms + ROUNDING_MS:
            return f"turn {turn}: ms: expected at most {seat.limit_ms}, the limit of seat {move.seat}, got {move.ms}"
        seat.charge(move.ms)
    return None


def _as_planned(
    found: _Findings, where: str, record: GameRecord, spec: GameSpec | None, versions: Mapping[str, str]
) -> None:
    if spec is None:
        found.differs(f"{where}: expected only games of the plan, got one outside it")
        return
    planned = (spec.night, spec.match, spec.deal_id, spec.refill, spec.rotation)
    played = (record.night, record.match, record.deal, record.refill, record.rotation)
    names = ("night", "match", "deal", "rules.refill", "rotation")
    for name, expected, got in zip(names, planned, played, strict=True):
        if expected != got:
            found.differs(f"{where}: {name}: expected {expected!a}, got {got!a}")
    bots = tuple(seat.bot for seat in record.seats)
    if bots != spec.bots:
        found.differs(f"{where}: seats: expected {', '.join(spec.bots)}, got {', '.join(bots)}")
        return
    for seat in record.seats:
        if seat.version != versions[seat.bot]:
            found.differs(
                f"{where}: version of {seat.bot}: expected {versions[seat.bot]}, as frozen, got {seat.version}"
            )


def _is_over(night: Night, nights: Sequence[Night]) -> bool:
    """Whether nothing more is to be played: a league opens its next night only then."""
    return night.finished is not None or night.secret is not None or night is not nights[-1]


def _complete(
    found: _Findings,
    night: Night,
    plan: Mapping[str, GameSpec],
    records: Mapping[str, GameRecord],
    excused: int,
    *,
    over: bool,
) -> None:
    """Every planned game is recorded or listed as void, unless the night is still being played.

    excused  how many missing games follow from what was told already: so many are counted, and not told one by one
    """
    label = f"night {night.number}"
    voids = {void.game for void in night.voids}
    for game in sorted(voids):
        if game not in plan:
            found.differs(f"{label}, void game {game}: expected only games of the plan")
        elif game in records:
            found.differs(f"{label}, game {game}: expected a record or an entry as void, got both")
    missing = [game for game in plan if game not in records and game not in voids]
    if not over:
        found.note(f"{label}: not finished: {len(records)} of {len(plan)} games recorded")
        return
    if voids:
        found.note(f"{label}: {len(voids)} games listed as void")
    if missing and len(missing) <= excused:
        found.differs(f"{label}: games without a record, as follows from the above: {len(missing)}")
        return
    for game in missing:
        found.differs(f"{label}, game {game}: expected a record or an entry as void, got neither")


def _record_file(site: Path, night: int) -> Path:
    return site / "records" / f"night-{night}.jsonl"


def _records(found: _Findings, path: Path) -> Iterator[tuple[str, GameRecord]]:
    """The records of a file, each with where it stands; lines that hold none are differences."""
    for where, line in record_lines(path):
        try:
            record = from_json(line, where)
        except RecordError as error:
            found.differs(str(error))
            found.broken += 1
            found.incomplete = True
        else:
            yield where, record


def _text(path: Path) -> str:
    """The whole of a file of the site. Raises RecordError."""
    try:
        with open_file(path) as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise RecordError(f"{path.name}: cannot be read: {error.strerror}") from None
    if len(raw) > MAX_FILE_BYTES:
        raise RecordError(f"{path.name}: expected at most {MAX_FILE_BYTES:,} bytes, got more")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise RecordError(f"{path.name}: expected UTF-8 text, got {error.reason}") from None
