"""A small league, kept as files: its format, plan, decks and standings may never change unnoticed.

Made once by `write_site` from `random_league(Random(1), league="golden", bots=BOTS[:3], nights=1, seats=(2, 3),
deals=1, fault_chance=0.01)`; its standings were checked by hand.
"""

from pathlib import Path

import pytest

from referee.leaderboard import leaderboard, standings_json
from referee.records import from_json, problems, read_records, record_lines, to_json
from referee.sitefile import read_site_json, site_json
from referee.standings import standings
from referee.verify import verify

SITE = Path(__file__).parent / "small_league"
RECORDS = SITE / "records" / "night-1.jsonl"


def test_its_site_is_verified() -> None:
    assert verify([SITE]).summary == "verified: 9 games, 4 decks, standings identical"


def test_its_records_are_written_as_they_were_read() -> None:
    for where, line in record_lines(RECORDS):
        record = from_json(line, where)
        assert to_json(record) == line
        assert problems(record) == []


def test_its_standings_are_written_as_they_were() -> None:
    league, nights = read_site_json((SITE / "league.json").read_text())
    assert site_json(league, nights) == (SITE / "league.json").read_text()
    assert standings_json(leaderboard(league, read_records(RECORDS))) == (SITE / "standings.json").read_text()


def test_its_standings_are_those_worked_out_by_hand() -> None:
    """Amber, at two seats: won, lost, won, won by 2, -3, 7, 6; at three: last by 7, second by 2.5, first by -2,
    since the seat with more points had forfeited."""
    amber, birch, cedar = standings(read_records(RECORDS))
    assert (amber.bot, birch.bot, cedar.bot) == ("amber", "birch", "cedar")
    assert amber.score == pytest.approx((1 + 0 + 1 + 1 + 0 + 0.5 + 1) / 7)
    assert amber.margin == pytest.approx((2 - 3 + 7 + 6 - 7 + 2.5 - 2) / 7)
    assert (amber.wins, amber.ties, amber.losses, amber.faults) == (4, 0, 3, 0)
    assert birch.score == pytest.approx((0 + 1 + 1 + 1 + 0.5 + 0 + 0) / 7)
    assert (cedar.wins, cedar.losses, cedar.faults) == (2, 5, 2)
