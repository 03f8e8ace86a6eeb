"""Information-set Monte Carlo tree search: one tree of moves, grown over many ways to deal the unseen cards.

Each iteration deals the unseen cards anew, walks down the tree by moves that did well so far or were seldom
tried, adds a move to it, and judges the position there by a rule of thumb (`outlook`): games played on at random
would need far more iterations to say as much. A move may be legal in one deal and not in the next, so what counts
is how often it was tried of the times that it could have been. This is SO-ISMCTS of Cowling, Powley and
Whitehouse, "Information Set Monte Carlo Tree Search" (2012), with each seat playing for its own margin.
"""

import random
import time
from math import exp, log, sqrt

import treelings

CARDS_A_TURN = 1.8
"""How many cards a turn takes from the market, roughly."""
CURIOSITY = 0.3
"""Weight of the search for better moves; the usual 0.7 is for results of whole games, which luck blurs far more."""
DECISIVE = 6.0
"""Points ahead in the outlook that make the game three quarters won."""

# How columns fare from a position on, fitted to the ends of 2,500 games of `neighbour` against itself.
SUPPLY = 0.36
"""Cards that a column gains of each unseen card of its guild that will come up."""
MARKET = 0.64
"""Cards that a column gains of each card of its guild in the market, if no other seat has such a column."""
HEAD_START = 0.7
"""Cards by which a column may be behind another and still as likely as not score: equals do score."""
SPREAD_LAST = 0.4
"""Cards of lead that make it three quarters sure to overtop a column when the firefly is out ..."""
SPREAD = 0.03
"""... and how many more of them for each card above the firefly."""


class Node:
    """What is known of a move: who plays it, how often it was tried, of how many chances, and how it went."""

    __slots__ = ("chances", "replies", "seat", "total", "visits")

    def __init__(self, seat: int) -> None:
        self.seat = seat
        self.visits = 0
        self.chances = 0
        self.total = 0.0  # of values from 0, lost, to 1, won, as its seat sees them
        self.replies: dict[treelings.Move, Node] = {}

    def promise(self) -> float:
        """The upper confidence bound that the walk down the tree goes by."""
        return self.total / self.visits + CURIOSITY * sqrt(log(self.chances) / self.visits)


class MctsBot(treelings.Bot):
    """Grows its tree until it has seen enough, or until its share of the time is up; plays the most tried move."""

    most_iterations = 1000
    """About 30 ms where nothing else runs."""
    now = staticmethod(time.monotonic)

    def start(self, game: treelings.GameStart) -> None:
        # Seeded with the game's name, the bot plays the same game again unless it runs out of time.
        self._rng = random.Random(f"{game.game}/{game.seat}")
        self._increment_ms = game.clock.increment_ms

    def choose(self, view: treelings.View) -> treelings.Move:
        if len(view.legal_moves) == 1:
            return view.legal_moves[0]
        stop = self.now() + self.budget_ms(view) / 1000
        root = Node(view.seat)
        while root.visits < self.most_iterations and self.now() < stop:
            self.grow(root, view.sample(self._rng))
        return max(view.legal_moves, key=lambda move: root.replies[move].visits if move in root.replies else 0)

    def grow(self, root: Node, state: treelings.State) -> None:
        """One iteration: walks down the tree on this deal, adds a move, and tells every move on the way."""
        path = [root]
        while not state.over and (path[-1].visits or len(path) == 1):
            path.append(self.step(path[-1], state))
        values = worth(state)
        for node in path:
            node.visits += 1
            node.total += values[node.seat]

    def step(self, node: Node, state: treelings.State) -> Node:
        """Play the reply that promises most; one that was never tried goes before all others."""
        untried = []
        tried = {}
        for move in state.legal_moves():
            reply = node.replies.get(move)
            if reply is None:
                untried.append(move)
            else:
                reply.chances += 1
                tried[move] = reply
        if untried:
            move = self._rng.choice(untried)
            reply = node.replies[move] = Node(state.seat)
            reply.chances = 1
        else:
            move, reply = max(tried.items(), key=lambda item: item[1].promise())
        state.play(move)
        return reply

    def budget_ms(self, view: treelings.View) -> float:
        """A fair share of the bank for each turn to come, and never more than half of this move's limit."""
        turns = 2 + view.above_firefly / CARDS_A_TURN / view.players
        share = view.bank_ms / turns + self._increment_ms / 2
        return min(view.limit_ms / 2, share)


def worth(state: treelings.State) -> list[float]:
    """How good the position is for each seat: from 0, lost, to 1, won."""
    points = state.scores() if state.over else outlook(state)
    total = sum(points)
    margins = [own - (total - own) / (state.players - 1) for own in points]
    return [1 / (1 + exp(-margin / DECISIVE)) for margin in margins]


def outlook(state: treelings.State) -> list[float]:
    """Points that each seat may hope for: its columns, as tall as they may grow, times the chance that they score.

    A column lives on the unseen cards of its guild and on the market. It scores if it overtops both columns
    beside it, and the more cards are still to come, the less a lead says about that.
    """
    rows = state.rows
    coming = state.above_firefly / max(1, state.pile)
    growth = {
        guild: coming and SUPPLY * coming * unseen + MARKET * market / max(1, sum(guild in row for row in rows))
        for guild, unseen, market in zip(treelings.GUILDS, state.unseen(), state.market, strict=True)
    }
    owners = []
    ring = []  # the next seat sits on the left, so a walk round the table meets each row from right to left
    for seat, row in enumerate(rows):
        owners += [seat] * len(row)
        ring += [height + growth[guild] for guild, height in zip(row[::-1], state.heights(seat)[::-1], strict=True)]
    sharpness = 1 / (SPREAD_LAST + SPREAD * state.above_firefly)
    hopes = [0.0] * state.players
    for seat, before, tall, after in zip(owners, [ring[-1], *ring], ring, [*ring[1:], ring[0]], strict=False):
        doubt = 1 + exp((before - tall - HEAD_START) * sharpness)
        doubt *= 1 + exp((after - tall - HEAD_START) * sharpness)
        hopes[seat] += tall / doubt
    return hopes


if __name__ == "__main__":
    treelings.serve(MctsBot)
