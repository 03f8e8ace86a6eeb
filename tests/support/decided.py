"""Nights that are to be decided, of bots whose strength is known: a game goes to whoever has the better day."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from random import Random

from referee.decision import Decision, plan_so_far
from referee.model import BotEntry, GameRecord, GameSpec, Night, NightSettings, UntilDecided
from tests.support.records import random_record, version_of
from tests.support.results import result
from treelings import Clock, commitment


def night_of(
    bots: Iterable[str], aim: UntilDecided | None, *, deals: int = 10, seats: tuple[int, ...] = (2,),
    max_tables: int | None = None,
) -> Night:  # fmt: skip
    """An open night, the first."""
    return Night(
        number=1,
        opened="2026-11-29T18:00:00Z",
        finished=None,
        commitment="0" * 64,
        secret=None,
        settings=NightSettings(seats, deals, "start", max_tables, Clock()),
        bots=tuple(BotEntry(bot, "A", version_of(bot)) for bot in sorted(bots)),
        until_decided=aim,
    )


def played(game: GameSpec, strengths: Mapping[str, float]) -> GameRecord:
    """What became of a game: always the same of the same game."""
    rng = Random(f"{game.id} {sorted(strengths.items())}")
    days = [round(strengths[bot] + rng.gauss(0, 1), 1) for bot in game.bots]
    record = result(game.bots, [1 + sum(other > day for other in days) for day in days], rotation=game.rotation)
    return replace(record, deal=game.deal_id, match=game.match)


def play_out(
    night: Night, strengths: Mapping[str, float], records: Sequence[GameRecord] = (), *, looks: int = 1_000
) -> tuple[list[GameRecord], Decision]:
    """All that becomes due is played, or for so many looks; the records and what is decided then."""
    found = {record.id: record for record in records}
    for _ in range(looks):
        plan, decision = plan_so_far("thursday", night, found.values())
        due = [game for match in plan for game in match.games if game.id not in found]
        if not due:
            break
        found |= {game.id: played(game, strengths) for game in due}
    _, decision = plan_so_far("thursday", night, found.values())
    assert decision
    return list(found.values()), decision


def decided_league(
    bots: Sequence[str], aim: UntilDecided, *, deals: int = 1
) -> tuple[tuple[Night, ...], tuple[GameRecord, ...]]:
    """A league of one night that went on in games of random moves, finished and revealed."""
    secret, rng = bytes(32), Random(1)
    night = replace(
        night_of(bots, aim, deals=deals),
        commitment=commitment(secret),
        secret=secret.hex(),
        finished="2026-11-29T19:00:00Z",
    )
    records: dict[str, GameRecord] = {}
    while due := [
        game
        for match in plan_so_far("thursday", night, records.values())[0]
        for game in match.games
        if game.id not in records
    ]:
        records |= {game.id: random_record(game, secret, rng) for game in due}
    return (night,), tuple(records.values())
