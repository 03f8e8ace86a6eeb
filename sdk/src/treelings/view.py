"""What one seat may see, and full states that are consistent with it.

A view is built from permitted fields only; nothing in it depends on the order of the cards that lie face
down (tests/property holds it to that).
"""

from typing import TYPE_CHECKING, NamedTuple

from treelings.cards import Refill
from treelings.moves import Move

if TYPE_CHECKING:
    from treelings.rules import Rng, State


class Clock(NamedTuple):
    """The time control of a game, all in milliseconds (the same for every seat).

    startup_ms    for a bot to start and be ready for its first game, and to be ready for each later one
    move_ms       no answer may take longer
    bank_ms       what a seat's clock holds at the start of the game
    increment_ms  added after each answer
    """

    startup_ms: int = 10_000
    move_ms: int = 1_000
    bank_ms: int = 20_000
    increment_ms: int = 100


class GameStart(NamedTuple):
    """What a seat is told before a game.

    game     its name, e.g. "night 1/greedy-vs-random/0/r1"; unlike that of any other game of a league
    seat     the bot's seat, from 0
    players  2 to 5
    refill   "start" or "end" (rules.md, Two sources, two refills)
    clock    the time control, the same for every seat
    """

    game: str
    seat: int
    players: int
    refill: Refill
    clock: Clock


class GameEnd(NamedTuple):
    """What a seat is told after a game.

    outcome  "festival", "forfeit" or "void" (records.md)
    ranks    one per seat, 1 is best, equal ranks are ties; empty if void
    scores   points, one per seat; empty unless played out
    """

    outcome: str
    ranks: tuple[int, ...]
    scores: tuple[int, ...]


class View(NamedTuple):
    """One seat's view of a position.

    seat           the seat that looks, from 0; it is its turn
    turn           turns played before this one, all seats together
    players        2 to 5
    refill         "start" or "end" (rules.md, Two sources, two refills)
    rows           per seat, its guilds from left to right, e.g. ("PRG", "OB")
    heights        per seat, cards in each of these columns
    market         six counts in guild order
    unseen         six counts in guild order: cards that lie face down
    above_firefly  cards of the pile above the firefly, 0 once it is out
    firefly_out    the firefly has shown up: the game ends with this round
    legal_moves    every legal move, one or more, in canonical order (rules.md, A turn)
    history        every move played so far; move i was played by seat i % players
    limit_ms       time for this answer, milliseconds of wall time
    bank_ms        what the seat's clock holds, likewise
    """

    seat: int
    turn: int
    players: int
    refill: Refill
    rows: tuple[str, ...]
    heights: tuple[tuple[int, ...], ...]
    market: tuple[int, ...]
    unseen: tuple[int, ...]
    above_firefly: int
    firefly_out: bool
    legal_moves: tuple[Move, ...]
    history: tuple[Move, ...] = ()
    limit_ms: int = 0
    bank_ms: int = 0

    @classmethod
    def of(cls, state: "State", history: tuple[Move, ...] = (), *, limit_ms: int = 0, bank_ms: int = 0) -> "View":
        """The view of the seat whose turn it is, which must be one: the game is not over. Cost: 4 to 7 us."""
        # By position, in the order of the fields: a referee waits for this before each query.
        return cls(
            state.seat,
            state.turn,
            state.players,
            state.refill,
            tuple(state.rows),
            tuple([state.heights(seat) for seat in range(state.players)]),
            state.market,
            state.unseen(),
            state.above_firefly,
            state.firefly_out,
            state.legal_moves(),
            history,
            limit_ms,
            bank_ms,
        )

    def __repr__(self) -> str:
        shown = zip(self._fields, self, strict=True)
        return f"View({', '.join(f'{name}={value!r}' for name, value in shown if name != 'history')})"

    @property
    def pile(self) -> int:
        """Guild cards that lie face down."""
        return sum(self.unseen)

    def sample(self, rng: "Rng") -> "State":
        """A full state that agrees with all that this seat has seen, the unseen cards in random order.

        Legal moves, turn and every visible field equal the view's; each order of the unseen cards is equally
        likely. Play on it freely: it is the caller's own. Cost: 20 us early in the game, less later, so a
        `State.copy` of a sample comes fifty times as cheap as another one.
        """
        from treelings.offers import ONE, pack, pack_row
        from treelings.rules import resumed

        random = rng.random
        pile: list[int] = []
        for one, count in zip(ONE, self.unseen, strict=True):
            pile += [one] * count
        pile.sort(key=lambda _: random())  # a fair shuffle, and the fastest that the language has
        heights = [pack_row(row, tall) for row, tall in zip(self.rows, self.heights, strict=True)]
        return resumed(list(self.rows), heights, pack(self.market), pile, self.turn, self.refill)
