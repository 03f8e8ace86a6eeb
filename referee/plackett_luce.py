"""How able players are, by the orders in which they came in: Plackett and Luce's model with ties of any size.

A game is a row of choices. First the group that shares the best rank is chosen out of all players, then the next group
out of the rest, and so on. A group S is chosen in proportion to

    f(S) = delta of its size * (the product of its players' alphas) ** (1 / its size)

among all groups of the players that are left, of those sizes that have occurred in some game. Delta of one player is 1.
A last group of one is no choice, a tied last group is. theta is log alpha; where seats count, log alpha is theta plus
what the seat is worth at a table of that size. With two players this is Davidson's model, and without ties that of
Bradley and Terry.

The likelihood has one finite maximum if a chain of wins leads from every player to every other. If not, each player
gets half a win and half a loss against a phantom.

Sources: H. Turner, J. van Etten, D. Firth, I. Kosmidis, "Modelling rankings in R: the PlackettLuce package",
Computational Statistics 35 (2020); R. R. Davidson, "On extending the Bradley-Terry model to accommodate ties in paired
comparison experiments", JASA 65 (1970).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse.csgraph import connected_components

from referee.errors import RefereeError

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

_NOBODY: Final = -1
"""The phantom, or no seat: worth 0, and no parameter."""

_PHANTOM_WEIGHT: Final = 0.5
"""Of a win against the phantom, and of a loss."""

_FAR: Final = 1e3
_NEAR: Final = 1e-4
_LAST_STEPS: Final = 3
_SETTLED: Final = 1e-6


class Game(NamedTuple):
    """Who came in where.

    deal     counts from 0; the games of a deal are one sample
    players  who sat there, seat by seat; players count from 0
    ranks    of each seat: 1 is best, equal ranks are ties
    """

    deal: int
    players: tuple[int, ...]
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """The most likely values.

    theta      of each player; their mean is 0
    ties       log delta by size of a tie
    seats      what each seat is worth by size of the table, in theta; their sum is 0; empty if seats did not count
    connected  whether a chain of wins leads from every player to every other; if not, the phantom played
    """

    theta: Floats
    ties: Mapping[int, float]
    seats: Mapping[int, Floats]
    connected: bool
    _seat_at: Mapping[int, int]
    _by_choices: Floats
    _by_deals: Floats

    def errors(self) -> Floats:
        """Two standard errors of each theta, as the last axis: with deals as samples, and with choices.

        The first is the sandwich estimator's, times deals / (deals - 1), the second that of the inverse Hessian, which
        also stands in for the first where there is a single deal.
        """
        return self._errors(_less_mean(self.theta.size), 0)

    def difference_errors(self) -> Floats:
        """The same for each theta less each other; 0 for itself."""
        units = np.eye(self.theta.size)
        return self._errors(units[:, None] - units[None, :], 0)

    def seat_errors(self, size: int) -> Floats:
        """The same for what each seat of a table of this size is worth."""
        return self._errors(_less_mean(size), self._seat_at[size])

    def _errors(self, contrasts: Floats, begin: int) -> Floats:
        """Of weighted sums of some parameters; weights are along the last axis."""
        part = slice(begin, begin + contrasts.shape[-1])
        squares = [
            (contrasts @ covariance[part, part] * contrasts).sum(axis=-1)
            for covariance in (self._by_deals, self._by_choices)
        ]
        errors: Floats = np.sqrt(np.stack(squares, axis=-1).clip(0))
        return errors


def fit(games: Iterable[Game], players: int, *, seats: bool = False) -> Fit:
    """Fit all games at once; their order does not change a bit of it. `players` is how many there are, at least 1.

    With `seats`, each seat of each size of a table has a worth of its own. It gets half a win and half a loss against a
    seat of worth 0, which keeps it finite whatever the results, and weighs next to nothing after some deals.
    """
    orders = _by_order(games)
    sizes = sorted({len(ranks) for ranks, _, _ in orders}) if seats else []
    seat_at = {size: players + sum(smaller for smaller in sizes if smaller < size) for size in sizes}
    played = [stage for order in orders for stage in _stages(*order, seat_at)]
    stages = _telling(played)
    connected = _connected(stages, players)
    if not connected:
        stages = _telling([*played, *_against_phantom(np.arange(players))])
    for size, begin in seat_at.items():
        stages += _against_phantom(np.arange(begin, begin + size))
    ties = sorted({stage.size for stage in stages} - {1})
    first_tie = players + sum(sizes)
    likelihood = _Likelihood(stages, ties, first_tie, level=players if connected else 0)
    found, by_choices = _most_likely(likelihood)
    theta = found[:players]
    return Fit(
        theta=_less_mean(players) @ theta,
        ties=dict(zip(ties, found[first_tie:].tolist(), strict=True)),
        seats={size: _less_mean(size) @ found[begin : begin + size] for size, begin in seat_at.items()},
        connected=connected,
        _seat_at=seat_at,
        _by_choices=by_choices,
        _by_deals=_sandwich(likelihood, found, by_choices),
    )


class _Stage(NamedTuple):
    """Choices of one kind, one a row: groups of this size were chosen, the first of the players in their row.

    worths  what the log alpha of each player is the sum of, as indices of parameters; of rows, players and addends
    weight  how much each counts
    deals   of each row; -1 if it is made up
    """

    size: int
    worths: Indices
    weight: float
    deals: Indices


def _by_order(games: Iterable[Game]) -> list[tuple[tuple[int, ...], Indices, Indices]]:
    """Ranks, the deals of all games that ended with them, and their players, a row each; all in a fixed order."""
    found: dict[tuple[int, ...], list[tuple[int, tuple[int, ...]]]] = defaultdict(list)
    for game in games:
        found[game.ranks].append((game.deal, game.players))
    return [
        (ranks, np.array([deal for deal, _ in ended]), np.array([players for _, players in ended]))
        for ranks, ended in sorted((ranks, sorted(ended)) for ranks, ended in found.items())
    ]


def _stages(ranks: tuple[int, ...], deals: Indices, players: Indices, seat_at: Mapping[int, int]) -> Iterable[_Stage]:
    """The choices that games with these ranks are rows of."""
    addends = [players]
    if seat_at:
        addends.append(np.broadcast_to(seat_at[len(ranks)] + np.arange(len(ranks)), players.shape))
    worths = np.stack(addends, axis=-1)
    left = sorted(range(len(ranks)), key=lambda seat: ranks[seat])
    while len(left) > 1:
        size = sum(ranks[seat] == ranks[left[0]] for seat in left)
        yield _Stage(size, worths[:, left], 1.0, deals)
        left = left[size:]


def _against_phantom(worths: Indices) -> list[_Stage]:
    """Half a win and half a loss for each."""
    pairs = np.stack([worths, np.full_like(worths, _NOBODY)], axis=-1)[..., None]
    made_up = np.full(len(worths), -1)
    return [_Stage(1, pairs, _PHANTOM_WEIGHT, made_up), _Stage(1, pairs[:, ::-1], _PHANTOM_WEIGHT, made_up)]


def _telling(stages: Sequence[_Stage]) -> list[_Stage]:
    """The choices without those of a size of tie that came about wherever it could: its delta would be infinite.

    More exactly, of sizes from which no chain of choices that went the other way leads down to a single player.
    """
    lost: set[int] = {1}
    while (
        more := {other.size for stage in stages if stage.size in lost for other in stages if other.size <= _left(stage)}
        - lost
    ):
        lost |= more
    return [stage for stage in stages if stage.size in lost]


def _left(stage: _Stage) -> int:
    """How many players there were to choose from."""
    return int(stage.worths.shape[1])


def _connected(stages: Iterable[_Stage], players: int) -> bool:
    """Whether a chain of wins leads from every player to every other."""
    won = np.zeros((players, players), dtype=bool)
    for stage in stages:
        of = stage.worths[:, :, 0]
        won[of[:, : stage.size, None], of[:, None, stage.size :]] = True
    return bool(connected_components(won, connection="strong", return_labels=False) == 1)


class _Choices(NamedTuple):
    """Choices out of equally many players, by the players whom they were out of, a row each.

    columns  the parameters that a row depends on
    design   how often each of these goes into the logarithm of f, a row for each group that could be chosen
    weights  how much each row counts
    rows     which row each choice that was made belongs to, with its weight and its deal (-1: made up)
    """

    columns: Indices
    design: Floats
    weights: Floats
    rows: Indices
    each: Floats
    deals: Indices


def _choices(stages: Iterable[_Stage], ties: Sequence[int], first_tie: int) -> list[_Choices]:
    """Stages put together that have equally many players and addends; parameters of ties begin at `first_tie`."""
    alike: dict[tuple[int, int], list[_Stage]] = defaultdict(list)
    for stage in stages:
        _, left, addends = stage.worths.shape
        alike[left, addends].append(stage)
    return [_put_together(alike[shape], *shape, ties, first_tie) for shape in sorted(alike)]


def _put_together(stages: Sequence[_Stage], left: int, addends: int, ties: Sequence[int], first_tie: int) -> _Choices:
    sizes = [1, *(size for size in ties if size <= left)]
    groups = list(chain.from_iterable(combinations(range(left), size) for size in sizes))
    shares = np.array([[(player in group) / len(group) for player in range(left)] for group in groups])
    tied = np.array([[float(len(group) == size) for size in sizes[1:]] for group in groups])
    worths = np.concatenate([stage.worths for stage in stages])
    worths = np.take_along_axis(worths, worths[:, :, :1].argsort(axis=1), axis=1).reshape(len(worths), -1)
    columns, rows = np.unique(worths, axis=0, return_inverse=True)
    each = np.concatenate([np.full(len(stage.worths), stage.weight) for stage in stages])
    tie_columns = np.broadcast_to(first_tie + np.arange(len(sizes) - 1), (len(columns), len(sizes) - 1))
    return _Choices(
        columns=np.hstack([columns, tie_columns]),
        design=np.hstack([np.repeat(shares, addends, axis=1), tied]),
        weights=np.bincount(rows, each).astype(float),
        rows=rows,
        each=each,
        deals=np.concatenate([stage.deals for stage in stages]),
    )


class _Likelihood:
    """The negative logarithm of the likelihood, its slopes and how they bend.

    Of a choice it is the logarithm of the sum of f over all groups that could be chosen, which is the same for all
    choices out of the same players, less that of the group that was, which is linear in the parameters.
    The first `level` parameters matter by their differences alone. Half the square of their sum is added, which is
    nothing where they are best, so that there is one best place.
    """

    def __init__(self, stages: Sequence[_Stage], ties: Sequence[int], first_tie: int, *, level: int) -> None:
        self.parameters = first_tie + len(ties)
        self._level = np.arange(self.parameters) < level
        self._choices = _choices(stages, ties, first_tie)
        self._chosen = [_chosen(stage, ties, first_tie) for stage in stages]
        self._deals = [stage.deals for stage in stages]
        self._sum_of_chosen = sum((self._sums(*chosen)[0] for chosen in self._chosen), np.zeros(self.parameters))

    def slope(self, at: Floats) -> tuple[float, Floats]:
        """Its value, and its gradient."""
        out = float(at[self._level].sum())
        value, gradient = out**2 / 2 - float(at @ self._sum_of_chosen), out * self._level - self._sum_of_chosen
        for choices in self._choices:
            logs, chances = self._chances(choices, at)
            value += float(choices.weights @ logs)
            gradient += self._sums(choices.columns, chances @ choices.design * choices.weights[:, None])[0]
        return value, gradient

    def bend(self, at: Floats) -> Floats:
        """Its Hessian."""
        wide = self.parameters + 1
        hessian = np.zeros((wide, wide))
        for choices in self._choices:
            _, chances = self._chances(choices, at)
            means = chances @ choices.design
            squares = choices.design[:, :, None] * choices.design[:, None, :]
            spread = np.tensordot(chances, squares, 1) - means[:, :, None] * means[:, None, :]
            columns = choices.columns % wide
            places = columns[:, :, None] * wide + columns[:, None, :]
            values = spread * choices.weights[:, None, None]
            hessian += np.bincount(places.ravel(), values.ravel(), wide * wide).reshape(wide, wide)
        return hessian[:-1, :-1] + np.outer(self._level, self._level)

    def slopes_by_deal(self, at: Floats) -> Floats:
        """The gradient of each deal, a row each, after one of all that was made up."""
        rows = 2 + max((int(deals.max()) for deals in self._deals), default=-1)
        slopes = np.zeros((rows, self.parameters))
        for deals, (columns, values) in zip(self._deals, self._chosen, strict=True):
            slopes -= self._sums(columns, values, deals[:, None] + 1, rows)
        for choices in self._choices:
            means = self._chances(choices, at)[1] @ choices.design
            values = means[choices.rows] * choices.each[:, None]
            slopes += self._sums(choices.columns[choices.rows], values, choices.deals[:, None] + 1, rows)
        return slopes[1:]

    def _chances(self, choices: _Choices, at: Floats) -> tuple[Floats, Floats]:
        """Of each row the logarithm of the sum of f, and the probability of each group."""
        logs = np.append(at, 0.0)[choices.columns] @ choices.design.T
        most = logs.max(axis=1, keepdims=True)
        chances = np.exp(logs - most)
        sums = chances.sum(axis=1, keepdims=True)
        return (np.log(sums) + most)[:, 0], chances / sums

    def _sums(self, columns: Indices, values: Floats, row: Indices | int = 0, rows: int = 1) -> Floats:
        """Values added up by row and parameter."""
        wide = self.parameters + 1
        places = row * wide + columns % wide
        return np.bincount(places.ravel(), values.ravel(), rows * wide).astype(float).reshape(rows, wide)[:, :-1]


def _chosen(stage: _Stage, ties: Sequence[int], first_tie: int) -> tuple[Indices, Floats]:
    """The parameters that the logarithm of what was chosen depends on, a row each, and how much."""
    columns = stage.worths[:, : stage.size].reshape(len(stage.worths), -1)
    shares = np.full(columns.shape, stage.weight / stage.size)
    if stage.size == 1:
        return columns, shares
    tie = np.full((len(columns), 1), first_tie + ties.index(stage.size))
    return np.hstack([columns, tie]), np.hstack([shares, np.full(tie.shape, stage.weight)])


def _most_likely(likelihood: _Likelihood) -> tuple[Floats, Floats]:
    """The best place, and the inverse Hessian there.

    Parameters are scaled to their standard errors at 0. Scipy stops where a sum over all games has no more digits to
    tell a better place by; from there, plain Newton steps lead to the last digits.
    """
    scale = 1 / np.sqrt(likelihood.bend(np.zeros(likelihood.parameters)).diagonal())

    def slope(at: Floats) -> tuple[float, Floats]:
        value, gradient = likelihood.slope(at * scale)
        return value, gradient * scale

    def bend(at: Floats) -> Floats:
        return likelihood.bend(at * scale) * np.outer(scale, scale)

    near = minimize(
        slope,
        np.zeros(likelihood.parameters),
        method="trust-exact",
        jac=True,
        hess=bend,
        options={"gtol": _NEAR, "initial_trust_radius": _FAR, "max_trust_radius": _FAR**2},
    )
    at: Floats = near.x * scale
    inverse: Floats = np.linalg.inv(likelihood.bend(at)).astype(float)
    for _ in range(_LAST_STEPS):
        step = inverse @ likelihood.slope(at)[1]
        at = at - step
        inverse = np.linalg.inv(likelihood.bend(at)).astype(float)
    if not abs(step).max() < _SETTLED:
        raise RefereeError(f"ratings: the fit did not settle; its last step was {abs(step).max():.1e} of theta")
    return at, inverse


def _sandwich(likelihood: _Likelihood, at: Floats, inverse_hessian: Floats) -> Floats:
    """The covariance of all parameters, where deals are samples."""
    slopes = likelihood.slopes_by_deal(at)
    deals = len(slopes)
    if deals < 2:
        return inverse_hessian
    return inverse_hessian @ (slopes.T @ slopes) @ inverse_hessian * (deals / (deals - 1))


def _less_mean(count: int) -> Floats:
    """Weights that take the mean off each of so many values."""
    return np.eye(count) - 1 / count
