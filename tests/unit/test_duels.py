from dataclasses import replace
from itertools import permutations

from referee.duels import Duel, duels, rings
from referee.model import GameRecord, SeatHolder
from tests.support.records import version_of


def game(deal: int, *bots: str, ranks: tuple[int, ...] = ()) -> GameRecord:
    """A record that says what duels read: who sat in which deal, the first one best unless ranks say otherwise."""
    return GameRecord(
        league="thursday",
        night=1,
        match="-vs-".join(sorted(bots)),
        deal=f"night 1/{'-vs-'.join(sorted(bots))}/{deal}",
        rotation=0,
        refill="start",
        seats=tuple(SeatHolder(bot, version_of(bot)) for bot in bots),
        deck="",
        moves=(),
        festival_turn=None,
        ended="festival",
        faults=(),
        scores=tuple(range(len(bots), 0, -1)),
        ranks=ranks or tuple(range(1, len(bots) + 1)),
    )


def won(winner: str, loser: str, deals: int) -> list[GameRecord]:
    """As many deals, each won by the same bot from both seats."""
    return [
        game(deal, *bots, ranks=(1, 2) if bots[0] == winner else (2, 1))
        for deal in range(deals)
        for bots in permutations((winner, loser))
    ]


def test_a_larger_table_counts_for_each_pair_at_it() -> None:
    met = duels([game(0, "a", "b", "c", ranks=(1, 2, 2)), game(0, "b", "a")])
    assert met["a", "b"] == Duel(games=2, deals=2, points=1.0, verdict=0)
    assert met["b", "a"] == Duel(games=2, deals=2, points=1.0, verdict=0)
    assert met["b", "c"] == Duel(games=1, deals=1, points=0.5, verdict=0)
    assert ("a", "a") not in met


def test_games_of_one_deal_are_one_sample() -> None:
    assert duels(won("a", "b", 4))["a", "b"] == Duel(games=8, deals=4, points=8.0, verdict=0)
    assert duels(won("a", "b", 5))["a", "b"].verdict == 1
    assert duels(won("a", "b", 5))["b", "a"].verdict == -1


def test_decks_that_were_given_by_hand_are_deals_of_their_own() -> None:
    one, other = (game(0, "a", "b") for _ in range(2))
    by_hand = [replace(one, deal=None, deck="x"), replace(other, deal=None, deck="y")]
    assert duels(by_hand)["a", "b"].deals == 2


def test_a_ring_is_named_once_whichever_way_it_turns() -> None:
    assert rings(duels(won("a", "b", 9) + won("b", "c", 9) + won("c", "a", 9))) == (("a", "b", "c"),)
    assert rings(duels(won("b", "a", 9) + won("c", "b", 9) + won("a", "c", 9))) == (("a", "c", "b"),)


def test_a_ring_with_a_result_that_may_be_chance_is_none() -> None:
    assert rings(duels(won("a", "b", 9) + won("b", "c", 9) + won("c", "a", 2))) == ()
    assert rings(duels(won("a", "b", 9) + won("b", "c", 9) + won("a", "c", 9))) == ()
