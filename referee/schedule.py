"""The plan of a night: which tables sit together and which games they play (schedule.md).

Pure and without randomness: the same bots and settings give the same plan, in whatever order they come.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import combinations, permutations
from math import comb
from typing import Final

from referee.balanced_tables import balanced_tables, effort
from referee.errors import UsageError
from referee.model import EXTRA, GameSpec, MatchSpec, NightSettings, game_id
from treelings.cards import MAX_PLAYERS, MIN_PLAYERS
from treelings.rules import Refill

MAX_GAMES: Final = 1_000_000
"""The most games that one night may have."""

MAX_BOTS: Final = 1_000
"""The most bots that one night may have."""


def plan_night(*, league: str, night: int, bots: Sequence[str], settings: NightSettings) -> tuple[MatchSpec, ...]:
    """Every match of a night: table size by table size, two seats in Berger rounds.

    All tables of one size of three to five seats are one round, since there are no byes to share out.
    Raises UsageError where the bots are too few for a table size, or the plan is beyond MAX_BOTS, MAX_GAMES or
    what can be balanced in time.
    """
    names = sorted(bots)
    _check_night(names, settings)
    matches: list[MatchSpec] = []
    first_round = 0
    for seats in settings.seats:
        rounds = berger_rounds(names) if seats == MIN_PLAYERS else (_tables(names, seats, settings.max_tables),)
        for number, tables in enumerate(rounds, first_round):
            matches += (
                plan_match(
                    league=league, night=night, bots=table, deals=settings.deals, refill=settings.refill,
                    round=number,
                )
                for table in tables
            )  # fmt: skip
        first_round += len(rounds)
    _check_distinct(matches)
    return tuple(matches)


def count_games(bots: int, settings: NightSettings) -> int:
    """How many games a night of so many bots has, without planning it."""
    return settings.deals * sum(seats * _count_tables(bots, seats, settings.max_tables) for seats in settings.seats)


def count_matches(bots: int, settings: NightSettings) -> int:
    """How many matches a night of so many bots has, without planning it."""
    return sum(_count_tables(bots, seats, settings.max_tables) for seats in settings.seats)


def planning_effort(bots: int, settings: NightSettings) -> int:
    """How much there is to do for the choice of a night's tables (balanced_tables.effort)."""
    return sum(effort(bots, seats, _count_tables(bots, seats, settings.max_tables)) for seats in settings.seats)


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
    games = [
        game
        for deal in range(deals)
        for game in plan_deal(
            league=league, night=night, bots=names, deal=deal, refill=refill, deal_prefix=deal_prefix
        )
    ]  # fmt: skip
    return MatchSpec(id=match_id(names), round=round, bots=names, games=tuple(games))


def plan_deal(
    *, league: str, night: int | None, bots: Sequence[str], deal: int, refill: Refill, deal_prefix: str | None = None,
    extra: bool = False,
) -> tuple[GameSpec, ...]:  # fmt: skip
    """The games of a match's deal of this number, counted from 0: one in each rotation (plan_match).

    An `extra` deal has the id "<prefix>/+<k>" (schedule.md, Extra deals).
    """
    names = sorted(bots)
    match = "-vs-".join(names)
    prefix = deal_prefix or (match if night is None else f"night {night}/{match}")
    deal_id = f"{prefix}/{EXTRA if extra else ''}{deal}"
    players = len(names)
    orders = seat_orders(players)
    order = tuple([names[place] for place in orders[deal % len(orders)]])
    return tuple(
        GameSpec(
            id=game_id(deal_id, rotation),
            league=league,
            night=night,
            match=match,
            deal_id=deal_id,
            rotation=rotation,
            refill=refill,
            bots=order[players - rotation :] + order[: players - rotation],
        )
        for rotation in range(players)
    )


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

    Place 0 always comes first; rotations do the rest. Each next order is the one whose neighbours have sat
    side by side least often.
    """
    left = [(0, *order) for order in permutations(range(1, players))]
    met: Counter[frozenset[int]] = Counter()
    beside: Counter[tuple[int, int]] = Counter()
    orders = []

    def seen(order: tuple[int, ...]) -> tuple[int, int]:
        pairs = _neighbours(order)
        return sum(met[frozenset(pair)] for pair in pairs), sum(beside[pair] for pair in pairs)

    while left:
        best = min(left, key=seen)
        left.remove(best)
        orders.append(best)
        for pair in _neighbours(best):
            met[frozenset(pair)] += 1
            beside[pair] += 1
    return tuple(orders)


def _neighbours(order: tuple[int, ...]) -> list[tuple[int, int]]:
    return list(zip(order, order[1:] + order[:1], strict=True))


def _count_tables(bots: int, seats: int, most: int | None) -> int:
    every = comb(bots, seats)
    return every if most is None or seats == MIN_PLAYERS else min(every, most)


def _tables(bots: Sequence[str], seats: int, most: int | None) -> tuple[tuple[str, ...], ...]:
    if most is None:
        return tuple(combinations(bots, seats))
    return tuple(tuple(bots[number] for number in table) for table in balanced_tables(len(bots), seats, most))


def _check_night(bots: Sequence[str], settings: NightSettings) -> None:
    """Raise UsageError for a plan that cannot be, before anything large is built."""
    if len(bots) > MAX_BOTS:
        raise UsageError(f"bots: expected at most {MAX_BOTS:,} a night, got {len(bots):,}")
    twice = sorted({bot for bot in bots if bots.count(bot) > 1})
    if twice:
        raise UsageError(f"bots: expected each name once, got {', '.join(twice)} more than once")
    if settings.max_tables is not None and settings.max_tables < 1:
        raise UsageError(f"max_tables: expected at least 1, got {settings.max_tables}")
    if list(settings.seats) != sorted(set(settings.seats)):
        raise UsageError(f"seats: expected ascending table sizes, each once, got {list(settings.seats)}")
    for seats in settings.seats:
        if not MIN_PLAYERS <= seats <= MAX_PLAYERS:
            raise UsageError(f"seats: expected tables of {MIN_PLAYERS} to {MAX_PLAYERS}, got {seats}")
        if seats > len(bots):
            there = f"{len(bots)} ({', '.join(bots)})" if bots else "none"
            lower = ", or set seats lower" if seats > MIN_PLAYERS else ""
            raise UsageError(f"seats: a table of {seats} needs {seats} bots, the night has {there}; add bots{lower}")
    if (games := count_games(len(bots), settings)) > MAX_GAMES:
        raise UsageError(
            f"plan: expected at most {MAX_GAMES:,} games a night, got {games:,}; "
            "set fewer deals, or max_tables for tables of three to five seats"
        )


def _check_distinct(matches: Sequence[MatchSpec]) -> None:
    """Names like "a-vs" and "vs-b" could give two tables the same id, and so the same deals."""
    seen: dict[str, tuple[str, ...]] = {}
    for match in matches:
        other = seen.setdefault(match.id, match.bots)
        if other is not match.bots:
            raise UsageError(
                f"bots: {' and '.join(other)} would share the match id {match.id} with "
                f"{' and '.join(match.bots)}; rename one of them"
            )


def _check_table(bots: Sequence[str]) -> None:
    if not MIN_PLAYERS <= len(bots) <= MAX_PLAYERS:
        raise UsageError(f"table: expected {MIN_PLAYERS} to {MAX_PLAYERS} bots, got {len(bots)}")
    if len(set(bots)) < len(bots):
        raise UsageError(f"table: expected different bots, got {', '.join(bots)}")
