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
from itertools import chain, combinations, product
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from referee.errors import RefereeError

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

_NOBODY: Final = -1
"""The phantom: worth 0, and no parameter."""

_PHANTOM_WEIGHT: Final = 0.5
"""Of a win against the phantom, and of a loss."""

_SEATS_EQUAL: Final = 0.25
"""What half a win and half a loss against an equal say of a worth: how much they bend the likelihood."""

_FAR: Final = 1e3
_NEAR: Final = 1e-4
_MOST_STEPS: Final = 20
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
        players = self.theta.size
        squares = []
        for covariance in (self._by_deals, self._by_choices):
            own = covariance.diagonal()[:players]
            squares.append(own[:, None] + own - 2 * covariance[:players, :players])
        errors: Floats = np.sqrt(np.stack(squares, axis=-1).clip(0))
        errors[np.diag_indices(players)] = 0  # not quite, as the two halves of a covariance may differ in a last digit
        return errors

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


def fit(games: Iterable[Game], players: int) -> Fit:
    """Fit all games at once; their order does not change a bit of it. `players` is how many there are, at least 1."""
    return _fit(games, players, None)


def fit_seats(games: Iterable[Game], players: Fit) -> Fit:
    """Fit the games of this fit once more, with a worth for each seat of each size of a table besides.

    Seats are taken to be equal before, as firmly as half a win and half a loss against an equal would have it. That
    keeps them finite whatever the results, and weighs next to nothing after some deals.
    """
    return _fit(games, players.theta.size, players)


def _fit(games: Iterable[Game], players: int, without_seats: Fit | None) -> Fit:
    """Parameters are players, seats by size of the table, and sizes of ties."""
    orders = _by_order(games)
    sizes = sorted({len(ranks) for ranks, _, _ in orders}) if without_seats else []
    seat_at = {size: players + sum(smaller for smaller in sizes if smaller < size) for size in sizes}
    first_tie = players + sum(sizes)
    played = [stage for order in orders for stage in _stages(*order, seat_at)]
    stages = _telling(played)
    connected = _connected(stages, players)
    if not connected:
        stages = _telling([*played, *_against_phantom(players)])
    ties = sorted({stage.size for stage in stages} - {1})
    pull = np.diag([0.0] * players + [_SEATS_EQUAL] * sum(sizes) + [0.0] * len(ties))
    if connected:
        pull[:players, :players] = 1.0  # only differences of theta matter; this makes their sum 0
    likelihood = _Likelihood(stages, ties, first_tie, pull)
    start = np.zeros(len(pull))
    if without_seats:
        start[:players], start[first_tie:] = without_seats.theta, list(without_seats.ties.values())
    found, by_choices = _most_likely(likelihood, start)
    return Fit(
        theta=_less_mean(players) @ found[:players],
        ties=dict(zip(ties, found[first_tie:].tolist(), strict=True)),
        seats={size: found[begin : begin + size] for size, begin in seat_at.items()},
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


def _against_phantom(players: int) -> list[_Stage]:
    """Half a win and half a loss for each."""
    pairs = np.array([[[player], [_NOBODY]] for player in range(players)])
    made_up = np.full(players, -1)
    return [_Stage(1, pairs, _PHANTOM_WEIGHT, made_up), _Stage(1, pairs[:, ::-1], _PHANTOM_WEIGHT, made_up)]


def _telling(stages: Sequence[_Stage]) -> list[_Stage]:
    """The choices without those of a size of tie that came about wherever it could: its delta would be infinite.

    More exactly, without sizes that no chain of choices, each against the next size, leads to from a single player.
    """
    kinds = {(stage.size, stage.worths.shape[1]) for stage in stages}
    sizes = {size for size, _ in kinds}
    beaten, known = {1}, set[int]()
    while beaten != known:
        known = beaten
        beaten = known | {size for size in sizes if any(size <= left for chosen, left in kinds if chosen in known)}
    return [stage for stage in stages if stage.size in beaten]


def _connected(stages: Iterable[_Stage], players: int) -> bool:
    """Whether a chain of wins leads from every player to every other."""
    won = np.zeros((players, players), dtype=bool)
    for stage in stages:
        of = stage.worths[:, :, 0]
        won[of[:, : stage.size, None], of[:, None, stage.size :]] = True
    return bool(connected_components(won, connection="strong", return_labels=False) == 1)


class _Choices(NamedTuple):
    """Choices out of equally many players, of which those out of the same players are one row.

    columns  the parameters that a row depends on; of rows, addends of a worth, and the columns of `design`
    design   how often each of these goes into the logarithm of f, by groups that could be chosen
    weights  how much a row counts
    rows     the row of each single choice
    weight   how much that counts
    chosen   the row of `design` for the group that was chosen, times this weight
    deals    where it was made; -1 if it is made up
    """

    columns: Indices
    design: Floats
    weights: Floats
    rows: Indices
    weight: Floats
    chosen: Floats
    deals: Indices


def _choices(stages: Sequence[_Stage], ties: Sequence[int], first_tie: int) -> _Choices:
    """Put together stages that leave equally many players; the parameters of `ties` begin at `first_tie`."""
    _, left, addends = stages[0].worths.shape
    sizes = [1, *(size for size in ties if size <= left)]
    groups = list(chain.from_iterable(combinations(range(left), size) for size in sizes))
    shares = np.array([[(player in group) / len(group) for player in range(left)] for group in groups])
    tied = np.array([[float(len(group) == size) for size in sizes[1:]] for group in groups])
    design = np.hstack([shares, tied])

    counts = [len(stage.worths) for stage in stages]
    weight = np.repeat([stage.weight for stage in stages], counts)
    chosen = np.repeat([design[groups.index(tuple(range(stage.size)))] for stage in stages], counts, axis=0)
    worths = np.concatenate([stage.worths for stage in stages])
    order = worths[:, :, 0].argsort(axis=1, kind="stable")
    worths = np.take_along_axis(worths, order[:, :, None], axis=1)
    chosen[:, :left] = np.take_along_axis(chosen[:, :left], order, axis=1)
    different, rows = np.unique(worths.reshape(len(worths), -1), axis=0, return_inverse=True)
    columns = np.full((len(different), addends, design.shape[1]), _NOBODY)
    columns[:, :, :left] = different.reshape(-1, left, addends).swapaxes(1, 2)
    columns[:, 0, left:] = first_tie + np.arange(len(sizes) - 1)
    return _Choices(
        columns=columns,
        design=design,
        weights=np.bincount(rows, weight).astype(float),
        rows=rows,
        weight=weight,
        chosen=chosen * weight[:, None],
        deals=np.concatenate([stage.deals for stage in stages]),
    )


class _Likelihood:
    """The negative logarithm of the likelihood, its slopes and how they bend.

    Of a choice it is the logarithm of the sum of f over all groups that could be chosen, which is the same for all
    choices out of the same players, less that of the group that was, which is linear in the parameters.
    Half of parameters * pull * parameters is added.
    """

    def __init__(self, stages: Iterable[_Stage], ties: Sequence[int], first_tie: int, pull: Floats) -> None:
        alike: dict[tuple[int, ...], list[_Stage]] = defaultdict(list)
        for stage in stages:
            alike[stage.worths.shape[1:]].append(stage)
        self._pull = pull
        self._wide = len(pull) + 1  # the last one is _NOBODY's
        self._choices = [_choices(alike[shape], ties, first_tie) for shape in sorted(alike)]
        self._chosen = np.zeros(len(pull))
        for each in self._choices:
            self._chosen += self._sums(each.columns[each.rows], each.chosen)

    def slope(self, at: Floats) -> tuple[float, Floats]:
        """Its value, and its gradient."""
        gradient = self._pull @ at - self._chosen
        value = float(at @ (self._pull @ at / 2 - self._chosen))
        for each in self._choices:
            logs, chances = self._chances(each, at)
            value += float(each.weights @ logs)
            gradient += self._sums(each.columns, chances @ each.design * each.weights[:, None])
        return value, gradient

    def bend(self, at: Floats) -> Floats:
        """Its Hessian."""
        wide = self._wide
        hessian = np.zeros(wide**2)
        for each in self._choices:
            _, chances = self._chances(each, at)
            means = chances @ each.design
            squares = each.design[:, :, None] * each.design[:, None, :]
            spread = np.tensordot(chances, squares, 1) - means[:, :, None] * means[:, None, :]
            spread *= each.weights[:, None, None]
            for one, other in product(each.columns.swapaxes(0, 1) % wide, repeat=2):
                places = one[:, :, None] * wide + other[:, None, :]
                hessian += np.bincount(places.ravel(), spread.ravel(), wide**2)
        return hessian.reshape(wide, wide)[:-1, :-1] + self._pull

    def slopes_by_deal(self, at: Floats) -> csr_array:
        """The gradient of each deal, a row each, without what is made up; mostly nothing, as few players share one."""
        deals = 1 + max((int(each.deals.max()) for each in self._choices), default=-1)
        slopes = csr_array((1 + deals, self._wide))
        for each in self._choices:
            means = self._chances(each, at)[1] @ each.design
            values = means[each.rows] * each.weight[:, None] - each.chosen
            columns = each.columns[each.rows] % self._wide
            lines = np.broadcast_to(each.deals[:, None, None] + 1, columns.shape)
            spread = np.broadcast_to(values[:, None], columns.shape)
            places = (lines.ravel(), columns.ravel())
            slopes += csr_array((spread.ravel(), places), shape=slopes.shape)
        return slopes[1:, :-1]

    def _chances(self, choices: _Choices, at: Floats) -> tuple[Floats, Floats]:
        """Of each row the logarithm of the sum of f, and the probability of each group."""
        logs = np.append(at, 0.0)[choices.columns].sum(axis=1) @ choices.design.T
        most = logs.max(axis=1, keepdims=True)
        chances = np.exp(logs - most)
        sums = chances.sum(axis=1, keepdims=True)
        return (np.log(sums) + most)[:, 0], chances / sums

    def _sums(self, columns: Indices, values: Floats) -> Floats:
        """Values added up by parameter."""
        spread = np.broadcast_to(values[:, None], columns.shape)
        sums: Floats = np.bincount((columns % self._wide).ravel(), spread.ravel(), self._wide).astype(float)
        return sums[:-1]


def _most_likely(likelihood: _Likelihood, start: Floats) -> tuple[Floats, Floats]:
    """The best place, and the inverse Hessian there.

    Scipy goes there, in steps of standard errors, until a sum over all games has no more digits to tell a better place
    by. From there some plain steps of Newton's lead to the last digits.
    """
    scale = 1 / np.sqrt(likelihood.bend(start).diagonal())

    def slope(at: Floats) -> tuple[float, Floats]:
        value, gradient = likelihood.slope(at * scale)
        return value, gradient * scale

    def bend(at: Floats) -> Floats:
        return likelihood.bend(at * scale) * np.outer(scale, scale)

    options = {"gtol": _NEAR, "initial_trust_radius": _FAR, "max_trust_radius": _FAR**2}
    near = minimize(slope, start / scale, method="trust-exact", jac=True, hess=bend, options=options)
    at: Floats = near.x * scale
    for _ in range(_MOST_STEPS):
        inverse: Floats = np.linalg.inv(likelihood.bend(at)).astype(float)
        step = inverse @ likelihood.slope(at)[1]
        if abs(step).max() < _SETTLED:
            return at - step, inverse
        at = at - step
    raise RefereeError(f"ratings: the fit did not settle, its last step was {abs(step).max():.1e}")


def _sandwich(likelihood: _Likelihood, at: Floats, inverse_hessian: Floats) -> Floats:
    """The covariance of all parameters, where deals are samples."""
    slopes = likelihood.slopes_by_deal(at)
    deals = slopes.shape[0]
    if deals < 2:
        return inverse_hessian
    squares: Floats = (slopes.T @ slopes).toarray()
    covariance: Floats = inverse_hessian @ squares @ inverse_hessian * (deals / (deals - 1))
    return covariance


def _less_mean(count: int) -> Floats:
    """Weights that take the mean off each of so many values."""
    return np.eye(count) - 1 / count
