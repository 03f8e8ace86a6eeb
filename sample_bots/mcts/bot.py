"""Information-set Monte Carlo tree search: one tree of moves, grown over many ways to deal the unseen cards.

Each iteration takes a deal of the unseen cards, walks down the tree by moves that did well so far or were seldom
tried, adds a move to it, and judges the position there by a rule of thumb (`outlook`): games played on at random
are blurred by luck and need far more iterations. A move may be legal in one deal and not in the next, so what
counts is how often it was tried of the times that it could have been. This is SO-ISMCTS of Cowling, Powley and
Whitehouse, "Information Set Monte Carlo Tree Search" (2012), with each seat playing for its own margin.
"""

import random
import time
from math import exp, log, sqrt

import treelings

CARDS_A_TURN = 1.8
"""How many cards a turn takes from the market, roughly."""
ITERATIONS_A_DEAL = 3
"""A new deal costs as much as half an iteration, and three times as many deals would teach little more."""
CURIOSITY = 0.3
"""Weight of the search for better moves; the usual 0.7 is for results of whole games, which luck blurs far more."""
DECISIVE = 6.0
"""Points ahead in the outlook that make the game nearly three quarters won."""

# How columns fare from a position on: fitted to the scores of some thousands of games at tables of 2 to 4 seats.
SUPPLY = 1.95
"""Of the unseen cards of its guild that will come up, a column gains this many times its seat's equal share."""
MARKET = 0.65
"""Of the cards of its guild in the market a column gains this part if its seat is on turn ..."""
MARKET_LATER = 0.2
"""... and this part if not."""
HEAD_START = 0.8
"""A column that is so many cards behind the one beside it still holds its own every second time."""
SPREAD = 0.6
"""With so many cards more it does so in nearly three of four games, beside a column of another seat; ..."""
SPREAD_OWN = 0.5
"""... beside one of its own seat with so many when the firefly is out ..."""
SPREAD_OWN_EARLY = 0.035
"""... and so many more for each card above it: a seat is yet to choose which of its columns it grows."""


class Node:
    """What is known of a move: who plays it, how often it was tried, of how many chances, and how it went."""

    __slots__ = ("chances", "replies", "seat", "total", "visits")

    def __init__(self, seat: int) -> None:
        self.seat = seat
        self.visits = 0
        self.chances = 1
        self.total = 0.0  # of values from 0, lost, to 1, won, as its seat sees them
        self.replies: dict[treelings.Move, Node] = {}

    def promise(self) -> float:
        """The upper confidence bound that the walk down the tree goes by."""
        return self.total / self.visits + CURIOSITY * sqrt(log(self.chances) / self.visits)

    def margin(self) -> float:
        """The lead in points that is worth as much as this move was on the mean."""
        return DECISIVE * log(self.total / (self.visits - self.total))


class MctsBot(treelings.Bot):
    """Grows its tree until it has seen enough, or until its share of the time is up; plays the most tried move."""

    most_iterations = 450
    """These take about as long as the 800 random games of `rollout`."""
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
            if root.visits % ITERATIONS_A_DEAL == 0:
                deal = view.sample(self._rng)
            self.grow(root, deal.copy())
        if not root.replies:  # there was no time at all
            return view.legal_moves[0]
        move, node = max(root.replies.items(), key=lambda item: item[1].visits)
        self.say(f"worth a lead of {node.margin():+.1f} points; {node.visits} of {root.visits} tries")
        return move

    def grow(self, root: Node, state: treelings.State) -> None:
        """One iteration: walks down the tree on this deal, adds a move, and tells every move on the way."""
        path = [root]
        while not state.over and (path[-1].visits or path[-1] is root):
            path.append(self.step(path[-1], state))
        values = worth(state)
        for node in path:
            node.visits += 1
            node.total += values[node.seat]

    def step(self, node: Node, state: treelings.State) -> Node:
        """Plays the reply that promises most; one that was never tried goes before all others."""
        legal = state.legal_moves()
        replies = node.replies
        untried = [move for move in legal if move not in replies]
        for move in legal:
            if move in replies:
                replies[move].chances += 1
        if untried:
            move = self._rng.choice(untried)
            replies[move] = Node(state.seat)
        else:
            move = max(legal, key=lambda move: replies[move].promise())
        state.play(move)
        return replies[move]

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
    """Points that each seat may hope for: the heights of its columns, each times the chance that it will score.

    It scores if it holds its own against both columns beside it, at their heights once what comes is shared out.
    """
    share = SUPPLY / state.players * state.above_firefly / max(1, state.pile)
    growth = dict(zip(treelings.GUILDS, [share * unseen for unseen in state.unseen()], strict=True))
    market = dict(zip(treelings.GUILDS, state.market, strict=True))
    owners: list[int] = []  # of the columns in the ring: the next seat sits on the left, so rows run right to left
    heights: list[float] = []
    ring: list[float] = []
    for seat, row in enumerate(state.rows):
        taken = MARKET if seat == state.seat else MARKET_LATER
        for guild, cards in zip(reversed(row), reversed(state.heights(seat)), strict=True):
            height = cards + taken * market[guild]
            owners.append(seat)
            heights.append(height)
            ring.append(height + growth[guild])
    spread_own = SPREAD_OWN + SPREAD_OWN_EARLY * state.above_firefly
    hopes = [0.0] * state.players
    chances = [1.0] * len(ring)
    for at, tall in enumerate(ring):  # at 0 the column before is the last one: the ring closes
        spread = spread_own if owners[at] == owners[at - 1] else SPREAD
        lead = tall - ring[at - 1]
        chances[at] /= 1 + exp((-lead - HEAD_START) / spread)
        chances[at - 1] /= 1 + exp((lead - HEAD_START) / spread)
    for seat, height, chance in zip(owners, heights, chances, strict=True):
        hopes[seat] += height * chance
    return hopes


if __name__ == "__main__":
    treelings.serve(MctsBot)
