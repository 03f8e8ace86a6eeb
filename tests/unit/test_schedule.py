from collections import Counter
from itertools import combinations, pairwise

import pytest

from referee.errors import UsageError
from referee.model import MatchSpec, NightSettings
from referee.schedule import MAX_BOTS, count_games, count_matches, plan_match, plan_night, planning_effort, seat_orders
from tests.support.records import BOTS
from treelings import Clock


def settings(seats: tuple[int, ...] = (2,), deals: int = 1, max_tables: int | None = None) -> NightSettings:
    return NightSettings(seats=seats, deals=deals, refill="start", max_tables=max_tables, clock=Clock())


def night(bots: int | list[str], night_settings: NightSettings) -> tuple[MatchSpec, ...]:
    names = [f"bot{number:03}" for number in range(bots)] if isinstance(bots, int) else bots
    return plan_night(league="thursday", night=1, bots=names, settings=night_settings)


@pytest.mark.parametrize("bots", range(2, 13))
def test_every_pair_meets_once_at_two_seats(bots: int) -> None:
    matches = night(bots, settings())
    met = Counter(match.bots for match in matches)
    assert met == Counter(combinations([f"bot{number:03}" for number in range(bots)], 2))


@pytest.mark.parametrize("bots", range(2, 13))
def test_in_a_round_no_bot_plays_twice_and_an_odd_one_has_a_bye(bots: int) -> None:
    matches = night(bots, settings())
    rounds = {match.round for match in matches}
    assert rounds == set(range(bots - 1 + bots % 2))
    for number in rounds:
        players = [bot for match in matches if match.round == number for bot in match.bots]
        assert len(players) == len(set(players)) == bots - bots % 2


@pytest.mark.parametrize("seats", [3, 4, 5])
def test_all_tables_of_three_to_five_seats_are_played_where_they_are_affordable(seats: int) -> None:
    matches = night(list(BOTS[:7]), settings((seats,)))
    assert [match.bots for match in matches] == list(combinations(BOTS[:7], seats))


def test_max_tables_chooses_that_many_different_tables() -> None:
    matches = night(9, settings((4,), max_tables=20))
    assert len({match.id for match in matches}) == len(matches) == 20


def test_max_tables_leaves_two_seats_alone() -> None:
    assert len(night(9, settings((2,), max_tables=3))) == 36


def test_a_night_may_mix_table_sizes() -> None:
    matches = night(5, settings((2, 4)))
    assert Counter(len(match.bots) for match in matches) == {2: 10, 4: 5}
    last_of_two = max(match.round for match in matches if len(match.bots) == 2)
    assert {match.round for match in matches if len(match.bots) == 4} == {last_of_two + 1}


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_each_deal_is_played_once_in_each_rotation(players: int) -> None:
    bots = BOTS[:players]
    match = plan_match(league="", night=1, bots=bots, deals=3, refill="end")
    assert len(match.games) == 3 * players
    for deal in range(3):
        games = match.games[deal * players : (deal + 1) * players]
        assert [game.rotation for game in games] == list(range(players))
        assert len({game.deal_id for game in games}) == 1
        for game in games:
            for seat in range(players):
                assert game.bots[(seat + game.rotation) % players] == games[0].bots[seat]


@pytest.mark.parametrize("players", [3, 4, 5])
def test_the_base_order_of_a_table_varies_over_all_cyclic_orders(players: int) -> None:
    orders = seat_orders(players)
    match = plan_match(league="", night=1, bots=BOTS[:players], deals=len(orders) + 1, refill="start")
    bases = [game.bots for game in match.games if game.rotation == 0]
    assert len(set(bases)) == len(orders)
    assert bases[-1] == bases[0]


@pytest.mark.parametrize("players", [4, 5])
def test_the_first_orders_spread_who_sits_beside_whom(players: int) -> None:
    half = len(seat_orders(players)) // 2
    for count in range(1, half + 1):
        beside: Counter[frozenset[int]] = Counter()
        for order in seat_orders(players)[:count]:
            beside.update(frozenset(pair) for pair in pairwise((*order, order[0])))
        met = [beside[frozenset(pair)] for pair in combinations(range(players), 2)]
        assert max(met) - min(met) <= 1


def test_ids_say_night_match_deal_and_rotation() -> None:
    match = plan_match(league="thursday", night=1, bots=["random", "greedy"], deals=2, refill="start")
    assert match.id == "greedy-vs-random"
    assert [game.id for game in match.games] == [
        "night 1/greedy-vs-random/0/r0",
        "night 1/greedy-vs-random/0/r1",
        "night 1/greedy-vs-random/1/r0",
        "night 1/greedy-vs-random/1/r1",
    ]
    assert match.games[0].deal_id == "night 1/greedy-vs-random/0"
    assert match.games[1].bots == ("random", "greedy")


@pytest.mark.parametrize(("prefix", "deal"), [(None, "greedy-vs-random/0"), ("my deal", "my deal/0")])
def test_outside_a_league_the_deal_is_named_by_its_prefix_or_its_match(prefix: str | None, deal: str) -> None:
    match = plan_match(league="", night=None, bots=["greedy", "random"], deals=1, refill="start", deal_prefix=prefix)
    assert match.games[0].deal_id == deal


def test_game_ids_are_unique_in_a_night() -> None:
    games = [game.id for match in night(6, settings((2, 3, 4, 5), deals=3)) for game in match.games]
    assert len(games) == len(set(games))


def test_two_hundred_bots_have_their_plan() -> None:
    assert len(night(200, settings())) == 19_900


def test_a_table_larger_than_the_number_of_bots_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        night(list(BOTS[:3]), settings((2, 4)))
    there = "a table of 4 needs 4 bots, the night has 3 (amber, birch, cedar)"
    assert str(refused.value) == f"seats: {there}; add bots, or set seats lower"
    with pytest.raises(UsageError, match=r"needs 2 bots, the night has 1 \(amber\); add bots$"):
        night(list(BOTS[:1]), settings((2, 4)))
    with pytest.raises(UsageError, match=r"needs 2 bots, the night has none; add bots$"):
        night([], settings((2, 4)))


def test_a_plan_beyond_all_bounds_is_refused_before_it_is_built() -> None:
    with pytest.raises(UsageError, match="max_tables"):
        night(200, settings((5,)))


@pytest.mark.parametrize("bots", [MAX_BOTS + 1, 2_000])
def test_more_bots_than_a_night_may_have_are_refused(bots: int) -> None:
    with pytest.raises(UsageError, match=f"at most {MAX_BOTS:,} a night, got {bots:,}"):
        night(bots, settings((5,), max_tables=20))


def test_a_choice_of_tables_that_would_take_too_long_is_refused_with_what_would_do() -> None:
    with pytest.raises(UsageError, match="max_tables: expected at most 200 tables of 5 seats for 1,000 bots"):
        night(1_000, settings((5,), max_tables=20_000))


@pytest.mark.parametrize("seats", [(2,), (3,), (2, 4), (3, 5)])
@pytest.mark.parametrize("most", [None, 4, 30, 1_000])
def test_the_games_of_a_night_are_counted_without_planning_it(seats: tuple[int, ...], most: int | None) -> None:
    for bots in (5, 6, 9):
        planned = night(bots, settings(seats, deals=2, max_tables=most))
        assert count_games(bots, settings(seats, deals=2, max_tables=most)) == sum(len(m.games) for m in planned)
        assert count_matches(bots, settings(seats, deals=2, max_tables=most)) == len(planned)


def test_only_a_choice_among_tables_takes_effort_and_leaving_few_out_is_as_little_as_taking_few() -> None:
    assert planning_effort(9, settings((2, 4))) == 0
    assert planning_effort(9, settings((2,), max_tables=1)) == 0
    assert planning_effort(9, settings((4,), max_tables=126)) == 0
    assert planning_effort(9, settings((4,), max_tables=10)) == 10 * 4 * 9
    assert planning_effort(9, settings((4,), max_tables=116)) == 10 * 4 * 9


def test_a_bot_that_is_named_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="got amber more than once"):
        night(["amber", "birch", "amber"], settings())


def test_bots_whose_names_give_two_tables_the_same_id_are_refused() -> None:
    with pytest.raises(UsageError, match="share the match id a-vs-vs-b"):
        night(["a", "vs-b", "a-vs", "b"], settings())


@pytest.mark.parametrize("seats", [(1,), (6,), (3, 2), (2, 2)])
def test_table_sizes_that_cannot_be_are_refused(seats: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="seats"):
        night(7, settings(seats))


def test_no_deals_are_refused() -> None:
    with pytest.raises(UsageError, match="deals"):
        night(3, settings(deals=0))


def test_no_tables_are_refused() -> None:
    with pytest.raises(UsageError, match="max_tables"):
        night(5, settings((3,), max_tables=0))


@pytest.mark.parametrize("bots", [["a"], ["a", "a"], list("abcdef")])
def test_a_table_that_cannot_be_seated_is_refused(bots: list[str]) -> None:
    with pytest.raises(UsageError, match="table: expected"):
        plan_match(league="", night=None, bots=bots, deals=1, refill="start")
