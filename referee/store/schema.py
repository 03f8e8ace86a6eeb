"""The tables of league.db; SCHEMA says which edition of them a file holds."""

from typing import Final

from sqlalchemy import JSON, ForeignKey, Index
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

FORMAT: Final = "treelings-league"
SCHEMA: Final = 2


class Base(DeclarativeBase):
    """Root of the tables."""

    type_annotation_map = {dict[str, object]: JSON, list[dict[str, object]]: JSON, list[str]: JSON, list[int]: JSON}  # noqa: RUF012 - SQLAlchemy reads it from the class


class MetaRow(Base):
    """What the file is: its format, its schema, its league's name."""

    __tablename__ = "meta"

    key: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]


class BotRow(Base):
    """A version of a bot that was added; the last one of a name is the one that plays next, unless it has withdrawn."""

    __tablename__ = "bots"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(index=True)
    author: Mapped[str]
    version: Mapped[str]
    folder: Mapped[str]  # relative to the league's folder, so that the league can be moved
    command: Mapped[list[str]]
    runtime: Mapped[str]
    added: Mapped[str]
    withdrawn: Mapped[str | None]  # since schema 2


class NightRow(Base):
    """A night with all that it froze. The secret is why the file is for its owner alone."""

    __tablename__ = "nights"

    number: Mapped[int] = mapped_column(primary_key=True)
    settings: Mapped[dict[str, object]]
    bots: Mapped[list[int]]  # ids of BotRow
    secret: Mapped[str]
    commitment: Mapped[str]
    opened: Mapped[str]
    finished: Mapped[str | None]
    revealed: Mapped[str | None]


class GameRow(Base):
    """A finished game; `record` is its line of JSON (records.md), the rest is there to find it."""

    __tablename__ = "games"
    __table_args__ = (Index("games_of_a_night", "night", "match"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    night: Mapped[int] = mapped_column(ForeignKey("nights.number"))
    match: Mapped[str]
    deal: Mapped[str]
    rotation: Mapped[int]
    record: Mapped[str]


class VoidRow(Base):
    """A game that our side failed to finish, till it is played after all."""

    __tablename__ = "voids"

    game: Mapped[str] = mapped_column(primary_key=True)
    night: Mapped[int] = mapped_column(ForeignKey("nights.number"))
    reasons: Mapped[list[str]]
