"""The league's memory: bots, nights and game records in one SQLite file."""

from referee.store.store import Store

__all__ = ["Store"]
