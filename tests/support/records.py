"""Made-up results: games of random legal moves, and whole leagues of them."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random

from referee.model import (
    BotEntry,
    Fault,
    FaultKind,
    GameRecord,
    GameSpec,
    Night,
    NightSettings,
    PlayedMove,
    SeatHolder,
)
from referee.ports import RecordedGames
from referee.records import ranks, to_json
from referee.schedule import plan_match, plan_night
from treelings import Clock, State, commitment, derive_deck

SECRET = bytes(32)
BOTS = ("amber", "birch", "cedar", "dusk", "ember", "fern", "grove", "hazel", "ivy", "juniper")


def version_of(bot: str, edition: int = 1) -> str:
    """A made-up digest; another edition of the bot has another."""
    return "sha256:" + hashlib.sha256(f"{bot} {edition}".encode()).hexdigest()


def random_record(
    spec: GameSpec, secret: bytes, rng: Random, *, fault_chance: float = 0.0, edition: int = 1
) -> GameRecord:
    """The game of the spec in random legal moves; each turn its seat forfeits with `fault_chance`."""
    assert spec.deal_id is not None
    deck = derive_deck(secret, spec.deal_id)
    players = len(spec.bots)
    state = State.deal(deck, players, spec.refill)
    moves: list[PlayedMove] = []
    faults: list[Fault] = []
    while not state.over and players - len(faults) >= 2:
        seat = state.seat
        gone = any(fault.seat == seat for fault in faults)
        if not gone and rng.random() < fault_chance:
            faults.append(_fault(rng, seat, state.turn))
            continue
        move = state.legal_moves()[0] if gone else rng.choice(state.legal_moves())
        ms = 0.0 if gone else round(rng.uniform(0.1, 40), 3)
        moves.append(PlayedMove(seat, move.notation, ms, by_referee=gone))
        state.play(move)
    scores = state.scores() if players - len(faults) >= 2 else None
    return GameRecord(
        league=spec.league,
        night=spec.night,
        match=spec.match,
        deal=spec.deal_id,
        rotation=spec.rotation,
        refill=spec.refill,
        seats=tuple(SeatHolder(bot, version_of(bot, edition)) for bot in spec.bots),
        deck=deck,
        moves=tuple(moves),
        festival_turn=state.festival_turn if state.firefly_out else None,
        ended="forfeit" if scores is None else "festival",
        faults=tuple(faults),
        scores=scores,
        ranks=ranks(players, scores, faults),
    )


def random_league(
    rng: Random,
    *,
    league: str = "thursday",
    bots: Sequence[str] = BOTS[:4],
    nights: int = 2,
    seats: tuple[int, ...] = (2,),
    deals: int = 2,
    max_tables: int | None = None,
    fault_chance: float = 0.005,
    revealed: bool = True,
) -> tuple[tuple[Night, ...], tuple[GameRecord, ...]]:
    """A league of finished nights with all their records; every bot has a new version each night."""
    settings = NightSettings(
        seats=seats, deals=deals, refill="start", max_tables=max_tables, clock=Clock()
    )  # fmt: skip
    told: list[Night] = []
    records: list[GameRecord] = []
    for number in range(1, nights + 1):
        secret = rng.randbytes(32)
        told.append(
            Night(
                number=number,
                opened=f"2026-11-{number:02}T18:00:00Z",
                finished=f"2026-11-{number:02}T18:40:00Z",
                commitment=commitment(secret),
                secret=secret.hex() if revealed else None,
                settings=settings,
                bots=tuple(BotEntry(bot, f"{bot.title()}'s author", version_of(bot, number)) for bot in bots),
            )
        )
        records += (
            random_record(game, secret, rng, fault_chance=fault_chance, edition=number)
            for match in plan_night(league=league, night=number, bots=bots, settings=settings)
            for game in match.games
        )
    return tuple(told), tuple(records)


def _fault(rng: Random, seat: int, turn: int) -> Fault:
    kind = FaultKind.STARTUP if turn == 0 else rng.choice(list(FaultKind)[1:])
    return Fault(seat, turn, kind, f"{kind.value} at turn {turn} (made up)")


def record(players: int = 2, *, seed: int = 1, fault_chance: float = 0.0) -> GameRecord:
    """A random game of a match's second rotation, without a fault unless there is a chance of one."""
    match = plan_match(league="thursday", night=1, bots=BOTS[:players], deals=1, refill="start")
    return random_record(match.games[1], SECRET, Random(seed), fault_chance=fault_chance)


def forfeited(players: int, count: int) -> GameRecord:
    """A random game in which this many seats forfeit, the first of them after its first turn."""
    match = plan_match(league="thursday", night=1, bots=BOTS[:players], deals=1, refill="start")
    for seed in range(1_000):
        found = random_record(match.games[0], SECRET, Random(seed), fault_chance=0.03)
        if len(found.faults) == count and found.faults[0].turn > 0:
            return found
    raise AssertionError("no such game among the first thousand")


class AtHand:
    """Records as a store would hand them out (ports.RecordedGames), also such as no store would take."""

    def __init__(self, records: Iterable[GameRecord]) -> None:
        self._records = list(records)
        self._lines = {to_json(record): record for record in self._records}

    def results(self) -> Sequence[GameRecord]:
        return [replace(record, moves=()) for record in self._records]

    def lines(self, night: int, matches: Sequence[str]) -> Iterator[Mapping[str, str]]:
        for match in matches:
            yield {
                record.id: line
                for line, record in self._lines.items()
                if (record.night, record.match) == (night, match)
            }

    def record(self, line: str) -> GameRecord:
        return self._lines[line]


def all_of(games: RecordedGames) -> tuple[GameRecord, ...]:
    """The records with their moves, in the order of the results."""
    results = games.results()
    matches = {(record.night, record.match): None for record in results}
    lines = {(night, match): next(games.lines(night, [match])) for night, match in matches if night is not None}
    return tuple(games.record(lines[record.night or 0, record.match][record.id]) for record in results)
