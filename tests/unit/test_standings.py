from collections.abc import Sequence
from fractions import Fraction

import pytest

from referee.model import Fault, FaultKind, GameRecord, SeatHolder, Standing
from referee.records import ranks
from referee.standings import RANKING_RULES, points, standings
from tests.support.records import version_of


def game(
    result: dict[str, int], *, forfeits: Sequence[str] = (), night: int | None = 1, edition: int = 1
) -> GameRecord:
    """A record that says what standings read: who scored what, and who forfeited, in this order."""
    bots = tuple(result)
    faults = tuple(Fault(bots.index(bot), turn, FaultKind.CRASH, "gone") for turn, bot in enumerate(forfeits, 1))
    scores = tuple(result.values()) if len(bots) - len(faults) >= 2 else None
    return GameRecord(
        league="thursday",
        night=night,
        match="-vs-".join(sorted(bots)),
        deal="deal",
        rotation=0,
        refill="start",
        seats=tuple(SeatHolder(bot, version_of(bot, edition)) for bot in bots),
        deck="",
        moves=(),
        festival_turn=None,
        ended="forfeit" if scores is None else "festival",
        faults=faults,
        scores=scores,
        ranks=ranks(len(bots), scores, faults),
    )


def table(*records: GameRecord) -> dict[str, Standing]:
    return {row.bot: row for row in standings(records)}


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ((1, 2), (Fraction(1), Fraction(0))),
        ((1, 1), (Fraction(1, 2), Fraction(1, 2))),
        ((2, 1, 3), (Fraction(1, 2), Fraction(1), Fraction(0))),
        ((1, 1, 3), (Fraction(3, 4), Fraction(3, 4), Fraction(0))),
        ((1, 2, 2, 4), (Fraction(1), Fraction(1, 2), Fraction(1, 2), Fraction(0))),
        ((1, 1, 1, 1, 1), (Fraction(1, 2),) * 5),
    ],
)
def test_a_bot_gets_a_point_for_each_seat_it_beats_over_the_number_of_others(
    places: tuple[int, ...], expected: tuple[Fraction, ...]
) -> None:
    assert points(places) == expected


def test_the_score_is_the_mean_over_a_bots_games_whatever_their_size() -> None:
    rows = table(game({"a": 9, "b": 1}), game({"a": 5, "b": 7, "c": 3, "d": 1}))
    assert rows["a"].score == pytest.approx((1 + 2 / 3) / 2)
    assert rows["b"].score == pytest.approx((0 + 1) / 2)
    assert rows["d"].score == 0


def test_wins_are_alone_at_the_top_ties_share_it_and_all_else_is_lost() -> None:
    rows = table(game({"a": 9, "b": 9, "c": 3}), game({"a": 9, "b": 8, "c": 3}))
    assert [(row.wins, row.ties, row.losses) for row in (rows["a"], rows["b"], rows["c"])] == [
        (1, 1, 0),
        (0, 1, 1),
        (0, 0, 2),
    ]


def test_the_margin_is_the_points_of_the_game_less_the_mean_of_the_others() -> None:
    rows = table(game({"a": 10, "b": 4, "c": 1}), game({"a": 3, "b": 5}))
    assert rows["a"].margin == pytest.approx(((10 - 2.5) + (3 - 5)) / 2)


def test_a_game_that_ended_by_forfeit_counts_as_margin_0() -> None:
    rows = table(game({"a": 10, "b": 4}), game({"a": 1, "b": 30}, forfeits=["b"]))
    assert rows["a"].margin == 3
    assert rows["a"].wins == 2


def test_a_game_in_which_a_seat_forfeited_but_that_was_played_out_counts_its_margin() -> None:
    rows = table(game({"a": 10, "b": 4, "c": 30}, forfeits=["c"]))
    assert rows["c"].margin == 30 - 7
    assert (rows["c"].rank, rows["c"].score, rows["c"].faults) == (3, 0, 1)


def test_equal_scores_are_broken_first_by_the_games_among_the_tied() -> None:
    rows = table(game({"a": 2, "b": 1}), game({"b": 50, "x": 1}), game({"a": 1, "y": 50}))
    assert rows["a"].score == rows["b"].score == 0.5
    assert rows["a"].margin < rows["b"].margin
    assert rows["a"].rank < rows["b"].rank


def test_among_the_tied_counts_seat_against_seat_at_larger_tables_too() -> None:
    rows = table(game({"a": 5, "x": 4, "b": 3}), game({"b": 50, "y": 1}), game({"a": 1, "y": 50}))
    assert rows["a"].score == rows["b"].score == 0.5
    assert rows["a"].margin < rows["b"].margin
    assert rows["a"].rank < rows["b"].rank


def test_a_tied_bot_that_met_none_of_the_others_stands_between_winner_and_loser() -> None:
    rows = table(
        game({"a": 2, "b": 1}), game({"b": 50, "x": 1}), game({"a": 1, "y": 50}),
        game({"c": 5, "w": 1}), game({"c": 1, "z": 5}),
    )  # fmt: skip
    assert {bot for bot, row in rows.items() if row.score == 0.5} == {"a", "b", "c"}
    assert rows["a"].rank < rows["c"].rank < rows["b"].rank


def test_bots_tied_that_share_no_game_go_on_to_the_margin() -> None:
    rows = table(game({"a": 5, "x": 1}), game({"b": 9, "y": 1}))
    assert (rows["b"].rank, rows["a"].rank) == (1, 2)


def test_equal_margins_are_broken_by_fewer_faults() -> None:
    rows = table(game({"a": 9, "b": 1}, forfeits=["b"]), game({"c": 1, "d": 1}, forfeits=["c", "d"]))
    assert (rows["a"].faults, rows["d"].faults) == (0, 1)
    assert rows["a"].rank == 1
    assert rows["d"].rank == 2


def test_bots_that_are_still_equal_share_the_rank_and_the_next_rank_is_skipped() -> None:
    rows = standings([game({"b": 5, "a": 5}), game({"a": 9, "c": 1}), game({"b": 9, "c": 1})])
    assert [(row.rank, row.bot) for row in rows] == [(1, "a"), (1, "b"), (3, "c")]


def test_the_version_is_that_of_the_latest_night() -> None:
    records = [
        game({"a": 1, "b": 2}, night=2, edition=2),
        game({"a": 1, "b": 2}, night=1, edition=1),
        game({"a": 1, "b": 2}, night=None, edition=3),
    ]
    assert table(*records)["a"].version == version_of("a", 2)


def test_only_bots_that_appear_in_records_have_a_row() -> None:
    assert standings([]) == ()


def test_the_rules_of_ranking_name_every_tie_break() -> None:
    text = " ".join(RANKING_RULES)
    for word in ("mean", "among the tied", "margin", "forfeit", "faults", "share the rank"):
        assert word in text
