"""The rules a second time, slow and plain: lists of cards, no tricks, nothing imported from the kit.

Written from rules.md alone, sentence by sentence, for the tests to hold the fast core against.
"""

from itertools import permutations

ORDER = "ROYGBP"


class NaiveGame:
    """One game on the table.

    pile     cards face down from the top, the firefly "!" among them
    market   cards face up
    rows     per seat: columns from left to right, each a list of equal cards
    turn     turns played
    firefly  turn during which the firefly showed up, or None
    over     no more turns
    """

    def __init__(self, deck: str, players: int, refill: str) -> None:
        self.players = players
        self.refill = refill
        self.pile = list(deck)
        self.market: list[str] = []
        self.rows: list[list[list[str]]] = []
        self.turn = 0
        self.firefly: int | None = None
        self.over = False
        for _ in range(players):
            row: list[list[str]] = []
            for _ in range(3):
                self._grow(row, self.pile.pop(0), at_left=False)
            self.rows.append(row)
        for _ in range(5):
            self.market.append(self.pile.pop(0))

    @property
    def seat(self) -> int:
        return self.turn % self.players

    def singles(self) -> list[str]:
        return [guild for guild in ORDER if self.market.count(guild) == 1]

    def legal(self) -> list[str]:
        """Every legal move in canonical notation; the first one is the one that a referee would play."""
        if self.over:
            return []
        if not self.market:
            return ["-"]
        takes = [(guild, [guild]) for guild in ORDER if guild in self.market]
        if len(self.singles()) >= 2:
            takes.append(("*", self.singles()))
        have = [column[0] for column in self.rows[self.seat]]
        moves = []
        for take, guilds in takes:
            new = [guild for guild in guilds if guild not in have]
            for order in permutations(new):
                for cut in range(len(order) + 1):
                    left, right = "".join(order[:cut]), "".join(order[cut:])
                    moves.append(take + ("<" + left if left else "") + (">" + right if right else ""))
        return moves

    def play(self, move: str) -> None:
        seat = self.seat
        row = self.rows[seat]
        if move != "-":
            take, left, right = _split(move)
            guilds = self.singles() if take == "*" else [take]
            brought = [card for card in self.market if card in guilds]
            self.market = [card for card in self.market if card not in guilds]
            for guild in left:
                self._place(row, guild, brought, at_left=True)
            for guild in right:
                self._place(row, guild, brought, at_left=False)
            for card in brought:
                self._grow(row, card, at_left=False)
        if self.refill == "end":
            self._fill_market()
        self.turn += 1
        if self.firefly is not None and self.turn % self.players == 0:
            self.over = True
        elif self.refill == "start":
            self._fill_market()

    def scores(self) -> list[int]:
        """A column scores its height if neither neighbour in the ring is higher."""
        # To the left of a seat's row stands the row of the next seat, and so on round the table.
        ring = [(seat, len(column)) for seat in reversed(range(self.players)) for column in self.rows[seat]]
        points = [0] * self.players
        for i, (seat, height) in enumerate(ring):
            to_the_left = ring[i - 1][1]
            to_the_right = ring[(i + 1) % len(ring)][1]
            if not (to_the_left > height or to_the_right > height):
                points[seat] += height
        return points

    def _fill_market(self) -> None:
        while len(self.market) < 5 and self.pile:
            card = self.pile.pop(0)
            if card == "!":
                self.firefly = self.turn
            else:
                self.market.append(card)

    def _place(self, row: list[list[str]], guild: str, brought: list[str], *, at_left: bool) -> None:
        while guild in brought:
            brought.remove(guild)
            self._grow(row, guild, at_left=at_left)

    def _grow(self, row: list[list[str]], card: str, *, at_left: bool) -> None:
        for column in row:
            if column[0] == card:
                column.append(card)
                return
        row.insert(0 if at_left else len(row), [card])


def _split(move: str) -> tuple[str, str, str]:
    take, rest = move[0], move[1:]
    left, _, right = rest.partition(">")
    return take, left.removeprefix("<"), right
