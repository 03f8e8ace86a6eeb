"""Honest bots have the league that they would have without hostile ones."""

from pathlib import Path

import pytest

from tests.support.mixed_league import honest_bots, hostile_bots, names, order, play, what_was_played

HOSTILE = ("flood_ping", "garbage_text", "illegal_move", "late_reply", "trailers_only")
"""Kinds that fail in different ways and quickly; `python -m tests.support.mixed_league` plays with all of them."""


@pytest.mark.docker
@pytest.mark.usefixtures("runtime_image")
def test_honest_bots_play_the_same_games_to_the_same_standings_among_hostile_ones(tmp_path: Path) -> None:
    bots = honest_bots(tmp_path, 3)
    honest = names(3)
    alone = play(tmp_path / "alone", bots, deals=1, startup_ms=10_000)
    mixed = play(tmp_path / "mixed", [*bots, *hostile_bots(tmp_path, HOSTILE)], deals=1, startup_ms=10_000)
    assert mixed.summary.finished
    assert mixed.summary.voids == ()
    played = mixed.among(honest)
    assert len(played) == len(alone.records) == 6
    assert what_was_played(played) == what_was_played(alone.records)
    assert order(played) == order(alone.records)
    at_fault = [record.seats[fault.seat].bot for record in mixed.records for fault in record.faults]
    assert set(at_fault) == set(HOSTILE)
    for record in mixed.records:
        seated = {seat.bot for seat in record.seats}
        if len(seated & honest) == 1:
            assert {record.seats[fault.seat].bot for fault in record.faults} == seated - honest
