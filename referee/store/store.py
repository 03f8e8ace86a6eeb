"""The repository: values of model.py go in and come out, one transaction a call."""

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from sqlalchemy import URL, SQLColumnExpression, create_engine, delete, event, func, select, text, update
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry

from referee.errors import StoreError
from referee.model import BotEntry, GameRecord, Night, NightSettings, Outcome, Submission, UntilDecided, VoidGame
from referee.records import from_json, to_json
from referee.store.schema import FORMAT, SCHEMA, Base, BotRow, GameRow, MetaRow, NightRow, VoidRow
from referee.text import printable
from treelings import Clock

STORE_FILE: Final = "league.db"
_LONGEST_REASON: Final = 200
_AIM: Final = "until_decided"
"""Stands among a night's settings where it has one."""
_BUSY_S: Final = 30
"""How long a call waits for another process that is writing."""
_KIND: Final = 0xFF
"""Of an error of SQLite's; what lies above tells more of it."""
_MATCHES_AT_ONCE: Final = 25
_GAMES_AT_ONCE: Final = 500
"""So many have their records held as texts at a time."""


class Store:
    """One league's database. Every method is one transaction; any thread may call.

    All raise StoreError for a file that cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        """Get one from `create` or `open`."""
        self._path = path
        self._engine = create_engine(
            URL.create("sqlite", database=str(path)), connect_args={"timeout": _BUSY_S}
        )  # fmt: skip
        event.listen(self._engine, "connect", _set_pragmas)
        self._sessions = sessionmaker(self._engine)

    @classmethod
    def create(cls, folder: Path, league: str) -> Self:
        """A new database in the league's folder, for its owner alone since it holds secrets."""
        path = folder / STORE_FILE
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as problem:
            raise StoreError(f"{path}: cannot be made: {problem.strerror}") from problem
        store = cls(path)
        meta = {"format": FORMAT, "schema": str(SCHEMA), "league": league}
        with store._transaction() as session:
            Base.metadata.create_all(session.connection())
            session.add_all(MetaRow(key=key, value=value) for key, value in meta.items())
        return store

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The database that is there. Raises StoreError if it is missing, foreign or of another schema."""
        path = folder / STORE_FILE
        if not path.is_file():
            raise StoreError(f"{path}: expected the league's database, got no such file")
        store = cls(path)
        try:
            store._check()
        except StoreError:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Let go of the file; may be called twice."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def league(self) -> str:
        """The name that the league was made under."""
        with self._transaction() as session:
            return session.get_one(MetaRow, "league").value

    def add_bot(self, bot: Submission, added: str) -> None:
        """Make this the version that plays next under its name. Its folder lies in the league's."""
        row = BotRow(
            name=bot.name, author=bot.author, version=bot.version,
            folder=bot.folder.relative_to(self._path.parent).as_posix(),
            command=list(bot.command), runtime=bot.runtime, added=added,
        )  # fmt: skip
        with self._transaction() as session:
            session.add(row)

    def withdraw(self, name: str, at: str) -> None:
        """Note that a bot plays no further night, till it is added again; all that it played stays.

        Nothing if it plays none: somebody else may have been quicker.
        """
        with self._transaction() as session:
            for row in _newest(session):
                if row.name == name:
                    row.withdrawn = at

    def knows(self, version: str) -> bool:
        """Whether this version was added once, whatever became of it."""
        with self._transaction() as session:
            return session.scalar(select(BotRow.id).where(BotRow.version == version).limit(1)) is not None

    def bots(self) -> tuple[Submission, ...]:
        """The newest version of every bot, by name."""
        with self._transaction() as session:
            return tuple(self._submission(row) for row in _newest(session))

    def open_night(self, settings: NightSettings, secret: bytes, commitment: str, opened: str) -> Night:
        """Add the next night; it freezes these settings and the newest version of every bot."""
        with self._transaction() as session:
            row = NightRow(
                number=(session.scalar(select(func.max(NightRow.number))) or 0) + 1,
                settings=asdict(settings) | {"clock": settings.clock._asdict()},
                bots=[bot.id for bot in _newest(session)],
                secret=secret.hex(), commitment=commitment, opened=opened, finished=None, revealed=None,
            )  # fmt: skip
            session.add(row)
            session.flush()
            session.refresh(row)  # as it will be read again
            return _night(session, row)

    def nights(self) -> tuple[Night, ...]:
        """Every night, by number."""
        with self._transaction() as session:
            return tuple(_night(session, row) for row in session.scalars(select(NightRow).order_by(NightRow.number)))

    def secret(self, night: int) -> bytes:
        """A night's secret, whether it has been revealed or not."""
        with self._transaction() as session:
            return bytes.fromhex(session.get_one(NightRow, night).secret)

    def lineup(self, night: int) -> tuple[Submission, ...]:
        """The versions that a night froze, by name."""
        with self._transaction() as session:
            return tuple(self._submission(row) for row in _lineup(session, session.get_one(NightRow, night)))

    def leave(self, night: int, name: str) -> None:
        """Take a bot out of a night of which no game has been played; none of its games is void any more either."""
        with self._transaction() as session:
            row = session.get_one(NightRow, night)
            row.bots = [bot.id for bot in _lineup(session, row) if bot.name != name]
            session.execute(delete(VoidRow).where(VoidRow.night == night))

    def aim(self, night: int, until_decided: UntilDecided) -> None:
        """Keep how far a night goes on after its round robin, in place of what was kept before.

        None of its games is void any more: those that were may not even be due now.
        """
        with self._transaction() as session:
            row = session.get_one(NightRow, night)
            row.settings = row.settings | {_AIM: asdict(until_decided)}
            session.execute(delete(VoidRow).where(VoidRow.night == night))

    def finish(self, night: int, at: str) -> None:
        """Note that nothing of a night will be played any more."""
        with self._transaction() as session:
            session.get_one(NightRow, night).finished = at

    def reveal(self, night: int, at: str) -> None:
        """Note that a night's secret is public from now on."""
        with self._transaction() as session:
            session.get_one(NightRow, night).revealed = at

    def save(self, night: int, outcomes: Sequence[Outcome]) -> None:
        """Keep finished and void games, all or none. A game that has a record keeps it."""
        if not outcomes:
            return
        with self._transaction() as session:
            games = [_game(night, outcome) for outcome in outcomes if isinstance(outcome, GameRecord)]
            if games:
                session.execute(insert(GameRow).on_conflict_do_nothing(), games)
            for void in (outcome for outcome in outcomes if isinstance(outcome, VoidGame)):
                row = {"game": void.game, "night": night, "reasons": list(void.reasons)}
                session.execute(
                    insert(VoidRow).values(row).on_conflict_do_update(["game"], set_={"reasons": row["reasons"]})
                )
            session.execute(delete(VoidRow).where(VoidRow.game.in_(select(GameRow.id))))

    def count(self, night: int) -> int:
        """How many games of a night have a record."""
        with self._transaction() as session:
            return session.scalar(select(func.count()).where(GameRow.night == night)) or 0

    def recorded(self, night: int) -> frozenset[str]:
        """Ids of the games of a night that have a record."""
        with self._transaction() as session:
            return frozenset(session.scalars(select(GameRow.id).where(GameRow.night == night)))

    def records(self, night: int | None = None) -> tuple[GameRecord, ...]:
        """The records of a night, or of all: match by match, deals in order, whenever they were played.

        Raises RecordError if the file holds one that is none.
        """
        return self._records(night, GameRow.record)

    def results(self, night: int | None = None) -> tuple[GameRecord, ...]:
        """The same without their moves, on which neither standings nor ratings depend: five times as fast to read."""
        return self._records(night, func.json_replace(GameRow.record, "$.moves", func.json("[]")))

    def lines(self, night: int, matches: Sequence[str]) -> Iterator[Mapping[str, str]]:
        """The records of these matches of a night as they are kept, one match after the other, by the game's id."""
        for begin in range(0, len(matches), _MATCHES_AT_ONCE):
            wanted = matches[begin : begin + _MATCHES_AT_ONCE]
            found: dict[str, dict[str, str]] = {match: {} for match in wanted}
            query = select(GameRow.match, GameRow.id, GameRow.record)
            with self._transaction() as session:
                for match, game, line in session.execute(
                    query.where(GameRow.night == night, GameRow.match.in_(wanted))
                ):
                    found[match][game] = line
            yield from found.values()

    def record(self, line: str) -> GameRecord:
        """What such a line holds. Raises RecordError if that is no record."""
        return from_json(line, f"{self._path}: game")

    def _records(self, night: int | None, line: SQLColumnExpression[str]) -> tuple[GameRecord, ...]:
        query = select(GameRow.night, GameRow.match, GameRow.id).order_by(
            # Deal ids of a match differ in their last number alone, so the shorter is the smaller.
            GameRow.night, GameRow.match, func.length(GameRow.deal), GameRow.deal, GameRow.rotation,
        )  # fmt: skip
        if night is not None:
            query = query.where(GameRow.night == night)
        with self._transaction() as session:
            places = [(night, match, game) for night, match, game in session.execute(query)]
        games = zip(places, self._texts([game for _, _, game in places], line), strict=True)
        return tuple(self._placed(place, self.record(text)) for place, text in games)

    def _texts(self, games: Sequence[str], line: SQLColumnExpression[str]) -> Iterator[str]:
        """Of these games, in their order; read in parts, so that neither memory nor a writer waits for all of them."""
        for begin in range(0, len(games), _GAMES_AT_ONCE):
            wanted = games[begin : begin + _GAMES_AT_ONCE]
            with self._transaction() as session:
                query = select(GameRow.id, line).where(GameRow.id.in_(wanted))
                found = dict(session.execute(query).all())
                texts = [found[game] for game in wanted]
            yield from texts

    def _placed(self, place: tuple[int, str, str], record: GameRecord) -> GameRecord:
        """The record, which is that of the game in whose place it was: by its place, `lines` finds it again."""
        if place != (record.night, record.match, record.id):
            raise StoreError(self._damaged(f"in the place of {place[2]} is the record of {record.id}"))
        return record

    def _damaged(self, found: str) -> str:
        return f"{self._path}: damaged: {printable(found, _LONGEST_REASON)}; go back to a copy of the league"

    def _check(self) -> None:
        try:
            with self._transaction() as session:
                meta = {row.key: row.value for row in session.scalars(select(MetaRow))}
        except StoreError as problem:
            raise StoreError(f"cannot be used as a league's database: {problem}") from problem
        if meta.get("format") != FORMAT or not meta.get("schema", "").isdecimal():
            raise StoreError(f"{self._path}: expected a league's database, got another one")
        if meta["schema"] == "1":
            self._upgrade()
        elif int(meta["schema"]) != SCHEMA:
            newer = int(meta["schema"]) > SCHEMA
            advice = "update treelings" if newer else "it was made by an older treelings, use that one"
            raise StoreError(f"{self._path}: expected schema {SCHEMA}, got {meta['schema']}; {advice}")

    def _upgrade(self) -> None:
        """Bring a database of schema 1 up to this one, once, whoever else is about to."""
        with self._transaction() as session:
            schema = update(MetaRow).where(MetaRow.key == "schema", MetaRow.value == "1").values(value=str(SCHEMA))
            if session.connection().execute(schema).rowcount:
                session.execute(text("ALTER TABLE bots ADD COLUMN withdrawn VARCHAR"))

    @contextmanager
    def _transaction(self) -> Iterator[Session]:
        try:
            with self._sessions.begin() as session:
                yield session
        except SQLAlchemyError as problem:
            reason = problem.orig if isinstance(problem, DBAPIError) else problem
            raise StoreError(f"{self._path}: {reason}{_advice(reason)}") from problem
        except (ValueError, TypeError, LookupError, AttributeError) as problem:
            # What is read here was written here, so it has been changed since.
            raise StoreError(self._damaged(str(problem))) from problem

    def _submission(self, row: BotRow) -> Submission:
        folder = self._path.parent / row.folder
        return Submission(row.name, row.author, row.version, folder, tuple(row.command), row.runtime)


def _advice(reason: BaseException | None) -> str:
    """What to do about a file: there is no room, the disk does not do it, nobody may, or it is damaged."""
    match getattr(reason, "sqlite_errorcode", 0) & _KIND:
        case sqlite3.SQLITE_FULL:
            return "; make room there and try again: all that was recorded is kept"
        case sqlite3.SQLITE_IOERR:
            return "; see whether the disk is full or fails, and try again: all that was recorded is kept"
        case sqlite3.SQLITE_READONLY:
            return (
                "; do this as the league's owner, where its folder can be written (the first command after an update "
                "of treelings has to, even if it only shows something)"
            )
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return "; it is damaged: go back to a copy of the league"
    return ""


def _set_pragmas(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    cursor = connection.cursor()
    # A rollback journal: older SQLite's write-ahead log has a corruption bug.
    for pragma in ("journal_mode = TRUNCATE", "synchronous = FULL", "foreign_keys = ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _newest(session: Session) -> Sequence[BotRow]:
    last = select(func.max(BotRow.id)).group_by(BotRow.name)
    there = BotRow.id.in_(last), BotRow.withdrawn.is_(None)
    return session.scalars(select(BotRow).where(*there).order_by(BotRow.name)).all()


def _lineup(session: Session, night: NightRow) -> Sequence[BotRow]:
    return session.scalars(select(BotRow).where(BotRow.id.in_(night.bots)).order_by(BotRow.name)).all()


def _night(session: Session, row: NightRow) -> Night:
    voids = session.scalars(select(VoidRow).where(VoidRow.night == row.number).order_by(VoidRow.game))
    return Night(
        number=row.number,
        opened=row.opened,
        finished=row.finished,
        commitment=row.commitment,
        secret=row.secret if row.revealed else None,
        settings=_settings(row.settings),
        bots=tuple(BotEntry(bot.name, bot.author, bot.version) for bot in _lineup(session, row)),
        voids=tuple(VoidGame(void.game, tuple(void.reasons)) for void in voids),
        until_decided=_aim(row.settings.get(_AIM)),
    )


def _aim(stored: object) -> UntilDecided | None:
    match stored:
        case None:
            return None
        case {"top": int(top), "at_most": int(at_most)}:
            return UntilDecided(top, at_most)
    raise ValueError("expected until when a night goes on, got something else")


def _settings(stored: dict[str, object]) -> NightSettings:
    # As `asdict` wrote them: a newer edition of the settings is a newer schema.
    match stored:
        case {
            "seats": list(seats), "deals": int(deals), "refill": "start" | "end" as refill,
            "max_tables": int() | None as max_tables, "clock": dict(clock),
        }:  # fmt: skip
            return NightSettings(tuple(seats), deals, refill, max_tables, Clock(**clock))
    raise ValueError("expected the settings of a night, got something else")


def _game(night: int, record: GameRecord) -> dict[str, object]:
    return {
        "id": record.id, "night": night, "match": record.match, "deal": record.deal,
        "rotation": record.rotation, "record": to_json(record),
    }  # fmt: skip
