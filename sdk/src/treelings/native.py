"""The integers of the core's insides: 64 bits wide where it is compiled, Python's own where its source runs as it is.

This module is never compiled: so the compiled ones find the name here too, and need no package for it.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_extensions import i64
else:
    i64 = int

__all__ = ["i64"]
