"""The league's memory: bots, nights and game records in one SQLite file."""

from referee.store.store import STORE_FILE, Store

__all__ = ["STORE_FILE", "Store"]
