"""Whole games, turn by turn, as files that a person can follow with cards on a table.

To make the files anew from the naive rules (never from the core): python -m tests.golden.write_games
"""

from pathlib import Path
from typing import cast

import pytest

from treelings import GUILDS, Refill, State

FILES = sorted((Path(__file__).parent / "games").glob("*.txt"))


def test_there_are_golden_games_for_every_table_size_and_refill() -> None:
    assert len({path.stem for path in FILES}) >= 9


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_game_goes_as_written(path: Path) -> None:
    head, *turns, end = [line for line in path.read_text().splitlines() if line and line[0] != "#"]
    players, refill, deck = head.split()
    state = State.deal(deck, int(players), cast("Refill", refill))
    for line in turns:
        turn, seat, market, pile, firefly, move, rows, scores = (part.strip() for part in line.split("|"))
        assert (str(state.turn), str(state.seat)) == (turn, seat)
        assert _market(state) == market, f"market at turn {turn}"
        assert str(state.pile) == pile, f"pile at turn {turn}"
        assert _firefly(state) == firefly, f"firefly at turn {turn}"
        state.play(state.parse(move))
        assert _rows(state) == rows, f"rows after turn {turn}"
        assert _scores(state) == scores, f"scores after turn {turn}"
    assert state.over
    assert f"end {state.festival_turn} {_scores(state)}" == end


def _market(state: State) -> str:
    return "".join(guild * count for guild, count in zip(GUILDS, state.market, strict=True)) or "empty"


def _firefly(state: State) -> str:
    return "out" if state.firefly_out else str(state.above_firefly)


def _rows(state: State) -> str:
    return " / ".join(
        " ".join(f"{guild}{height}" for guild, height in zip(row, state.heights(seat), strict=True))
        for seat, row in enumerate(state.rows)
    )


def _scores(state: State) -> str:
    return " ".join(map(str, state.scores()))
