"""The game itself: one compact, copyable state (rules.md, Set-up; A turn; Scoring).

Cards are never objects. A count per guild is packed into one integer, five bits a guild, so that taking,
growing and refilling are additions; a row is the text of its guilds from left to right.
"""

from functools import cache
from typing import Final, Literal

from treelings.cards import (
    CARDS,
    FIREFLY_INDEX,
    GUILDS,
    HAND_SIZE,
    MARKET_SIZE,
    MAX_PLAYERS,
    MIN_PLAYERS,
    check_deck,
)
from treelings.errors import DeckError, IllegalMove
from treelings.moves import PASS, PASS_TAKE, SINGLES_TAKE, Move, moves_for_take

Refill = Literal["start", "end"]
REFILLS: Final[tuple[Refill, ...]] = ("start", "end")

_BITS: Final = 5
_FULL: Final = (1 << _BITS) - 1
_ONE: Final = tuple(1 << (_BITS * guild) for guild in range(len(GUILDS)))
_ONE_OF: Final = dict(zip(GUILDS, _ONE, strict=True))


def pack(counts: "list[int] | tuple[int, ...]") -> int:
    """Six counts in guild order as one packed integer."""
    return sum(count * one for count, one in zip(counts, _ONE, strict=True))


def unpack(packed: int) -> tuple[int, ...]:
    """Six counts in guild order from a packed integer."""
    return tuple(packed >> (_BITS * guild) & _FULL for guild in range(len(GUILDS)))


@cache
def legal_for(market: int, own: int) -> tuple[Move, ...]:
    """The legal moves, in canonical order, of a seat that has the guilds of mask `own` before this market.

    Canonical order (records.md, Faults): takes in guild order, then "*"; new guilds to the right in guild
    order come first.
    """
    if market == 0:
        return (PASS,)
    counts = unpack(market)
    moves: list[Move] = []
    for guild, count in enumerate(counts):
        if count:
            moves += moves_for_take(GUILDS[guild], "" if own >> guild & 1 else GUILDS[guild])
    singles = [guild for guild, count in enumerate(counts) if count == 1]
    if len(singles) > 1:  # a lone single is the same as its letter, and the letter is canonical
        moves += moves_for_take(SINGLES_TAKE, "".join(GUILDS[g] for g in singles if not own >> g & 1))
    return tuple(moves)


class State:
    """One position of one game, everything included; what the referee holds and a forward model plays on.

    players        2 to 5
    refill         "start" or "end" (rules.md, Two sources, two refills)
    turn           turns played so far, all seats together
    seat           whose turn it is
    rows           per seat: guilds of its columns from left to right, e.g. "PRG"
    festival_turn  index of the turn during which the firefly showed up, or -1
    over           no more turns

    `legal_moves`, `play` and `copy` cost constant time.
    """

    __slots__ = (
        "_drawn", "_heights", "_market", "_pile", "_sums", "festival_turn", "over", "players", "refill",
        "rows", "seat", "turn",
    )  # fmt: skip

    players: int
    refill: Refill
    turn: int
    seat: int
    rows: list[str]
    festival_turn: int
    over: bool
    _heights: list[int]
    _market: int
    _pile: str  # the 108 guild cards from the top down
    _sums: tuple[int, ...]  # packed counts of the first k cards, for every k
    _drawn: int

    @staticmethod
    def deal(deck: str, players: int, refill: Refill = "start") -> "State":
        """Set up a game from a deck of 109 characters (rules.md, Set-up). Raises DeckError."""
        check_deck(deck)
        if not MIN_PLAYERS <= players <= MAX_PLAYERS:
            raise DeckError(f"players: expected {MIN_PLAYERS} to {MAX_PLAYERS}, got {players}")
        if refill not in REFILLS:
            raise DeckError(f"refill: expected 'start' or 'end', got {refill!r}")
        pile = deck[:FIREFLY_INDEX] + deck[FIREFLY_INDEX + 1 :]
        rows = []
        heights = []
        for seat in range(players):
            hand = pile[seat * HAND_SIZE : (seat + 1) * HAND_SIZE]
            rows.append("".join(dict.fromkeys(hand)))
            heights.append(sum(_ONE_OF[guild] for guild in hand))
        drawn = players * HAND_SIZE + MARKET_SIZE
        market = sum(_ONE_OF[guild] for guild in pile[drawn - MARKET_SIZE : drawn])
        return State.resume(pile, drawn, rows, heights, market, 0, refill, -1)

    @staticmethod
    def resume(
        pile: str, drawn: int, rows: list[str], heights: list[int], market: int, turn: int,
        refill: Refill, festival_turn: int,
    ) -> "State":  # fmt: skip
        """A position in mid-game, from its parts; `pile[drawn:]` are the cards still face down."""
        state = State.__new__(State)
        state.players = len(rows)
        state.refill = refill
        state.turn = turn
        state.seat = turn % len(rows)
        state.rows = rows
        state.festival_turn = festival_turn
        state.over = False
        state._heights = heights
        state._market = market
        state._pile = pile
        sums = [0]
        for guild in pile:
            sums.append(sums[-1] + _ONE_OF[guild])
        state._sums = tuple(sums)
        state._drawn = drawn
        return state

    def copy(self) -> "State":
        """An independent copy; the deck is shared because nothing ever changes it."""
        twin = State.__new__(State)
        twin.players = self.players
        twin.refill = self.refill
        twin.turn = self.turn
        twin.seat = self.seat
        twin.rows = self.rows[:]
        twin.festival_turn = self.festival_turn
        twin.over = self.over
        twin._heights = self._heights[:]
        twin._market = self._market
        twin._pile = self._pile
        twin._sums = self._sums
        twin._drawn = self._drawn
        return twin

    @property
    def market(self) -> tuple[int, ...]:
        """Cards in the market, one count per guild."""
        return unpack(self._market)

    @property
    def pile(self) -> int:
        """Guild cards that still lie face down."""
        return CARDS - self._drawn

    @property
    def firefly_out(self) -> bool:
        """The firefly has shown up."""
        return self.festival_turn >= 0

    @property
    def above_firefly(self) -> int:
        """Cards of the pile that lie above the firefly; 0 once it is out."""
        return max(0, FIREFLY_INDEX - self._drawn)

    def heights(self, seat: int) -> tuple[int, ...]:
        """Cards in each column of a seat's row, left to right."""
        counts = unpack(self._heights[seat])
        return tuple(counts[GUILDS.index(guild)] for guild in self.rows[seat])

    def unseen(self) -> tuple[int, ...]:
        """Cards of each guild that still lie face down, one count per guild."""
        return unpack(self._sums[CARDS] - self._sums[self._drawn])

    def legal_moves(self) -> tuple[Move, ...]:
        """The legal moves in canonical order; empty only when the game is over."""
        if self.over:
            return ()
        return legal_for(self._market, self._own(self.seat))

    def parse(self, text: str) -> Move:
        """The legal move that the text means here, in its canonical form.

        Raises NotationError for text that is no move and IllegalMove for one that is not legal here.
        """
        move = Move.parse(text)
        if move.take == SINGLES_TAKE:
            singles = [GUILDS[guild] for guild, count in enumerate(self.market) if count == 1]
            if len(singles) == 1:
                move = (
                    Move.parse(singles[0] + move.notation[1:])
                    if move.left + move.right in ("", *singles)
                    else move
                )
        if move not in self.legal_moves():
            raise IllegalMove(f"illegal move {text!r}; legal here: {' '.join(map(str, self.legal_moves()))}")
        return move

    def play(self, move: Move) -> None:
        """Play one of `legal_moves()`; raises IllegalMove for any other and changes nothing then."""
        if move not in self.legal_moves():
            raise IllegalMove(f"illegal move {move.notation!r} at turn {self.turn}")
        seat = self.seat
        taken = self._taken(move)
        self._market -= taken
        self._heights[seat] += taken
        if move.new_mask:
            self.rows[seat] = move.left[::-1] + self.rows[seat] + move.right
        if self.refill == "end":
            self._fill()
        self.turn += 1
        self.seat = self.turn % self.players
        if self.festival_turn >= 0 and self.seat == 0:
            self.over = True
        elif self.refill == "start":
            self._fill()

    def scores(self) -> tuple[int, ...]:
        """Points of each seat if the game were scored now (rules.md, Scoring)."""
        ring = [height for seat in range(self.players) for height in reversed(self.heights(seat))]
        scores = []
        at = 0
        for row in self.rows:
            total = 0
            for place in range(at, at + len(row)):
                height = ring[place]
                if height >= ring[place - 1] and height >= ring[(place + 1) % len(ring)]:
                    total += height
            at += len(row)
            scores.append(total)
        return tuple(scores)

    def _own(self, seat: int) -> int:
        return sum(1 << GUILDS.index(guild) for guild in self.rows[seat])

    def _taken(self, move: Move) -> int:
        if move.take == PASS_TAKE:
            return 0
        if move.take == SINGLES_TAKE:
            return sum(one for one, count in zip(_ONE, self.market, strict=True) if count == 1)
        guild = GUILDS.index(move.take)
        return self._market & (_FULL << (_BITS * guild))

    def _fill(self) -> None:
        drawn = min(self._drawn + MARKET_SIZE - sum(self.market), CARDS)
        self._market += self._sums[drawn] - self._sums[self._drawn]
        self._drawn = drawn
        if drawn > FIREFLY_INDEX and self.festival_turn < 0:
            self.festival_turn = self.turn
