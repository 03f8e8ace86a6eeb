"""One game: how it runs, and every ruling of records.md, Faults."""

import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import EngineGone, SandboxError
from referee.game import LONGEST_DETAIL, play_game
from referee.model import Fault, FaultKind, GameRecord, GameSpec, SeatHolder
from referee.ports import Answer, Failure
from referee.records import MAX_COMMENTS_BYTES, MAX_RECORD_BYTES, from_json, problems, to_json
from tests.support.players import Act, FakePlayer
from treelings import Clock, Refill, State, derive_deck

CLOCK = Clock(startup_ms=500, move_ms=100, bank_ms=250, increment_ms=10)
TIMEOUT = Failure(FaultKind.TIMEOUT, "no answer within 100 ms", 100)
NOT_READY = Failure(FaultKind.STARTUP, "never listened")
NAMES = ("ann", "bob", "cyd", "dan", "eve")


async def play(
    *players: FakePlayer, clock: Clock = CLOCK, deal: str = "demo/0", refill: Refill = "start"
) -> GameRecord:
    names = NAMES[: len(players)]
    spec = GameSpec(f"{deal}/r0", "test", 1, "-vs-".join(names), deal, 0, refill, names)
    seats = [SeatHolder(name, "sha256:" + "0" * 64) for name in names]
    record = await play_game(spec, derive_deck(bytes(32), deal), seats, players, clock)
    assert problems(record) == []
    return record


def moves_of(record: GameRecord, seat: int) -> list[tuple[float, bool]]:
    return [(move.ms, move.by_referee) for move in record.moves if move.seat == seat]


async def test_a_game_is_played_to_its_festival_and_recorded_whole() -> None:
    record = await play(FakePlayer(), FakePlayer())
    assert (record.league, record.night, record.match, record.deal) == ("test", 1, "ann-vs-bob", "demo/0")
    assert (record.rotation, record.refill) == (0, "start")
    assert [seat.bot for seat in record.seats] == ["ann", "bob"]
    assert record.deck == derive_deck(bytes(32), "demo/0")
    assert record.ended == "festival"
    assert record.faults == ()
    assert record.scores is not None
    assert sorted(record.ranks) in ([1, 2], [1, 1])
    assert (record.ranks[0] < record.ranks[1]) == (record.scores[0] > record.scores[1])
    assert [move.seat for move in record.moves] == [turn % 2 for turn in range(len(record.moves))]
    assert record.festival_turn is not None


async def test_the_processor_time_of_a_move_is_kept_beside_its_time_where_it_is_known() -> None:
    record = await play(FakePlayer([Answer("", 3.5, cpu_ms=2.25)]), FakePlayer())
    assert [(move.ms, move.cpu_ms) for move in record.moves[:2]] == [(3.5, 2.25), (1.0, None)]


async def test_a_comment_is_kept_with_its_move_and_no_seat_is_told_of_it() -> None:
    other = FakePlayer()
    record = await play(FakePlayer([Answer("", 1.0, comment="I like it tall"), 1.0]), other)
    assert [move.comment for move in record.moves[:3]] == ["I like it tall", "", ""]
    assert "tall" not in repr(other.views)


@pytest.mark.parametrize(
    ("comment", "kept"),
    [
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 199 + "…"),
        ("\U0001f409" * 9_999, "\U0001f409" * 199 + "…"),
        ("red\x1b[31m\nor not", "red\\x1b[31m\\nor not"),
        ("\u202eesrever", "\\u202eesrever"),
        ("half \ud800", "half \\ud800"),
        ("\x00" * 60, "\\x00" * 49 + "…"),
        ("<b>&amp;</b>", "<b>&amp;</b>"),
    ],
)
async def test_of_a_comment_200_characters_that_can_be_shown_are_kept_and_none_is_a_fault(
    comment: str, kept: str
) -> None:
    record = await play(FakePlayer([Answer("", 1.0, comment=comment)]), FakePlayer())
    assert record.moves[0].comment == kept
    assert record.faults == ()
    assert from_json(to_json(record)) == record


async def test_comments_beyond_a_seats_share_are_dropped_and_the_other_seats_are_kept() -> None:
    dragons = Answer("", 1.0, comment="\U0001f409" * 200)
    chatty, other = FakePlayer([dragons] * 99), FakePlayer([Answer("", 1.0, comment="hm")] * 99)
    record = await play(chatty, other)
    said = [[move.comment for move in record.moves if move.seat == seat] for seat in range(2)]
    share = MAX_COMMENTS_BYTES // 2
    room = share // len(json.dumps(dragons.comment))
    assert len(said[0]) > room
    assert said[0] == [dragons.comment] * room + [""] * (len(said[0]) - room)
    assert set(said[1]) == {"hm"}


async def test_a_shorter_comment_still_fits_where_a_longer_one_was_dropped() -> None:
    dragons = [Answer("", 1.0, comment="\U0001f409" * 200)] * 7
    record = await play(FakePlayer([*dragons, Answer("", 1.0, comment="hm")]), FakePlayer())
    assert [bool(move.comment) for move in record.moves if move.seat == 0][5:9] == [True, False, True, False]


async def test_the_fullest_record_that_bots_can_bring_about_can_be_written() -> None:
    dragon = "\U0001f409"  # twelve bytes of JSON
    sizes = (200, 50, 3) * 5
    chatty: list[Act] = [Answer("", 1_234.125, cpu_ms=123_456.125, comment=dragon * size) for size in sizes]
    quitters = [FakePlayer([*chatty[:6], Failure(FaultKind.CRASH, dragon * 9_999)]) for _ in range(3)]
    deal = f"night 1000000/{'-vs-'.join(['a' * 40] * 5)}/9999"
    record = await play(FakePlayer(chatty), FakePlayer(chatty), *quitters, clock=Clock(bank_ms=99_999), deal=deal)
    assert len(record.faults) == 3
    assert sum(len(json.dumps(move.comment)) for move in record.moves) > 0.9 * MAX_COMMENTS_BYTES
    assert len(to_json(replace(record, league=dragon * 100))) < MAX_RECORD_BYTES


async def test_every_seat_is_told_of_the_game_its_seat_and_the_clock() -> None:
    players = [FakePlayer(), FakePlayer(), FakePlayer()]
    await play(*players, refill="end")
    for seat, player in enumerate(players):
        (game,) = player.started
        assert (game.game, game.seat, game.players) == ("demo/0/r0", seat, 3)
        assert (game.refill, game.clock) == ("end", CLOCK)


async def test_a_seat_is_asked_on_its_turns_alone_and_sees_all_moves_so_far() -> None:
    players = [FakePlayer(), FakePlayer()]
    record = await play(*players)
    for seat, player in enumerate(players):
        assert [view.turn for view in player.views] == list(range(seat, len(record.moves), 2))
        assert {view.seat for view in player.views} == {seat}
        assert [move.notation for move in player.views[-1].history] == [
            move.move for move in record.moves[: player.views[-1].turn]
        ]


async def test_every_seat_that_did_not_forfeit_is_told_the_end() -> None:
    players = [FakePlayer(), FakePlayer(), FakePlayer([TIMEOUT])]
    record = await play(*players)
    for player in players[:2]:
        (end,) = player.ends
        assert (end.outcome, end.ranks, end.scores) == ("festival", record.ranks, record.scores)
    assert players[2].ends == []


async def test_a_clock_loses_what_an_answer_took_and_gains_the_increment() -> None:
    player = FakePlayer([40.0, 0.1236, 100.0])
    record = await play(player, FakePlayer())
    assert [view.bank_ms for view in player.views[:4]] == [250, 220, 229, 139]
    assert [move.ms for move in record.moves if move.seat == 0][:3] == [40.0, 0.124, 100.0]


async def test_the_limit_is_the_smaller_of_the_move_limit_and_the_bank() -> None:
    player = FakePlayer([90.0, 90.0, 80.0])
    await play(player, FakePlayer())
    assert [view.limit_ms for view in player.views[:4]] == [100, 100, 90, 20]


async def test_a_move_is_recorded_in_canonical_notation() -> None:
    # Find a position with exactly one lone guild, where "*" means its letter.
    for number in range(50):
        probe = FakePlayer()
        await play(probe, FakePlayer(), deal=f"probe/{number}")
        at = next((i for i, view in enumerate(probe.views) if view.market.count(1) == 1), None)
        if at is not None:
            break
    assert at is not None
    lone = "ROYGBP"[probe.views[at].market.index(1)]
    meant = next(move for move in probe.views[at].legal_moves if move.take == lone)
    script: list[Act] = [*([1.0] * at), "*" + meant.notation[1:]]
    record = await play(FakePlayer(script), FakePlayer(), deal=f"probe/{number}")
    assert record.moves[2 * at].move == meant.notation


@pytest.mark.parametrize("kind", [kind for kind in FaultKind if kind not in ("startup", "illegal_move")])
async def test_a_failure_to_answer_forfeits_the_game_and_is_recorded(kind: FaultKind) -> None:
    record = await play(FakePlayer([1.0, Failure(kind, "in words")]), FakePlayer())
    assert record.faults == (Fault(0, 2, kind, "in words"),)
    assert (record.ended, record.scores, record.ranks) == ("forfeit", None, (2, 1))
    assert len(record.moves) == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("R<R<R", "not a move: 'R<R<R'; expected a form like R, R<R, *<BP>G or -"),
        ("nonsense", "not a move: 'nonsense'; expected a form like R, R<R, *<BP>G or -"),
        ("r", "not a move: 'r'; expected a form like R, R<R, *<BP>G or -"),
        ("-", "passing is legal only before an empty market"),
        ("*<ROY", "expected the new guilds (R) behind < or >, got ROY"),
        ("*", "expected the new guilds (R) behind < or >, got none"),
    ],
)
async def test_an_illegal_move_forfeits_and_is_told_with_its_reason_its_time_and_what_was_legal(
    text: str, reason: str
) -> None:
    player = FakePlayer([text])
    record = await play(player, FakePlayer())
    (fault,) = record.faults
    assert (fault.seat, fault.turn, fault.kind) == (0, 0, FaultKind.ILLEGAL_MOVE)
    legal = " ".join(move.notation for move in player.views[0].legal_moves)
    assert fault.detail.startswith("illegal move")
    assert f"'{text}'" in fault.detail
    assert " at turn 0: " in fault.detail
    assert fault.detail.endswith(f"{reason}; legal: {legal} (after 1.0 ms)")
    assert fault.detail.count("legal: ") == 1


@pytest.mark.parametrize("text", ["\u202e" * 64, "\x00" * 64, "*<ROYG", "RRRRRRR", "-"])
async def test_an_illegal_move_is_told_whole_however_many_were_legal(text: str) -> None:
    crowded = next(deal for deal in (f"crowd/{number}" for number in range(500)) if _choices(deal) > 100)
    record = await play(FakePlayer([text]), FakePlayer(), deal=crowded)
    assert record.faults[0].detail.endswith(" (after 1.0 ms)")
    assert record.faults[0].detail.isprintable()


def _choices(deal: str) -> int:
    return len(State.deal(derive_deck(bytes(32), deal), 2).legal_moves())


async def test_what_a_bot_wrote_is_escaped_and_bounded_in_the_record() -> None:
    failure = Failure(FaultKind.CRASH, "\x1b[31m" + "x" * 5_000)
    record = await play(FakePlayer([failure]), FakePlayer())
    assert record.faults[0].detail.startswith(r"\x1b[31mxxx")
    assert len(record.faults[0].detail) == LONGEST_DETAIL
    record = await play(FakePlayer(["\u202e" * 64]), FakePlayer())
    assert record.faults[0].detail.isprintable()


async def test_a_bot_that_does_not_start_forfeits_with_kind_startup_at_turn_0() -> None:
    record = await play(FakePlayer(), FakePlayer(start=NOT_READY))
    assert record.faults == (Fault(1, 0, FaultKind.STARTUP, "never listened"),)
    assert (record.ended, record.ranks, record.moves) == ("forfeit", (1, 2), ())


async def test_seats_that_do_not_start_share_the_rank() -> None:
    record = await play(FakePlayer(start=NOT_READY), FakePlayer(start=NOT_READY))
    assert (record.ended, record.ranks) == ("forfeit", (1, 1))
    assert [fault.seat for fault in record.faults] == [0, 1]


async def test_all_seats_are_started_at_once() -> None:
    both = asyncio.Barrier(2)

    class Waits(FakePlayer):
        async def start(self, game: object) -> None:
            await both.wait()

    async with asyncio.timeout(5):
        record = await play(Waits(), Waits())
    assert record.ended == "festival"


async def test_the_game_goes_on_while_two_seats_are_left_and_the_referee_moves_for_the_others() -> None:
    quitter = FakePlayer([1.0, TIMEOUT])
    record = await play(FakePlayer(), quitter, FakePlayer())
    assert record.ended == "festival"
    assert record.scores is not None
    assert moves_of(record, 1)[0] == (1.0, False)
    assert set(moves_of(record, 1)[1:]) == {(0.0, True)}
    assert len(quitter.views) == 2
    # problems(record) has checked that each of these is the first legal move.
    assert {len(moves_of(record, seat)) for seat in range(3)} == {len(record.moves) // 3}


async def test_a_seat_that_forfeited_ranks_behind_all_that_did_not_whatever_the_scores() -> None:
    for seat in range(3):
        players = [FakePlayer([TIMEOUT] if place == seat else []) for place in range(3)]
        record = await play(*players)
        assert record.ranks[seat] == 3


async def test_among_seats_that_forfeited_the_later_is_the_better() -> None:
    record = await play(
        FakePlayer([1.0, 1.0, TIMEOUT]), FakePlayer([TIMEOUT]), FakePlayer(start=NOT_READY), FakePlayer()
    )
    assert record.ended == "forfeit"
    assert record.ranks == (2, 3, 4, 1)
    assert [(fault.seat, fault.turn) for fault in record.faults] == [(2, 0), (1, 1), (0, 8)]


async def test_with_fewer_than_two_left_the_game_ends_at_once() -> None:
    last = FakePlayer()
    record = await play(FakePlayer([1.0, TIMEOUT]), FakePlayer([TIMEOUT]), last)
    assert record.ended == "forfeit"
    assert len(record.moves) == 3
    assert [end.outcome for end in last.ends] == ["forfeit"]


@pytest.mark.parametrize("error", [SandboxError("disk full"), EngineGone("no engine")])
async def test_a_failure_on_our_side_is_no_fault_and_the_bots_hear_that_the_game_is_void(
    error: SandboxError,
) -> None:
    players = [FakePlayer(), FakePlayer([1.0, error])]
    with pytest.raises(type(error)):
        await play(*players)
    assert [end.outcome for player in players for end in player.ends] == ["void", "void"]


async def test_a_failure_on_our_side_during_the_start_is_raised_too() -> None:
    with pytest.raises(SandboxError, match="disk full"):
        await play(FakePlayer(start=SandboxError("disk full")), FakePlayer(start=NOT_READY))


ACTS = st.one_of(st.floats(0.001, 100), st.sampled_from(["nonsense", "-"]), st.sampled_from(list(FaultKind)[1:]))


@given(
    st.lists(st.lists(ACTS, max_size=12), min_size=2, max_size=5),
    st.sampled_from(["start", "end"]),
    st.integers(0, 99),
)
async def test_whatever_the_bots_do_the_record_follows_the_rules_and_is_small(
    scripts: list[list[float | str | FaultKind]], refill: Refill, number: int
) -> None:
    players = [
        FakePlayer([Failure(act, "\U0001f409" * 9_999) if isinstance(act, FaultKind) else act for act in script])
        for script in scripts
    ]
    record = await play(*players, clock=Clock(bank_ms=10_000), deal=f"any/{number}", refill=refill)
    assert len(to_json(record)) < MAX_RECORD_BYTES
