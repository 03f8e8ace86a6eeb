"""Games here are (rank of OLD, rank of NEW, …), one tuple for each rotation of a deal."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from referee.comparison import PATIENCE, Comparison, End
from referee.model import Fault, FaultKind, GameRecord, SeatHolder, VoidGame
from referee.strength import Sprt, Verdict
from tests.support.records import record

WON = ((2, 1), (2, 1))
LOST = ((1, 2), (1, 2))
SHARED = ((1, 2), (2, 1))
BOTS = ("bot", "bot-2", "third", "fourth", "fifth")
CRASH = Fault(1, 7, FaultKind.CRASH, "the bot ended")


def deal(number: int, games: Sequence[Sequence[int]], faults: Sequence[Fault] = ()) -> list[GameRecord]:
    """A deal in which OLD ("bot"), NEW ("bot-2") and others got these ranks; the faults are of each of its games."""
    base = record()
    return [
        replace(
            base,
            deal=f"table/{number}",
            rotation=rotation,
            seats=tuple(SeatHolder(bot, "sha256:0") for bot in BOTS[: len(ranks)]),
            ranks=tuple(ranks),
            faults=tuple(faults),
        )
        for rotation, ranks in enumerate(games)
    ]


def compared(deals: Sequence[Sequence[GameRecord]], seats: int = 2, test: Sprt | None = None) -> Comparison:
    comparison = Comparison("bot", "bot-2", seats, test or Sprt())
    for number, games in enumerate(deals):
        comparison.add(number, games)
    return comparison


def test_a_deal_counts_by_what_new_got_against_old_in_all_its_games() -> None:
    games = [WON, LOST, SHARED, ((1, 1), (2, 1)), ((1, 2), (1, 1)), WON]
    comparison = compared([deal(number, ranks) for number, ranks in enumerate(games)])
    assert comparison.counts == [1, 1, 1, 1, 2]
    assert (comparison.deals, comparison.games) == (6, 12)
    assert comparison.llr == Sprt().llr([1, 1, 1, 1, 2])


def test_others_at_the_table_change_nothing() -> None:
    games = ((3, 2, 1), (1, 2, 3), (2, 2, 1))  # won, lost, shared
    assert compared([deal(0, games)], seats=3).counts == [0, 0, 0, 1, 0, 0, 0]


def test_deals_count_in_the_order_of_their_numbers_whenever_they_end() -> None:
    deals = [deal(number, Random(number).choice([WON, WON, LOST, SHARED])) for number in range(60)]
    expected = compared(deals, test=Sprt(0, 60))
    assert expected.verdict is not Verdict.OPEN
    counted: list[GameRecord] = []
    comparison = Comparison("bot", "bot-2", 2, Sprt(0, 60))
    for number in Random(1).sample(range(60), 60):
        counted += comparison.add(number, deals[number])
    assert (comparison.counts, comparison.llr) == (expected.counts, expected.llr)
    assert counted == [game for games in deals[: expected.deals] for game in games]


def test_a_deal_waits_for_those_before_it() -> None:
    comparison = Comparison("bot", "bot-2", 2, Sprt())
    assert comparison.add(1, deal(1, WON)) == []
    assert comparison.deals == 0
    assert [game.deal for game in comparison.add(0, deal(0, LOST))] == ["table/0", "table/0", "table/1", "table/1"]
    assert comparison.counts == [1, 0, 0, 0, 1]


def test_nothing_counts_after_the_verdict() -> None:
    comparison = compared([deal(number, WON) for number in range(200)])
    assert comparison.end is End.DECIDED
    assert comparison.verdict is Verdict.H1
    assert comparison.llr - comparison.test.upper < 0.05
    assert 50 < comparison.deals < 100


def test_a_deal_that_our_side_failed_to_play_does_not_count_and_says_why() -> None:
    half: list[GameRecord | VoidGame] = [
        deal(0, WON)[0],
        VoidGame("table/0/r1", ("the engine was busy", "the disk is full")),
    ]
    comparison = Comparison("bot", "bot-2", 2, Sprt())
    assert comparison.add(0, half) == []
    assert (comparison.deals, comparison.voids, comparison.reason) == (0, 1, "the disk is full")
    assert comparison.end is None


def test_deal_after_deal_that_cannot_be_played_is_an_end() -> None:
    comparison = Comparison("bot", "bot-2", 2, Sprt())
    void = VoidGame("table", ("the disk is full",))
    for number in range(PATIENCE - 1):
        comparison.add(number, [void, void])
    comparison.add(PATIENCE - 1, deal(PATIENCE - 1, WON))
    for number in range(PATIENCE, 2 * PATIENCE):
        assert comparison.end is None
        comparison.add(number, [void, void])
    assert comparison.end is End.VOID


@pytest.mark.parametrize(("seats", "broken"), [((1,), ("bot-2",)), ((0, 1), ("bot", "bot-2"))])
def test_a_bot_that_forfeits_every_game_is_an_end(seats: Sequence[int], broken: Sequence[str]) -> None:
    faults = [replace(CRASH, seat=seat) for seat in seats]
    comparison = compared([deal(number, SHARED, faults) for number in range(PATIENCE - 1)])
    assert comparison.end is None
    comparison.add(PATIENCE - 1, deal(PATIENCE - 1, SHARED, faults))
    assert comparison.end is End.BROKEN
    assert comparison.broken == broken


def test_a_bot_that_forfeits_now_and_then_plays_on() -> None:
    deals = [deal(0, WON), *(deal(number, LOST, [CRASH]) for number in range(1, 20))]
    comparison = compared(deals)
    assert comparison.end is None
    assert comparison.forfeits("bot-2") == 38
    assert comparison.forfeits("bot") == 0
    assert comparison.faults["bot-2"].first == ("table/1/r0", CRASH)


def test_faults_of_others_are_told_too_and_end_nothing() -> None:
    games = ((1, 2, 3), (2, 1, 3), (1, 2, 3))
    comparison = compared([deal(number, games, [replace(CRASH, seat=2)]) for number in range(PATIENCE)], seats=3)
    assert comparison.forfeits("third") == 3 * PATIENCE
    assert comparison.end is None
