"""How large a league may be whose site a stranger checks: what would take too long is said before it is begun."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from referee.decision import until_decided
from referee.errors import RecordError, UsageError
from referee.model import GameRecord, Night
from referee.schedule import MAX_GAMES, count_games, planning_effort
from referee.sitefile import NAME

MAX_EFFORT: Final = 10_000_000
"""The most that choosing the tables of all nights of a site may take: about half a minute."""

MAX_PAIRS: Final = 500_000
"""The most pairs of bots whose order a site's nights may have been played on for."""

MAX_RATING: Final = 2_000_000_000
"""The most that rating a site's bots may take: a night of 1,000 bots, about a minute."""


def check_nights(nights: Sequence[Night]) -> None:
    """Raise RecordError for nights that would take too long to plan or to decide, before any of them is planned."""
    games = sum(count_games(len(night.bots), night.settings) for night in nights)
    if games > MAX_GAMES:
        raise RecordError(
            f"{NAME}: expected nights of at most {MAX_GAMES:,} games in all, got {games:,}; "
            "check the files in records/ one by one"
        )
    effort = sum(planning_effort(len(night.bots), night.settings) for night in nights)
    if effort > MAX_EFFORT:
        raise RecordError(
            f"{NAME}: expected nights whose tables can be chosen in time: bots x seats x chosen tables at most "
            f"{MAX_EFFORT:,} in all, got {effort:,}; check the files in records/ one by one"
        )
    pairs = 0
    for night in nights:
        if wish := night.until_decided:
            pairs += len(night.bots) * (len(night.bots) - 1) // 2
            try:
                until_decided(wish.top, wish.at_most, bots=len(night.bots), settings=night.settings)
            except UsageError as error:
                raise RecordError(f"{NAME}, night {night.number}: {error}") from None
    if pairs > MAX_PAIRS:
        raise RecordError(
            f"{NAME}: expected nights that are played until decided with at most {MAX_PAIRS:,} pairs of bots in all, "
            f"got {pairs:,}; check the files in records/ one by one"
        )


def check_bots(records: Sequence[GameRecord]) -> None:
    """Raise RecordError for records of more bots than can be rated in time."""
    bots: defaultdict[int | None, set[str]] = defaultdict(set)
    for record in records:
        bots[record.night].update(holder.bot for holder in record.seats)
    everyone = set().union(*bots.values())
    effort = sum(len(some) ** 3 for some in (everyone, *bots.values()))
    if effort > MAX_RATING:
        raise RecordError(
            f"records: expected bots that can be rated in time: the cubes of how many there are, each night and in "
            f"all, add up to at most {MAX_RATING:,}, got {effort:,} with {len(everyone):,} bots; check the files in "
            "records/ one by one"
        )
