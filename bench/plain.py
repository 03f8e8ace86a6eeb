"""The rules a second time, as one would first write them: cards in lists, columns in a dict, all worked out when asked.

Written from rules.md alone, sentence by sentence, and nothing is imported from the kit: the tests hold the fast core
against this (tests/property/test_plain_rules.py), and the bench measures how much faster that one is (bench/core.py).
"""

from dataclasses import dataclass, field
from itertools import permutations

ORDER = "ROYGBP"
FIREFLY = "!"
HAND = 3
MARKET = 5


@dataclass
class PlainPlayer:
    """One player's cards: columns by guild, and the guilds of the row from left to right."""

    columns: dict[str, list[str]] = field(default_factory=dict)
    row: list[str] = field(default_factory=list)

    def add(self, card: str, *, at_left: bool = False) -> None:
        """Put a card on its column, or begin one at an end of the row."""
        if card not in self.columns:
            self.columns[card] = []
            self.row.insert(0 if at_left else len(self.row), card)
        self.columns[card].append(card)

    def heights(self) -> list[int]:
        """Cards in each column, left to right."""
        return [len(self.columns[guild]) for guild in self.row]


@dataclass
class PlainState:
    """One game on the table.

    players       in turn order
    refill        "start" or "end" (rules.md, Two sources, two refills)
    pile          cards face down, the top one last, the firefly "!" among them
    market        cards face up
    turn          turns played, all seats together
    firefly_turn  turn during which the firefly showed up, or None
    over          no more turns
    """

    players: list[PlainPlayer]
    refill: str
    pile: list[str]
    market: list[str] = field(default_factory=list)
    turn: int = 0
    firefly_turn: int | None = None
    over: bool = False

    @classmethod
    def deal(cls, deck: str, players: int, refill: str = "start") -> "PlainState":
        """Set up a game from a deck of 109 characters from the top down (rules.md, Set-up)."""
        state = cls([PlainPlayer() for _ in range(players)], refill, list(reversed(deck)))
        for player in state.players:
            for _ in range(HAND):
                player.add(state.pile.pop())
        for _ in range(MARKET):
            state.market.append(state.pile.pop())
        return state

    @property
    def seat(self) -> int:
        """Whose turn it is, from 0."""
        return self.turn % len(self.players)

    def singles(self) -> list[str]:
        """Guilds that lie in the market exactly once."""
        return [guild for guild in ORDER if self.market.count(guild) == 1]

    def legal_moves(self) -> list[str]:
        """Every legal move in canonical notation and order; empty when the game is over (rules.md, A turn)."""
        if self.over:
            return []
        if not self.market:
            return ["-"]
        takes = {guild: [guild] for guild in ORDER if guild in self.market}
        singles = self.singles()
        if len(singles) > 1:
            takes["*"] = singles
        player = self.players[self.seat]
        moves = []
        for take, guilds in takes.items():
            new = [guild for guild in guilds if guild not in player.columns]
            for cut in range(len(new) + 1):
                for order in permutations(new):
                    left, right = "".join(order[:cut]), "".join(order[cut:])
                    moves.append(take + ("<" + left if left else "") + (">" + right if right else ""))
        return moves

    def play(self, move: str) -> None:
        """Play one of the legal moves, in canonical notation; raises ValueError for any other."""
        player = self.players[self.seat]
        take, left, right = _read(move)
        singles = self.singles()
        guilds = {"*": singles, "-": []}.get(take, [take])
        new = [guild for guild in guilds if guild not in player.columns]
        if (
            self.over
            or (take == "-") != (not self.market)
            or (take == "*" and len(singles) < 2)
            or any(guild not in self.market for guild in guilds)
            or sorted(left + right) != sorted(new)
        ):
            raise ValueError(f"illegal move {move!r}; legal: {self.legal_moves()}")
        taken = [card for card in self.market if card in guilds]
        self.market = [card for card in self.market if card not in guilds]
        for guild in [*left, *right, *guilds]:
            while guild in taken:
                taken.remove(guild)
                player.add(guild, at_left=guild in left)
        if self.refill == "end":
            self._fill_market()
        self.turn += 1
        if self.firefly_turn is not None and self.seat == 0:
            self.over = True
        elif self.refill == "start":
            self._fill_market()

    def scores(self) -> list[int]:
        """Points of each seat if the game were scored now (rules.md, Scoring)."""
        # The next seat sits on the left, so that the ring, from left to right, has the seats in falling order.
        ring = [
            (seat, height) for seat in reversed(range(len(self.players))) for height in self.players[seat].heights()
        ]
        points = [0] * len(self.players)
        for i, (seat, height) in enumerate(ring):
            if height >= ring[i - 1][1] and height >= ring[(i + 1) % len(ring)][1]:
                points[seat] += height
        return points

    def _fill_market(self) -> None:
        while len(self.market) < MARKET and self.pile:
            card = self.pile.pop()
            if card == FIREFLY:
                self.firefly_turn = self.turn
            else:
                self.market.append(card)


def _read(move: str) -> tuple[str, str, str]:
    """What is taken, and the guilds placed to the left and to the right; raises ValueError if that cannot be read."""
    take, rest = move[:1], move[1:]
    left, _, right = rest.partition(">")
    if take not in [*ORDER, "*", "-"] or rest != left + (">" + right if right else "") or left[:1] not in ("", "<"):
        raise ValueError(f"not a move: {move!r}")
    return take, left[1:], right
