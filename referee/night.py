"""Playing a night to its end: what its plan lacks, and then the extra deals that its order is decided by.

What a game needs of a league comes as values; the store alone is told of each.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from referee.decision import Decision, plan_so_far
from referee.errors import UsageError
from referee.model import GameRecord, MatchSpec, Night, Submission, UntilDecided, VoidGame, sits_out
from referee.ports import KeepLog, Sandbox
from referee.run import PlayableTable, Progress, play_matches
from referee.schedule import plan_night
from referee.store import Store
from treelings import Clock

SeatTable = Callable[[MatchSpec, Mapping[str, Submission], Sandbox, bytes, Clock], PlayableTable]
"""Makes a match's table from the night's bots by name, a sandbox, the night's secret and its clock."""


async def play_night(
    league: str, night: Night, store: Store, bots: Mapping[str, Submission], sandbox: Sandbox, *, jobs: int,
    seat: SeatTable, progress: Progress, tell: Callable[[Decision], None], absent: Mapping[str, str],
) -> None:  # fmt: skip
    """Play all that has no record yet, till nothing more is due or a game that is due is void.

    sandbox  is opened and closed, if anything is to be played
    tell     is told what is decided, each time that this is looked at
    absent   bots that cannot be run, and why: their games are void without an attempt, all others are played

    Raises what play_matches and the sandbox raise.
    """
    secret, clock = store.secret(night.number), night.settings.clock

    def due() -> list[MatchSpec]:
        plan, decision = plan_so_far(league, night, _results(store, night))
        recorded = store.recorded(night.number)
        missing, voids = _apart(without(plan, recorded), absent)
        store.save(night.number, voids)
        progress.begin(len(recorded), sum(len(match.games) for match in plan) - len(voids))
        if decision and decision.complete:
            tell(decision)
        return missing

    missing = due()
    if not missing:
        return
    await sandbox.open()
    try:
        while missing:
            await play_matches(
                missing, jobs=jobs, seat=lambda match: seat(match, bots, sandbox, secret, clock),
                save=partial(store.save, night.number), progress=progress,
            )  # fmt: skip
            if night.until_decided is None or without(missing, store.recorded(night.number)):
                break
            missing = due()
    finally:
        await sandbox.close()


def _apart(
    missing: Sequence[MatchSpec], absent: Mapping[str, str]
) -> tuple[list[MatchSpec], list[VoidGame]]:  # fmt: skip
    """The matches that can be played, and the games of all others, void."""
    away = {match.id: sits_out({bot: absent[bot] for bot in match.bots if bot in absent}) for match in missing}
    voids = [VoidGame(game.id, (away[match.id],)) for match in missing if away[match.id] for game in match.games]
    return [match for match in missing if not away[match.id]], voids


def aimed(league: str, night: Night, store: Store, aim: UntilDecided) -> Night:
    """The night with another aim, which is kept. Raises UsageError if this has no use for deals that were played."""
    found = replace(night, until_decided=aim)
    plan, _ = plan_so_far(league, found, _results(store, found))
    strays = store.recorded(night.number) - {game.id for match in plan for game in match.games}
    if strays and (was := night.until_decided):
        raise UsageError(
            f"night {night.number}: expected an aim that needs all extra deals so far, got {aim.top} places with at "
            f"most {aim.at_most} deals, which needs not {len(strays)} of their games; go on as before with "
            f"--until-decided {was.top} --at-most-deals {was.at_most}, or further"
        )
    store.aim(night.number, aim)
    return found


def leave(league: str, night: Night, store: Store, bot: str) -> str | None:
    """Take a bot out of an open night that has not begun, if the others can play it; else, in words, why it stays."""
    if store.count(night.number):
        return "it has begun, and all others are to meet the same bots"
    others = [other.name for other in night.bots if other.name != bot]
    try:
        plan_night(league=league, night=night.number, bots=others, settings=night.settings)
    except UsageError as problem:
        what, _, _ = str(problem).partition("; ")  # what to do about it is for nights to come
        return f"it is open, and cannot be played without: {what}"
    store.leave(night.number, bot)
    if (wish := night.until_decided) and wish.top > len(others):
        store.aim(night.number, replace(wish, top=len(others)))
    return None


def without(plan: Iterable[MatchSpec], recorded: frozenset[str]) -> list[MatchSpec]:
    """The plan less the games that have a record: resuming is no more than this (schedule.md)."""
    left = (
        replace(match, games=tuple(game for game in match.games if game.id not in recorded)) for match in plan
    )  # fmt: skip
    return [match for match in left if match.games]


def over_grpc(keep_log: KeepLog) -> SeatTable:
    """How bots are really reached."""
    # Here, since all else that a league does needs neither gRPC nor its import time.
    from referee.match import Table
    from referee.players import connect

    return partial(Table, connect=connect, keep_log=keep_log)


def _results(store: Store, night: Night) -> Sequence[GameRecord]:
    """What decides; read again each time, so that a long night needs no more memory than a short one."""
    return store.results(night.number) if night.until_decided else ()
