from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from referee.duels import duels
from referee.leaderboard import leaderboard, standings_csv, standings_json
from referee.model import GameRecord
from referee.standings import points, standings
from tests.support.records import BOTS, random_league

RANKS = st.lists(st.integers(1, 5), min_size=2, max_size=5)


@cache
def league() -> tuple[GameRecord, ...]:
    return random_league(Random(7), bots=BOTS[:5], seats=(2, 3), deals=1, fault_chance=0.03)[1]


@cache
def told() -> tuple[str, str, list[object]]:
    return texts(league())


def texts(records: Sequence[GameRecord]) -> tuple[str, str, list[object]]:
    board = leaderboard("x", records)
    return standings_json(board), standings_csv(board.season), list(duels(records).items())


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32))
def test_the_order_of_the_records_changes_nothing(seed: int) -> None:
    assert texts(Random(seed).sample(league(), len(league()))) == told()


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 50))
def test_rows_add_up_in_any_part_of_a_season(seed: int, count: int) -> None:
    records = Random(seed).sample(league(), count)
    rows = standings(records)
    assert sum(row.games for row in rows) == sum(len(record.seats) for record in records)
    assert all(row.wins + row.ties + row.losses == row.games for row in rows)
    assert sum(row.faults for row in rows) == sum(len(record.faults) for record in records)
    assert all(0 <= row.score <= 1 for row in rows)
    assert [row.score for row in rows] == sorted((row.score for row in rows), reverse=True)
    assert [row.rank for row in rows] == sorted(row.rank for row in rows)
    for at, row in enumerate(rows):
        assert row.rank == at + 1 or row.rank == rows[at - 1].rank


@given(RANKS)
def test_the_points_of_a_game_sum_to_half_its_seats(places: list[int]) -> None:
    assert sum(points(places)) == Fraction(len(places), 2)


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 50))
def test_what_one_bot_gains_against_another_the_other_lacks(seed: int, count: int) -> None:
    met = duels(Random(seed).sample(league(), count))
    for (bot, other), duel in met.items():
        assert duel.points + met[other, bot].points == duel.games == met[other, bot].games
        assert duel.verdict == -met[other, bot].verdict
        assert duel.deals <= duel.games
