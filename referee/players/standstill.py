"""Whether the referee itself stood still in a wait: its process was stopped, or its machine was overloaded."""

from typing import Final

from referee.errors import SandboxError

_STANDSTILL_S: Final = 1.0
"""A wait that ends so much too late means that no time was fair to the bot."""


def check(limit_s: float, took_s: float) -> None:
    """Raises SandboxError if a wait of `limit_s` at most took so long that we stood still."""
    if took_s > limit_s + _STANDSTILL_S:
        raise SandboxError(
            f"the referee stood still: a wait of {limit_s * 1000:,.0f} ms ended after {took_s * 1000:,.0f} ms; "
            "is the machine overloaded, or was the process stopped?"
        )
