"""Which places are decided, and which extra deals are due for it: on nights of bots whose strength is known."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from referee.decision import Decision, Gap, plan_so_far, until_decided
from referee.errors import UsageError
from referee.model import GameRecord, NightSettings, UntilDecided, deal_place
from referee.standings import standings
from referee.strength import Interval
from tests.support.decided import night_of, play_out, played
from treelings import Clock

STRENGTHS = {"ann": 2.0, "bob": 1.2, "cyd": -1.0, "dan": -1.2}
AIM = UntilDecided(2, 400)


def extras(records: list[GameRecord]) -> Counter[str]:
    """Extra games by match."""
    return Counter(record.match for record in records if deal_place(record.deal)[1])


def test_the_first_places_are_decided_and_named() -> None:
    records, decision = play_out(night_of(STRENGTHS, AIM), STRENGTHS)
    assert decision.decided
    assert decision.places[:2] == ("ann", "bob")
    assert decision.open == ()
    assert decision.summary == f"Places 1 and 2 are decided at 95 %, after {decision.deals} deals a match: ann, bob."
    assert extras(records)


def test_matches_that_do_not_matter_get_no_extra_deals() -> None:
    records, _ = play_out(night_of(STRENGTHS, AIM), STRENGTHS)
    games = extras(records)
    assert games["cyd-vs-dan"] < games["ann-vs-bob"]
    assert games["ann-vs-cyd"] == games["ann-vs-bob"] == games["bob-vs-dan"]


def test_the_whole_order_takes_more_deals_than_the_first_place() -> None:
    games = [
        sum(extras(play_out(night_of(STRENGTHS, UntilDecided(top, 150)), STRENGTHS)[0]).values()) for top in (1, 4)
    ]
    assert games[0] < games[1]


def test_a_night_whose_order_is_clear_needs_nothing_more_than_its_plan() -> None:
    strengths = {"ann": 20.0, "bob": 10.0, "cyd": 0.0}
    records, decision = play_out(night_of(strengths, UntilDecided(3, 400), deals=20), strengths)
    assert (decision.places, decision.deals, len(records)) == (("ann", "bob", "cyd"), 20, 3 * 20 * 2)


def test_equals_play_to_the_cap_and_stay_open() -> None:
    strengths = {"ann": 0.0, "bob": 0.0, "cyd": -9.0}
    records, decision = play_out(night_of(strengths, UntilDecided(1, 37)), strengths)
    assert not decision.decided
    assert decision.deals == 37
    assert {(gap.ahead, gap.behind) for gap in decision.open} in ({("ann", "bob")}, {("bob", "ann")})
    assert decision.summary == "Place 1 is not decided at 95 %, after 37 deals a match."
    assert max(deal_place(record.deal)[0] for record in records) == 36


def test_before_the_round_robin_is_complete_nothing_is_decided_or_due_beyond_it() -> None:
    night = night_of(STRENGTHS, AIM)
    plan, _ = plan_so_far("thursday", night, ())
    records = [played(game, {"ann": 9, "bob": 5, "cyd": 0, "dan": -5}) for match in plan for game in match.games]
    again, decision = plan_so_far("thursday", night, records[1:])
    assert again == plan
    assert decision
    assert (decision.complete, decision.places, decision.decided) == (False, (None,) * 4, False)
    assert decision.summary.startswith("No place is decided before every match")


@pytest.mark.parametrize("seed", range(3))
def test_what_is_due_follows_from_the_records_in_whatever_order_they_come(seed: int) -> None:
    night = night_of(STRENGTHS, AIM)
    records, decision = play_out(night, STRENGTHS)
    shuffled = Random(seed).sample(records, len(records))
    plan, again = plan_so_far("thursday", night, shuffled)
    assert again == decision
    assert {game.id for match in plan for game in match.games} == {record.id for record in records}


@pytest.mark.parametrize("kept", [0, 130, 300])
def test_a_night_that_was_interrupted_anywhere_ends_with_the_same_games(kept: int) -> None:
    night = night_of(STRENGTHS, AIM)
    records, decision = play_out(night, STRENGTHS)
    assert len(records) > kept
    again, same = play_out(night, STRENGTHS, records[:kept])
    assert {record.id for record in again} == {record.id for record in records}
    assert same == decision


def test_half_a_batch_is_due_whole_whatever_its_half_would_decide() -> None:
    night = night_of(STRENGTHS, AIM)
    records, _ = play_out(night, STRENGTHS, looks=2)
    plan, _ = plan_so_far("thursday", night, records)
    half = [record for record in records if not deal_place(record.deal)[1] or deal_place(record.deal)[0] % 2]
    again, _ = plan_so_far("thursday", night, half)
    due = {game.id for match in again for game in match.games}
    assert {record.id for record in records} == due <= {game.id for match in plan for game in match.games}


def test_more_deals_decide_more_and_never_less() -> None:
    night = night_of(STRENGTHS, UntilDecided(4, 150))
    before: set[str | None] = set()
    for looks in range(1, 9):
        _, decision = play_out(night, STRENGTHS, looks=looks)
        assert before <= set(decision.places)
        before = {bot for bot in decision.places if bot}


@pytest.mark.parametrize("seats", [(3,), (2, 4)])
def test_larger_tables_decide_as_well(seats: tuple[int, ...]) -> None:
    strengths = {"ann": 3.0, "bob": 1.5, "cyd": 0.0, "dan": -1.5}
    records, decision = play_out(night_of(strengths, UntilDecided(2, 300), seats=seats), strengths)
    assert decision.places[:2] == ("ann", "bob")
    by_deal = Counter(record.deal for record in records)
    assert all(games == len(record.seats) for record in records for games in [by_deal[record.deal]])


def test_a_wrong_order_is_decided_in_few_nights_of_equals() -> None:
    wrong = 0
    nights = 20
    for number in range(nights):
        strengths = {"ann": 0.0, "bob": 0.0, "cyd": 1e-9 * number}  # as good as equal, and another night each time
        _, decision = play_out(night_of(strengths, UntilDecided(1, 30)), strengths)
        wrong += any(decision.places)
    assert wrong <= 0.05 * nights


def test_decided_places_are_those_of_the_standings() -> None:
    records, decision = play_out(night_of(STRENGTHS, UntilDecided(4, 200)), STRENGTHS)
    ranks = {row.bot: row.rank for row in standings(records)}
    decided = {bot: place for place, bot in enumerate(decision.places, 1) if bot}
    assert len(decided) >= 2
    assert decided == {bot: ranks[bot] for bot in decided}


def test_an_extra_deal_counts_in_the_standings_for_a_bot_that_had_it_in_all_its_matches() -> None:
    records, decision = play_out(night_of(STRENGTHS, AIM), STRENGTHS)
    rows = {row.bot: row for row in standings(records)}
    assert rows["ann"].games == rows["bob"].games == 3 * 2 * decision.deals
    of_cyd = min(decision.matches[match] for match in decision.matches if "cyd" in match)
    assert rows["cyd"].games == 3 * 2 * of_cyd
    broken = [record for record in records if record.id != "night 1/ann-vs-bob/+12/r1"]
    assert {row.bot: row.games for row in standings(broken)}["ann"] == rows["ann"].games - 3 * 2


def test_gaps_name_who_is_ahead_with_an_interval_around_nothing() -> None:
    _, decision = play_out(night_of(STRENGTHS, UntilDecided(4, 20)), STRENGTHS)
    gap = decision.open[0]
    assert {gap.ahead, gap.behind} == {"cyd", "dan"}
    assert gap.score.low is not None
    assert gap.score.high is not None
    assert gap.score.low < 0 <= gap.score.mean < gap.score.high


def test_a_night_without_the_wish_has_its_plan_and_no_decision() -> None:
    night = night_of(STRENGTHS, AIM)
    records, _ = play_out(night, STRENGTHS)
    plan, decision = plan_so_far("thursday", replace(night, until_decided=None), records)
    assert decision is None
    assert sum(len(match.games) for match in plan) == 6 * 10 * 2


@pytest.mark.parametrize(
    ("places", "open_", "says"),
    [
        (("ann", None, None), 1, "Place 1 is decided at 95 %, after 1 deal a match: ann. Places 2 and 3 are not."),
        ((None, None, None), 1, "Places 1, 2 and 3 are not decided at 95 %, after 1 deal a match."),
        (("ann", "bob", "cyd"), 0, "Places 1, 2 and 3 are decided at 95 %, after 1 deal a match: ann, bob, cyd."),
    ],
)
def test_the_summary_says_which_places_are_decided(places: tuple[str | None, ...], open_: int, says: str) -> None:
    gaps = (Gap("bob", "cyd", Interval(0.1, -0.1, 0.2)),) * open_
    assert Decision(places, 3, gaps, 1, {}, complete=True).summary == says


@pytest.mark.parametrize(
    ("top", "at_most", "says"),
    [
        (0, None, "expected 1 to 3 places, as many as there are bots, got 0"),
        (4, None, "expected 1 to 3 places, as many as there are bots, got 4"),
        (2, 9, "expected at least the 10 deals of the plan, got 9"),
        (2, 1_000_000, "expected no more than 1,000,000 games a night, got 6,000,000"),
    ],
)
def test_a_wish_that_cannot_be(top: int, at_most: int | None, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        until_decided(top, at_most, bots=3, settings=NightSettings((2,), 10, "start", None, Clock()))


@pytest.mark.parametrize(("deals", "most"), [(10, 400), (100, 400), (1_000, 4_000)])
def test_the_cap_is_400_deals_or_four_times_a_long_plan(deals: int, most: int) -> None:
    settings = NightSettings((2,), deals, "start", None, Clock())
    assert until_decided(1, None, bots=3, settings=settings) == UntilDecided(1, most)
