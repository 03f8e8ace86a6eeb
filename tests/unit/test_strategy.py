"""docs/strategy.md shows the figures that were found, and playing again finds them."""

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import strategy_bots
from bench.strategy import CHARTS, STUDIES, chart_file, fates, main
from bench.strategy_chart import chart
from bench.strategy_page import PAGE, Cell, Study, filled, load
from tests.support.positions import position
from treelings import Move, State, derive_deck

TEXT = PAGE.read_text(encoding="utf-8")
FOUND = load()


def test_the_page_shows_every_study_as_it_is_kept() -> None:
    assert re.findall(r"<!-- study (\w+) -->", TEXT) == list(STUDIES)
    assert list(FOUND) == list(STUDIES)
    assert filled(TEXT, FOUND) == TEXT, "python -m bench.strategy writes the tables anew"


@pytest.mark.parametrize("name", STUDIES)
def test_what_is_kept_is_what_the_study_asks_for(name: str) -> None:
    study, plan = FOUND[name], STUDIES[name]
    assert (study.title, study.heads) == (plan.title, plan.heads)
    assert list(study.rows) == [label for label, _ in plan.rows()]
    assert {len(cells) for cells in study.rows.values()} == {len(plan.heads) - 1}


def test_playing_again_finds_the_same_figures() -> None:
    label, find = next(STUDIES["sides"].rows())
    assert find() == FOUND["sides"].rows[label]


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_of_the_page_is_as_it_is_drawn(name: str) -> None:
    assert f"](pictures/{chart_file(name).name})" in TEXT
    assert chart_file(name).read_text(encoding="utf-8") == chart(FOUND[name])


def test_a_study_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sides", "weather"]) == 2
    assert "no such study: weather; there are: ladder" in capsys.readouterr().err


def test_a_figure_is_shown_with_its_interval() -> None:
    cells = (Cell(61.26, 2.14, 1000, "%"), Cell(99.6, None, None, "%"), Cell(1234, None, None, ""))
    assert [str(cell) for cell in (*cells, Cell(None, None, None, ""))] == ["61.3 % ± 2.1", "100 %", "1,234", ""]


def test_a_table_takes_the_place_of_the_old_one_and_leaves_the_rest() -> None:
    page = "Before.\n\n<!-- study a -->\nold\n<!-- end -->\n\n<!-- study b -->\nkept\n<!-- end -->\nAfter.\n"
    new = filled(page, {"a": Study("Two seats", ("habit", "score"), {"none": (Cell(50, 1, 7, "%"),)})})
    assert "| none | 50.0 % ± 1.0 |\n\nTwo seats; 7 deals: `python -m bench.strategy a`" in new
    assert "old" not in new
    assert new.startswith("Before.\n\n<!-- study a -->\n")
    assert new.endswith("<!-- study b -->\nkept\n<!-- end -->\nAfter.\n")


def test_fates_are_those_of_the_columns_that_are_so_many_cards_ahead() -> None:
    half = position("G2 P4 R1", "O3 B1")  # the line is O B | G P R, and R meets O
    final = position("G2 P4 R6", "O3 B1")  # now P and R: R scores, P does not; O 3 is overtopped, G 2 too
    assert fates(half, final, [1], own=False) == [False]  # G beside B
    assert fates(half, final, [2], own=False) == [False]  # O beside R
    assert fates(half, final, [-2], own=False) == [True]  # R beside O
    assert fates(half, final, [-1], own=False) == [False]  # B beside G
    assert fates(half, final, [2], own=True) == [False]  # P beside G
    assert fates(half, final, [-3], own=True) == []


HABITS = {
    "few": strategy_bots.no_more_columns_than(0),
    "four": strategy_bots.no_more_columns_than(4),
    "many": strategy_bots.as_many_columns_as_there_are,
    "lot": strategy_bots.ends_by_lot,
    "never": strategy_bots.never_singles,
    "always": strategy_bots.always_singles,
    "three": strategy_bots.many_singles,
    "early": strategy_bots.no_new_columns_early,
    "late": strategy_bots.no_new_columns_late,
    "lower": strategy_bots.by_the_lower_neighbour,
    "taller": strategy_bots.by_the_taller_neighbour,
}


@given(st.integers(2, 5), st.integers(0, 30), st.randoms(use_true_random=False))
def test_a_habit_picks_among_the_legal_moves(players: int, turns: int, rng: Random) -> None:
    state = State.deal(derive_deck(rng.randbytes(32), "habit"), players)
    for _ in range(turns):
        if not state.over:
            state.play(rng.choice(state.legal_moves()))
    legal = state.legal_moves()
    picked = {name: habit(state, legal, rng) for name, habit in HABITS.items()} if legal else {}
    assert all(set(moves) <= set(legal) for moves in picked.values())
    if legal:
        assert {columns(state, move) for move in picked["few"]} == {min(columns(state, move) for move in legal)}
        assert {columns(state, move) for move in picked["many"]} == {max(columns(state, move) for move in legal)}
        assert {move.take for move in picked["lot"]} == {move.take for move in legal}
        assert len(picked["lot"]) == len({move.take for move in legal})
        assert set(picked["never"]) | set(picked["always"]) == set(legal)
        assert picked["three"] == (picked["always"] if state.market.count(1) >= 3 else [])
        late = strategy_bots.half_time(state)
        assert [set(picked[name]) for name in ("early", "late")] == [
            set(legal if late is habit else picked["few"]) for habit in (True, False)
        ]
        least = max(4, min(columns(state, move) for move in legal))
        assert all(columns(state, move) <= least for move in picked["four"])


def test_new_columns_go_to_the_end_where_the_other_player_is_lower_or_taller() -> None:
    state = position("P2", "O3 Y1", "B2 G4", market="RRRRR")  # Ann's left is Ben's Y 1, her right Cleo's B 2

    def picked(habit: strategy_bots.Habit) -> list[str]:
        return [move.notation for move in habit(state, state.legal_moves(), Random(1))]

    assert picked(strategy_bots.by_the_lower_neighbour) == ["R<R"]
    assert picked(strategy_bots.by_the_taller_neighbour) == ["R>R"]


def test_half_time_is_when_half_of_the_cards_above_the_firefly_are_gone() -> None:
    piles = [position("P2", "Y1", pile="ROYGBP" * 20)] + [position("P2", "Y1", pile="R" * n) for n in (59, 58, 20)]
    assert [strategy_bots.half_time(state) for state in piles] == [False, False, True, True]


def columns(state: State, move: Move) -> int:
    return len(state.rows[state.seat]) + len(move.left + move.right)


def test_what_a_bot_aims_at_is_what_it_plays() -> None:
    state = position("R5 B2", "G3 Y3", market="RBBBO")

    def best(worth: strategy_bots.Worth) -> set[str]:
        def value(move: Move) -> float:
            after = state.copy()
            after.play(move)
            return worth(after, 0)

        most = max(map(value, state.legal_moves()))
        return {move.notation for move in state.legal_moves() if value(move) == most}

    assert best(strategy_bots.cards) == {"B"}
    assert best(strategy_bots.tallest) == {"*<O", "*>O"}
    assert best(strategy_bots.points_now) == {"B"}
