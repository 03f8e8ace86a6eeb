"""The errors of the kit, one tree.

TreelingsError
├── DeckError       a deck or a secret that the rules do not allow
├── NotationError   text that is no move at all
├── IllegalMove     a move that the position does not allow
└── ProtocolError   a peer that does not speak treelings.v1
"""


class TreelingsError(Exception):
    """Root of every error that this package raises on purpose."""


class DeckError(TreelingsError, ValueError):
    """A deck, secret or deal that breaks rules.md, Deck and deal."""


class NotationError(TreelingsError, ValueError):
    """Text that is not in the notation of rules.md, Notation of moves."""


class IllegalMove(TreelingsError, ValueError):
    """A well-formed move that is not legal in the position it was meant for."""


class ProtocolError(TreelingsError):
    """A message out of order or out of range (treelings.v1)."""
