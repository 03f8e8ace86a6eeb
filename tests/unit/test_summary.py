"""What a match is summed up to: by deals, not by games."""

import json
from dataclasses import replace
from random import Random
from statistics import fmean

import pytest

from referee.model import GameRecord, PlayedMove
from referee.schedule import plan_match
from referee.standings import points, standings
from referee.strength import mean_interval
from referee.summary import as_json, summary
from tests.support.records import BOTS, SECRET, forfeited, random_record


def match(players: int = 3, deals: int = 5) -> list[GameRecord]:
    plan = plan_match(league="", night=None, bots=BOTS[:players], deals=deals, refill="start")
    return [random_record(game, SECRET, Random(number)) for number, game in enumerate(plan.games)]


def test_bots_come_in_the_order_of_the_standings_with_their_rows() -> None:
    records = match()
    assert tuple(bot.standing for bot in summary(records)) == standings(records)


@pytest.mark.parametrize("players", [2, 3, 5])
def test_a_deal_with_all_its_rotations_is_one_sample(players: int) -> None:
    records = match(players)
    for bot in summary(records):
        scores = []
        for deal in dict.fromkeys(record.deal for record in records):
            games = [record for record in records if record.deal == deal]
            assert len(games) == players
            scores.append(
                fmean(
                    float(gained)
                    for game in games
                    for seat, gained in zip(game.seats, points(game.ranks), strict=True)
                    if seat.bot == bot.standing.bot
                )
            )
        expected = mean_interval(scores, bounds=(0.0, 1.0))
        assert bot.score.mean == pytest.approx(bot.standing.score) == pytest.approx(expected.mean)
        assert (bot.score.low, bot.score.high) == pytest.approx((expected.low, expected.high))
        assert bot.margin.mean == pytest.approx(bot.standing.margin)


def test_times_are_those_of_the_bots_own_moves() -> None:
    (game,) = match(2, 1)[:1]
    moves = tuple(
        PlayedMove(seat, "R", float(1 + number), by_referee=number == 99) for number in range(100) for seat in (0, 1)
    )
    slowest, _ = summary([replace(game, moves=moves)])
    assert (slowest.median_ms, slowest.slow_ms) == (50.0, 99.0)  # of 1 to 99: the hundredth was the referee's


def test_a_bot_that_has_never_moved_has_no_times() -> None:
    game = replace(forfeited(2, 1), moves=())
    assert all((bot.median_ms, bot.slow_ms) == (None, None) for bot in summary([game]))


def test_one_deal_says_nothing_of_margins_and_little_of_scores() -> None:
    for bot in summary(match(2, 1)):
        assert (bot.margin.low, bot.margin.high) == (None, None)
        assert bot.score.low is not None
        assert bot.score.high is not None
        assert bot.score.high - bot.score.low > 0.4


def test_the_summary_is_json_with_null_where_nothing_can_be_told() -> None:
    (best, _) = json.loads(json.dumps(as_json(summary(match(2, 1))), allow_nan=False))
    assert best["rank"] == 1
    assert best["games"] == best["wins"] + best["ties"] + best["losses"] == 2
    assert best["margin_95"] == [None, None]
