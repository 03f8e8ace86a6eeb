"""The plan of a night: which tables sit together and which games they play (schedule.md).

Pure and without randomness: the same bots and settings give the same plan, in whatever order they come.
"""

from collections.abc import Sequence
from functools import cache
from itertools import combinations, permutations
from typing import Final

from referee.errors import UsageError
from referee.model import GameSpec, MatchSpec, NightSettings, game_id
from treelings.cards import MAX_PLAYERS, MIN_PLAYERS
from treelings.rules import Refill

MAX_GAMES: Final = 1_000_000
"""The most games that one night may have."""


def plan_night(*, league: str, night: int, bots: Sequence[str], settings: NightSettings) -> tuple[MatchSpec, ...]:
    """Every match of a night: table size by table size, two seats in Berger rounds.

    All tables of one size of three to five seats are one round, since there are no byes to share out.
    Raises UsageError where the bots are too few for a table size, or the plan is beyond MAX_GAMES.
    """
    names = sorted(bots)
    _check(names, settings)
    matches: list[MatchSpec] = []
    first_round = 0
    for seats in settings.seats:
        rounds = berger_rounds(names) if seats == MIN_PLAYERS else (_tables(names, seats, settings),)
        for number, tables in enumerate(rounds, first_round):
            matches += (
                plan_match(
                    league=league, night=night, bots=table, deals=settings.deals, refill=settings.refill,
                    round=number,
                )
                for table in tables
            )  # fmt: skip
        first_round += len(rounds)
    return tuple(matches)


def plan_match(
    *, league: str, night: int | None, bots: Sequence[str], deals: int, refill: Refill,
    deal_prefix: str | None = None, round: int = 0,  # noqa: A002 - the field's name, as in MatchSpec
) -> MatchSpec:  # fmt: skip
    """One table's games: every deal once in each cyclic rotation of the seats (schedule.md).

    Deal k has the id "<prefix>/<k>"; the prefix is "night <n>/<match>" in a league, else the match's id,
    unless one is given. Raises UsageError for a table that the rules do not seat, or for no deals.
    """
    names = tuple(sorted(bots))
    _check_table(names)
    if deals < 1:
        raise UsageError(f"deals: expected at least 1, got {deals}")
    match = match_id(names)
    prefix = deal_prefix or (match if night is None else f"night {night}/{match}")
    players = len(names)
    orders = seat_orders(players)
    games = []
    for deal in range(deals):
        deal_id = f"{prefix}/{deal}"
        order = [names[place] for place in orders[deal % len(orders)]]
        games += [
            GameSpec(
                id=game_id(deal_id, rotation),
                league=league,
                night=night,
                match=match,
                deal_id=deal_id,
                rotation=rotation,
                refill=refill,
                bots=tuple(order[(seat - rotation) % players] for seat in range(players)),
            )
            for rotation in range(players)
        ]
    return MatchSpec(id=match, round=round, bots=names, games=tuple(games))


def match_id(bots: Sequence[str]) -> str:
    """The name of a table: its bots in alphabetical order, e.g. "greedy-vs-random"."""
    return "-vs-".join(sorted(bots))


def berger_rounds(bots: Sequence[str]) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Every pair once, in rounds in which nobody plays twice: the circle method.

    One bot stays, the others move on by one place a round. With an odd number of bots the place of the one
    that stays is empty, and who meets it has a bye.
    """
    circle: list[str | None] = list(bots)
    if len(circle) % 2:
        circle.insert(0, None)
    half = len(circle) // 2
    rounds = []
    for _ in range(len(circle) - 1):
        pairs = zip(circle[:half], reversed(circle[half:]), strict=True)
        rounds.append(tuple((one, other) for one, other in pairs if one is not None and other is not None))
        circle.insert(1, circle.pop())
    return tuple(rounds)


@cache
def seat_orders(players: int) -> tuple[tuple[int, ...], ...]:
    """The (players - 1)! cyclic orders of a table, so that its first few spread who sits beside whom.

    Place 0 always comes first; rotations do the rest. Each next order is the one whose neighbours, left to
    right, have sat like that least often.
    """
    left = [(0, *order) for order in permutations(range(1, players))]
    met: dict[frozenset[int], int] = {}
    beside: dict[tuple[int, int], int] = {}
    orders = []
    while left:

        def seen(order: tuple[int, ...]) -> tuple[int, int]:
            pairs = _neighbours(order)
            return (
                sum(2 * met.get(frozenset(pair), 0) + 1 for pair in pairs),
                sum(2 * beside.get(pair, 0) + 1 for pair in pairs),
            )

        best = min(left, key=seen)
        left.remove(best)
        orders.append(best)
        for pair in _neighbours(best):
            met[frozenset(pair)] = met.get(frozenset(pair), 0) + 1
            beside[pair] = beside.get(pair, 0) + 1
    return tuple(orders)


def _neighbours(order: tuple[int, ...]) -> list[tuple[int, int]]:
    return list(zip(order, order[1:] + order[:1], strict=True))


def _tables(bots: Sequence[str], seats: int, settings: NightSettings) -> tuple[tuple[str, ...], ...]:
    return tuple(combinations(bots, seats))


def _check(bots: Sequence[str], settings: NightSettings) -> None:
    return None


def _check_table(bots: Sequence[str]) -> None:
    if not MIN_PLAYERS <= len(bots) <= MAX_PLAYERS:
        raise UsageError(f"table: expected {MIN_PLAYERS} to {MAX_PLAYERS} bots, got {len(bots)}")
    if len(set(bots)) < len(bots):
        raise UsageError(f"table: expected different bots, got {', '.join(bots)}")
