"""The game itself: one compact, copyable state (rules.md, Set-up; A turn; Scoring).

Cards are never objects: hands, rows and the market are packed counts (offers.py). The cards face down are kept
as sums from the bottom of the pile, so drawing any number of them is one subtraction. Written to be compiled by
mypyc as well as to run as it is (compiling.py): names with an underscore may be native integers, public ones are
Python's.
"""

from collections.abc import Iterable
from itertools import accumulate
from typing import Final, Protocol, final

from treelings.cards import (
    CARDS,
    CARDS_PER_GUILD,
    FIREFLY,
    FIREFLY_INDEX,
    GUILDS,
    HAND_SIZE,
    MARKET_SIZE,
    MAX_PLAYERS,
    MIN_PLAYERS,
    check_deck,
)
from treelings.cards import Refill as Refill
from treelings.errors import DeckError, IllegalMove
from treelings.moves import PASS, SINGLES_TAKE, Move, quoted
from treelings.native import i64
from treelings.offers import (
    BITS,
    FULL,
    OFFERS,
    ONE,
    SLOTS,
    UNKNOWN,
    Offer,
    cards_in,
    mask,
    offer_of,
    pack,
    shifts,
    unpack,
)

REFILLS: Final[tuple[Refill, ...]] = ("start", "end")

BELOW_FIREFLY: Final = 20
"""Cards that lie below the firefly: it has shown up once fewer cards than these are face down."""

_MOVES_SHOWN: Final = 8

_ALL_CARDS: Final = pack([CARDS_PER_GUILD] * len(GUILDS))
"""No other 108 cards have this sum: a guild in excess would have to be made up for by fewer cards than it has."""

_ONES: Final = frozenset(ONE)

_NO_GUILD: Final = BITS * len(GUILDS)
_SHIFTS: Final = bytes(BITS * GUILDS.index(chr(c)) if chr(c) in GUILDS else _NO_GUILD for c in range(256))
"""By byte: where a guild's count stands in a packed integer; behind all guilds for what is none."""


class Rng(Protocol):
    """The randomness that `View.sample` and `State.playout` ask for; a `random.Random` is one."""

    def random(self) -> float:
        """A number from 0 up to, but not including, 1."""


@final
class State:
    """One position of one game, everything included; what the referee holds and a forward model plays on.

    players        2 to 5
    refill         "start" or "end" (rules.md, Two sources, two refills)
    turn           turns played so far, all seats together
    seat           whose turn it is, from 0
    rows           per seat: guilds of its columns from left to right, e.g. "PRG"
    festival_turn  index of the turn during which the firefly showed up, or -1
    over           no more turns

    Get one from `deal`, or from `View.sample`. Read these fields, change them only through `play` and
    `playout`.

    Costs are told in microseconds of CPython 3.11 on one core of the machine that this was made on, for the source
    as it is; their ratios hold elsewhere too. Compiled, `legal_moves` and `play` take a fifth of it and `playout` a
    third, most of which are the numbers that it draws. A game has 40 turns or so, whatever the number of players.
    """

    __slots__ = (
        "_heights", "_left", "_offer", "_own", "_sums", "festival_turn", "over", "players", "refill",
        "rows", "seat", "turn",
    )  # fmt: skip

    players: int
    refill: Refill
    turn: int
    seat: int
    rows: list[str]
    festival_turn: int
    over: bool
    _heights: list[i64]  # per seat: its cards, packed
    _own: list[i64]  # per seat: mask of its guilds
    _offer: Offer  # what the market offers
    _sums: list[i64]  # the lowest k cards of the pile, packed, for every k; shared by copies, never changed
    _left: i64  # cards face down: the lowest so many of the pile

    @staticmethod
    def deal(deck: str, players: int, refill: Refill = "start") -> "State":
        """Set up a game from a deck of 109 characters (rules.md, Set-up). Raises DeckError."""
        sums = _sums_of(deck.replace(FIREFLY, "")[::-1])
        if len(deck) != CARDS + 1 or deck[FIREFLY_INDEX] != FIREFLY or sums[-1] != _ALL_CARDS:
            check_deck(deck)  # which says what is wrong
        if not MIN_PLAYERS <= players <= MAX_PLAYERS:
            raise DeckError(f"players: expected {MIN_PLAYERS} to {MAX_PLAYERS}, got {players}")
        if refill not in REFILLS:
            raise DeckError(f"refill: expected 'start' or 'end', got {quoted(refill)}")
        left = CARDS
        rows: list[str] = []
        heights: list[int] = []
        for at in range(0, players * HAND_SIZE, HAND_SIZE):
            rows.append("".join(dict.fromkeys(deck[at : at + HAND_SIZE])))
            heights.append(sums[left] - sums[left - HAND_SIZE])
            left -= HAND_SIZE
        offer = offer_of(sums[left] - sums[left - MARKET_SIZE])
        return _state(rows, heights, offer, sums, left - MARKET_SIZE, 0, refill)

    @staticmethod
    def resume(
        rows: list[str], heights: list[int], market: int, pile: Iterable[int], turn: int, refill: Refill
    ) -> "State":
        """A position of a game, the last one included, from its parts.

        rows, heights    per seat, the latter packed; the state keeps these very lists and will change them
        market           packed
        pile             each card face down as one of ONE, from the bottom up, without the firefly: whether
                         it is out follows from their number, and `festival_turn` is then the first turn of
                         the round, because the exact one makes no difference any more

        Raises DeckError for parts that no game comes to: cards that are not the 108, a seat with more or fewer of
        them than its turns can have brought, a market that would have been filled up, a round that would be over.
        """
        offer = offer_of(market)
        cards = list(pile)
        if not _ONES.issuperset(cards):
            raise DeckError("pile: expected each card as one of treelings.offers.ONE, got another number")
        sums = list(accumulate(cards, initial=0))
        over = _over(rows, heights, offer, sums, turn, refill)
        state = _state(rows, heights, offer, sums, len(cards), turn, refill)
        if over:
            state.over = True
            state.festival_turn = turn - state.players
        return state

    def copy(self) -> "State":
        """An independent copy; the pile is shared because nothing ever changes it. Cost: 0.4 us."""
        twin = State.__new__(State)
        twin.players = self.players
        twin.refill = self.refill
        twin.turn = self.turn
        twin.seat = self.seat
        twin.rows = self.rows[:]
        twin.festival_turn = self.festival_turn
        twin.over = self.over
        twin._heights = self._heights[:]
        twin._own = self._own[:]
        twin._offer = self._offer
        twin._sums = self._sums
        twin._left = self._left
        return twin

    def __reduce__(self) -> tuple[object, ...]:
        # For pickle, copy and deepcopy: what is compiled has no slots that they could find by themselves.
        return _revived, (
            self.rows[:], self._heights[:], int(self._offer.market), self._sums, int(self._left), self.turn,
            self.refill, self.festival_turn, self.over,
        )  # fmt: skip

    @property
    def market(self) -> tuple[int, ...]:
        """Cards in the market: six counts in the order of GUILDS."""
        return self._offer.counts

    @property
    def pile(self) -> int:
        """Guild cards that still lie face down."""
        return self._left

    @property
    def firefly_out(self) -> bool:
        """The firefly has shown up."""
        return self.festival_turn >= 0

    @property
    def above_firefly(self) -> int:
        """Cards of the pile that lie above the firefly; 0 once it is out."""
        return max(0, self._left - BELOW_FIREFLY)

    def heights(self, seat: int) -> tuple[int, ...]:
        """Cards in each column of a seat's row, left to right, as `rows[seat]` names them."""
        cards = self._heights[seat]
        return tuple([cards >> shift & FULL for shift in shifts(self.rows[seat])])

    def unseen(self) -> tuple[int, ...]:
        """Cards that still lie face down: six counts in the order of GUILDS."""
        return unpack(self._sums[self._left])

    def legal_moves(self) -> tuple[Move, ...]:
        """The legal moves of `seat`, in canonical order; empty only when the game is over. (rules.md, A turn)

        Mostly fewer than ten of them, 730 at most. Cost: 0.1 us.
        """
        if self.over:
            return ()
        return self._offer.choice(self._own[self.seat]).moves

    def parse(self, text: str) -> Move:
        """The legal move that the text means here, in its canonical form: the one way from text to a move.

        Raises NotationError for text that is no move and IllegalMove for one that is not legal here; either
        message is bounded, whatever the text.
        """
        move = Move.parse(text)
        if move.take == SINGLES_TAKE and self.market.count(1) == 1:
            single = GUILDS[self.market.index(1)]
            if move.left + move.right in ("", single):
                move = Move.parse(single + text[1:])
        if not self._legal(move):
            raise self._illegal(move, text)
        return move

    def play(self, move: Move) -> None:
        """Play one of `legal_moves()`; raises IllegalMove for any other and changes nothing then.

        The next seat is on turn then, unless the game is over. Cost: 0.5 us. (rules.md, A turn)
        """
        seat = self.seat
        own: i64 = self._own[seat]
        take = self._offer.takes[move.take_index]
        if self.over or take.mask & ~own != move.new_mask:
            raise self._illegal(move, move.notation)
        heights = self._heights
        tall: i64 = heights[seat]
        heights[seat] = tall + take.cards
        if move.new_mask:
            self.rows[seat] = move.left_end + self.rows[seat] + move.right
            self._own[seat] = own | move.new_mask
        turn = self.turn
        self.turn = turn + 1
        seat += 1
        if seat == self.players:
            seat = 0
        self.seat = seat
        market = self._offer.market - take.cards
        at_end = self.refill == "end"
        if seat == 0 and self.festival_turn >= 0 and not at_end:
            self._offer = OFFERS[market % SLOTS]
            self.over = True
            return
        left = self._left - take.short
        if left < 0:
            left = 0
        self._offer = OFFERS[(market + self._sums[self._left] - self._sums[left]) % SLOTS]
        self._left = left
        if left < BELOW_FIREFLY:
            if self.festival_turn < 0:
                self.festival_turn = turn if at_end else turn + 1
            self.over = at_end and seat == 0

    def playout(self, rng: Rng) -> None:
        """Play this state itself to the end of the game, each move uniform among the legal ones.

        The moves are those of `legal_moves`, drawn as `moves[int(rng.random() * len(moves))]`, one number a
        turn: the same as choosing so and calling `play`, several times faster. Nothing if the game is over.
        Cost: 0.5 us a turn that is played, so 20 us for a whole game of two and 30 us for one of five.
        """
        random = rng.random
        # While the firefly is in the pile no game ends and no pile runs out: nothing else need be looked at.
        if self._left >= BELOW_FIREFLY:
            rows, own, heights, sums = self.rows, self._own, self._heights, self._sums
            turn: i64 = self.turn
            seat: i64 = self.seat
            players: i64 = self.players
            left = self._left
            offer = self._offer
            unplaced = offer.market + sums[left]
            while left >= BELOW_FIREFLY:
                guilds: i64 = own[seat]
                choice = offer.choices[guilds]
                if choice is UNKNOWN:
                    choice = offer.choice(guilds)
                move = choice.moves[int(random() * choice.count)]
                if move.new_mask:
                    rows[seat] = move.left_end + rows[seat] + move.right
                    own[seat] = guilds | move.new_mask
                take = offer.takes[move.take_index]
                tall: i64 = heights[seat]
                heights[seat] = tall + take.cards
                unplaced -= take.cards
                left -= take.short
                offer = OFFERS[(unplaced - sums[left]) % SLOTS]
                turn += 1
                seat += 1
                if seat == players:
                    seat = 0
            self._offer, self._left, self.turn, self.seat = offer, left, turn, seat
            self.festival_turn = turn if self.refill == "start" else turn - 1
            self.over = seat == 0 and self.refill == "end"
        while not self.over:
            choice = self._offer.choice(self._own[self.seat])
            self.play(choice.moves[int(random() * choice.count)])

    def scores(self) -> tuple[int, ...]:
        """Points of each seat if the game were scored now (rules.md, Scoring).

        Cost: 2 us at two seats to 5 us at five.
        """
        ring: list[int] = []  # from seat 0's rightmost column on: the next seat sits on the left
        ends = []
        for row, cards in zip(self.rows, self._heights, strict=True):
            ring += [cards >> shift & FULL for shift in reversed(shifts(row))]
            ends.append(len(ring))
        ring.append(ring[0])
        scores = []
        at = 0
        before = ring[-2]
        height = ring[0]
        for end in ends:
            score = 0
            while at < end:
                at += 1
                after = ring[at]
                if before <= height >= after:
                    score += height
                before = height
                height = after
            scores.append(score)
        return tuple(scores)

    def scoring(self) -> tuple[tuple[bool, ...], ...]:
        """Per seat and column, left to right: whether the column would score now (rules.md, Scoring).

        Cost: 4 us at two seats to 10 us at five; to compare positions, take `scores`.
        """
        ring = [height for seat in range(self.players) for height in reversed(self.heights(seat))]
        tall = [ring[i - 1] <= height >= ring[(i + 1) % len(ring)] for i, height in enumerate(ring)]
        ends = list(accumulate(map(len, self.rows)))
        return tuple(tuple(tall[end - len(row) : end][::-1]) for end, row in zip(ends, self.rows, strict=True))

    def margin(self, seat: int) -> float:
        """Points of a seat minus the mean of the others', if the game were scored now (records.md, Points).

        Cost: that of `scores`.
        """
        scores = self.scores()
        own = scores[seat]
        return own - (sum(scores) - own) / (self.players - 1)

    def _legal(self, move: Move) -> bool:
        # Every guild of the take that the seat lacks is placed, no other: Move.parse saw to "exactly once".
        new = self._offer.takes[move.take_index].mask & ~self._own[self.seat]
        return new == move.new_mask and not self.over

    def _illegal(self, move: Move, text: str) -> IllegalMove:
        """What is wrong with a move that is not legal here, in words for its author, who wrote `text`."""
        where = f"illegal move {text!r} for seat {self.seat} at turn {self.turn}"
        if self.over:
            return IllegalMove(f"{where}: the game is over")
        taken = self._offer.takes[move.take_index].mask
        if taken != -1:
            lacking = taken & ~self._own[self.seat]
            new = "".join(letter for guild, letter in enumerate(GUILDS) if lacking >> guild & 1)
            placed = move.left + move.right
            reason = f"expected the new guilds ({new or 'none'}) behind < or >, got {placed or 'none'}"
        elif move is PASS:
            reason = "passing is legal only before an empty market"
        elif move.take == SINGLES_TAKE:
            reason = "no guild lies in the market exactly once"
            if 1 in self.market:
                reason = f"* takes {GUILDS[self.market.index(1)]} alone here"
        else:
            reason = f"no {move.take} in the market"
        legal = self.legal_moves()
        more = f" and {len(legal) - _MOVES_SHOWN} more" if len(legal) > _MOVES_SHOWN else ""
        return IllegalMove(f"{where}: {reason}; legal: {' '.join(map(str, legal[:_MOVES_SHOWN]))}{more}")


def resumed(rows: list[str], heights: list[int], market: int, pile: Iterable[int], turn: int, refill: Refill) -> State:
    """As `State.resume` has it, of parts that come from a position in mid-game: only the market is looked at."""
    sums = list(accumulate(pile, initial=0))
    return _state(rows, heights, offer_of(market), sums, len(sums) - 1, turn, refill)


def _state(
    rows: list[str], heights: list[int], offer: Offer, sums: list[int], left: int, turn: int, refill: Refill
) -> State:
    state = State.__new__(State)
    state.players = len(rows)
    state.refill = refill
    state.turn = turn
    state.seat = turn % len(rows)
    state.rows = rows
    state.over = False
    state._heights = heights
    state._own = [mask(row) for row in rows]
    state._offer = offer
    state._sums = sums
    state._left = left
    state.festival_turn = -1 if left >= BELOW_FIREFLY else turn - state.seat
    return state


def _over(rows: list[str], heights: list[int], offer: Offer, sums: list[int], turn: int, refill: Refill) -> bool:
    """Whether the game of a position with these parts is over. Raises DeckError if they are none of any game's."""
    players = len(rows)
    if not MIN_PLAYERS <= players <= MAX_PLAYERS or len(heights) != players:
        wanted = f"{MIN_PLAYERS} to {MAX_PLAYERS}"
        raise DeckError(f"players: expected {wanted} rows and as many heights, got {players} and {len(heights)}")
    if refill not in REFILLS:
        raise DeckError(f"refill: expected 'start' or 'end', got {quoted(refill)}")
    if turn < 0:
        raise DeckError(f"turn: expected 0 or more, got {turn}")
    left = len(sums) - 1
    lying = sum(offer.counts)
    together = left + lying
    # While cards lie face down nobody passes; after that the round has room for one pass of each seat.
    passes = 0 if left else 1
    for seat in range(players):
        cards = cards_in(rows[seat], heights[seat])
        together += cards
        turns = (turn - seat + players - 1) // players
        fewest, most = HAND_SIZE + max(0, turns - passes), HAND_SIZE + turns * MARKET_SIZE
        if not fewest <= cards <= most:
            raise DeckError(
                f"seat {seat}: expected {fewest} to {most} cards after {turns} turns of its own, got {cards}"
            )
    if together != CARDS or sums[left] + int(offer.market) + sum(heights) != _ALL_CARDS:
        raise DeckError(
            f"cards: expected {CARDS_PER_GUILD} of each guild in rows, market and pile, {CARDS} in all, got {together}"
            + (" with too many of one guild" if together == CARDS else "")
        )
    seat = turn % players
    out = left < BELOW_FIREFLY
    full = lying == MARKET_SIZE
    refills = seat if refill == "end" else seat + 1  # in this round, up to now
    over = out and seat == 0 and (refill == "end" or not full or left < BELOW_FIREFLY - MARKET_SIZE)
    if over:
        refills = players
    if full if over and refill == "start" else left > 0 and not full:
        wanted = "fewer than " if full else ""
        raise DeckError(
            f"market: expected {wanted}{MARKET_SIZE} cards with {left} face down at turn {turn}, got {lying}"
        )
    if out and left < BELOW_FIREFLY - refills * MARKET_SIZE:
        raise DeckError(
            f"pile: expected {BELOW_FIREFLY - refills * MARKET_SIZE} cards at least at turn {turn}, as the firefly has "
            f"shown up in this round, got {left}"
        )
    return over


def _sums_of(cards: str) -> list[int]:
    """The first k of these cards, packed, for every k."""
    total: i64 = 0
    sums = [0]
    for number in cards.encode().translate(_SHIFTS):
        shift: i64 = number
        total += 1 << shift
        sums.append(total)
    return sums


def _revived(
    rows: list[str], heights: list[int], market: int, sums: list[int], left: int, turn: int, refill: Refill,
    festival_turn: int, over: bool,  # noqa: FBT001  # __reduce__ hands it over
) -> State:  # fmt: skip
    state = _state(rows, heights, offer_of(market), sums, left, turn, refill)
    state.festival_turn = festival_turn
    state.over = over
    return state
