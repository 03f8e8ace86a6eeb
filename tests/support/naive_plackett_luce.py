"""The model of referee/plackett_luce.py a second time, game by game and without any art."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import exp, log

from referee.plackett_luce import Game


def log_likelihood(
    games: Iterable[Game],
    theta: Sequence[float],
    ties: Mapping[int, float],
    seats: Mapping[int, Sequence[float]] | None = None,
) -> float:
    """Of all games. Seats are worth something by size of the table, if at all."""
    total = 0.0
    for game in games:
        worths = [
            theta[player] + (seats[len(game.players)][seat] if seats else 0.0)
            for seat, player in enumerate(game.players)
        ]
        left = set(range(len(worths)))
        while left:
            best = min(game.ranks[seat] for seat in left)
            chosen = {seat for seat in left if game.ranks[seat] == best}
            total += _log_chance([worths[seat] for seat in chosen], [worths[seat] for seat in left - chosen], ties)
            left -= chosen
    return total


def _log_chance(chosen: Sequence[float], others: Sequence[float], ties: Mapping[int, float]) -> float:
    everybody = [*chosen, *others]
    sizes = [size for size in (1, *ties) if size <= len(everybody)]
    possible = sum(exp(_log_f(group, ties)) for size in sizes for group in combinations(everybody, size))
    return _log_f(chosen, ties) - log(possible)


def _log_f(group: Sequence[float], ties: Mapping[int, float]) -> float:
    return ties.get(len(group), 0.0) + sum(group) / len(group)
