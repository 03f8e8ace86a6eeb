"""Tries what a container must not allow, says so in its log, and then plays an honest game.

Copied into each hostile submission; needs nothing but the kit.
"""

import sys
from collections.abc import Callable
from typing import ParamSpec

import treelings

P = ParamSpec("P")


class Honest(treelings.Bot):
    """Plays the first legal move."""

    def choose(self, view: treelings.View) -> treelings.Move:
        return view.legal_moves[0]


def attempt(what: str, action: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
    """Try it: an OSError is what is hoped for; whatever works ends the bot, which fails its case."""
    try:
        got = action(*args, **kwargs)
    except OSError as error:
        print(f"{what}: held ({error.strerror or error})", flush=True)
    else:
        sys.exit(f"{what}: ESCAPED ({got!r:.120})")


def play(bot: type[treelings.Bot] = Honest) -> None:
    """Serve honest games for ever."""
    treelings.serve(bot)
