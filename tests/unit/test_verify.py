import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from referee.errors import RecordError
from referee.leaderboard import leaderboard, standings_json
from referee.model import BotEntry, GameRecord, Night, NightSettings, UntilDecided, VoidGame
from referee.records import to_json
from referee.site_size import check_bots
from referee.sitefile import site_json
from referee.verify import Report, verify
from tests.support.decided import decided_league
from tests.support.records import BOTS, random_league, version_of
from tests.support.results import result
from tests.support.sites import write_records, write_site
from treelings import derive_deck

LEAGUE = "thursday"
GAME = "night 1/amber-vs-birch/0/r0"


@cache
def league(*, revealed: bool = True) -> tuple[tuple[Night, ...], tuple[GameRecord, ...]]:
    return random_league(Random(3), bots=BOTS[:4], seats=(2, 3), deals=1, revealed=revealed)


def site_of(folder: Path, nights: tuple[Night, ...], records: tuple[GameRecord, ...]) -> Path:
    return write_site(folder / "site", LEAGUE, nights, records)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return site_of(tmp_path, *league())


def edit(path: Path, change: Callable[[str], str]) -> None:
    text = path.read_bytes().decode()
    changed = change(text)
    assert changed != text
    path.write_bytes(changed.encode())


def change_game(site: Path, change: Callable[[GameRecord], GameRecord], game: str = GAME) -> None:
    """Rewrite the site with one record changed, standings included: only the record itself can give it away."""
    nights, records = league()
    changed = tuple(change(record) if record.id == game else record for record in records)
    assert changed != records
    shutil.rmtree(site)
    write_site(site, LEAGUE, nights, changed)


def with_night(site: Path, night: Night) -> None:
    nights, _ = league()
    (site / "league.json").write_text(site_json(LEAGUE, (night, *nights[1:])))


def only(report: Report) -> str:
    """The one difference of a report."""
    assert len(report.differences) == 1, report.differences
    assert not report.ok
    return report.differences[0]


class TestExtraDeals:
    """A night that went on until it was decided: the deals that were due, all of them, and no other."""

    AIM = UntilDecided(1, 12)

    def site(self, tmp_path: Path, change: Callable[[tuple[GameRecord, ...]], tuple[GameRecord, ...]]) -> Report:
        nights, records = decided_league(BOTS[:3], self.AIM)
        return verify([site_of(tmp_path, nights, change(records))])

    def test_those_that_were_due_are_verified(self, tmp_path: Path) -> None:
        report = self.site(tmp_path, lambda records: records)
        assert (report.differences, report.notes) == ((), ())
        assert report.summary == "verified: 72 games, 36 decks, standings identical"

    def test_a_game_that_is_missing_is_told(self, tmp_path: Path) -> None:
        gone = "night 1/amber-vs-birch/+11/r1"
        report = self.site(tmp_path, lambda records: tuple(record for record in records if record.id != gone))
        assert only(report) == f"night 1, game {gone}: expected a record or an entry as void, got neither"
        assert report.summary == "not verified: 1 difference in 71 games"

    def test_a_missing_game_is_told_before_the_deals_that_were_not_due_without_it(self, tmp_path: Path) -> None:
        report = self.site(tmp_path, lambda records: tuple(record for record in records if record.id != GAME))
        missing, *outside = (text for text in report.differences if "standings" not in text)
        assert missing == f"night 1, game {GAME}: expected a record or an entry as void, got neither"
        assert outside
        assert all("expected only games of the plan" in text for text in outside)

    def test_a_deal_that_was_not_due_is_told(self, tmp_path: Path) -> None:
        nights, records = decided_league(BOTS[:3], self.AIM)
        less = replace(nights[0], until_decided=UntilDecided(1, 11))
        report = verify([site_of(tmp_path, (less,), records)])
        assert len(report.differences) == 6
        assert all("+11/r" in text and "expected only games of the plan" in text for text in report.differences)

    def test_a_night_that_was_not_to_go_on_has_none(self, tmp_path: Path) -> None:
        nights, records = decided_league(BOTS[:3], self.AIM)
        report = verify([site_of(tmp_path, (replace(nights[0], until_decided=None),), records)])
        assert len(report.differences) == 66

    def test_its_deck_follows_from_the_secret_like_any_other(self, tmp_path: Path) -> None:
        other = derive_deck(bytes(32), "another deal")
        report = self.site(
            tmp_path,
            lambda records: tuple(
                replace(record, deck=other) if record.deal == "night 1/amber-vs-birch/+3" else record
                for record in records
            ),
        )
        assert sum("deck: expected the one that follows from the secret" in text for text in report.differences) == 2


class TestSite:
    def test_an_honest_site_is_verified(self, site: Path) -> None:
        report = verify([site])
        assert report.differences == ()
        assert report.ok
        assert report.summary == "verified: 48 games, 20 decks, standings identical"
        assert report.notes == ()

    def test_the_order_of_the_lines_does_not_matter(self, site: Path) -> None:
        edit(site / "records" / "night-1.jsonl", lambda text: "".join(reversed(text.splitlines(keepends=True))))
        assert verify([site]).ok

    def test_decks_are_unproven_while_the_secret_is_not_revealed(self, tmp_path: Path) -> None:
        report = verify([site_of(tmp_path, *league(revealed=False))])
        assert report.ok
        assert report.decks == 0
        assert report.notes[0] == "night 1: secret not yet revealed: decks unproven"

    def test_a_night_that_is_still_played_is_a_note(self, tmp_path: Path) -> None:
        nights, records = league(revealed=False)
        playing = (nights[0], replace(nights[1], finished=None))
        partly = tuple(record for record in records if record.night == 1) + records[-3:]
        report = verify([site_of(tmp_path, playing, partly)])
        assert report.ok
        assert "night 2: not finished: 3 of 24 games recorded" in report.notes

    def test_a_night_without_any_record_yet_needs_no_file(self, tmp_path: Path) -> None:
        nights, _ = league(revealed=False)
        site = site_of(tmp_path, (replace(nights[0], finished=None),), ())
        (site / "records" / "night-1.jsonl").unlink()
        assert verify([site]).ok

    def test_a_game_listed_as_void_needs_no_record(self, tmp_path: Path) -> None:
        nights, records = league()
        voided = replace(nights[0], voids=(VoidGame(GAME, ("the engine was gone",)),))
        report = verify(
            [site_of(tmp_path, (voided, nights[1]), tuple(record for record in records if record.id != GAME))]
        )
        assert report.ok
        assert report.notes == ("night 1: 1 games listed as void",)


class TestSiteDiffers:
    def test_a_secret_that_is_not_the_one_committed_to(self, site: Path) -> None:
        with_night(site, replace(league()[0][0], secret="ab" * 32))
        assert "whose SHA-256 is the commitment" in only(verify([site]))

    def test_a_commitment_used_twice(self, site: Path) -> None:
        nights, _ = league()
        with_night(site, replace(nights[0], commitment=nights[1].commitment, secret=nights[1].secret))
        assert any("a commitment of its own" in text for text in verify([site]).differences)

    def test_a_deck_that_does_not_follow_from_the_secret(self, site: Path) -> None:
        other = derive_deck(bytes(32), "picked")
        change_game(site, lambda record: replace(record, deck=other))
        assert any(f"game {GAME}: deck: expected the one" in text for text in verify([site]).differences)

    def test_two_decks_for_one_deal_even_before_the_secret_is_revealed(self, tmp_path: Path) -> None:
        nights, records = league(revealed=False)
        other = replace(records[0], deck=derive_deck(bytes(32), "picked"))
        differences = verify([site_of(tmp_path, nights, (other, *records[1:]))]).differences
        assert any("deck: expected the same in every rotation" in text for text in differences)

    def test_a_game_that_breaks_the_rules(self, site: Path) -> None:
        change_game(site, lambda record: replace(record, festival_turn=3))
        assert f"game {GAME}: festival_turn: expected" in only(verify([site]))

    def test_a_planned_game_that_is_missing(self, tmp_path: Path) -> None:
        nights, records = league()
        site = site_of(tmp_path, nights, tuple(record for record in records if record.id != GAME))
        assert only(verify([site])) == (f"night 1, game {GAME}: expected a record or an entry as void, got neither")

    def test_a_missing_game_of_a_night_whose_secret_is_out_although_it_is_not_finished(self, tmp_path: Path) -> None:
        nights, records = league()
        closed = (replace(nights[0], finished=None), nights[1])
        site = site_of(tmp_path, closed, tuple(record for record in records if record.id != GAME))
        assert "got neither" in only(verify([site]))

    def test_a_missing_game_of_a_night_that_is_said_to_be_played_still_although_another_came_after_it(
        self, tmp_path: Path
    ) -> None:
        nights, records = league()
        open_still = (replace(nights[0], finished=None, secret=None), nights[1])
        site = site_of(tmp_path, open_still, tuple(record for record in records if record.id != GAME))
        assert "got neither" in only(verify([site]))

    def test_a_game_outside_the_plan(self, site: Path) -> None:
        change_game(site, lambda record: replace(record, deal="night 1/amber-vs-birch/7"))
        report = verify([site])
        assert any("game night 1/amber-vs-birch/7/r0: expected only games of the plan" in text for text in
                   report.differences)  # fmt: skip

    def test_a_game_that_is_recorded_twice(self, site: Path) -> None:
        edit(site / "records" / "night-1.jsonl", lambda text: text + text.splitlines()[0] + "\n")
        assert "expected each game once, got it again" in only(verify([site]))

    def test_a_void_that_is_recorded_too(self, site: Path) -> None:
        with_night(site, replace(league()[0][0], voids=(VoidGame(GAME, ("no engine",)),)))
        assert "expected a record or an entry as void, got both" in only(verify([site]))

    def test_a_void_outside_the_plan(self, site: Path) -> None:
        with_night(site, replace(league()[0][0], voids=(VoidGame("night 1/nobody/0/r0", ("no engine",)),)))
        assert "void game night 1/nobody/0/r0: expected only games of the plan" in only(verify([site]))

    def test_seats_that_are_not_the_planned_ones(self, site: Path) -> None:
        change_game(site, lambda record: replace(record, seats=record.seats[::-1]))
        assert f"game {GAME}: seats: expected amber, birch, got birch, amber" in only(verify([site]))

    def test_a_version_that_the_night_did_not_freeze(self, site: Path) -> None:
        def later(record: GameRecord) -> GameRecord:
            return replace(record, seats=(replace(record.seats[0], version=version_of("amber", 9)), record.seats[1]))

        change_game(site, later)
        assert "version of amber: expected sha256:" in verify([site]).differences[0]

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"league": "friday"}, "expected league 'thursday', got 'friday'"),
            ({"league": "thu\u0433sday"}, r"expected league 'thursday', got 'thu\u0433sday'"),
            ({"night": 2}, "night: expected 1, got 2"),
            ({"match": "amber-vs-cedar"}, "match: expected 'amber-vs-birch', got 'amber-vs-cedar'"),
        ],
    )
    def test_a_record_that_says_it_belongs_elsewhere(
        self, site: Path, change: dict[str, str | int], words: str
    ) -> None:
        line = {"league": LEAGUE, "night": 1, "match": "amber-vs-birch"} | change
        path = site / "records" / "night-1.jsonl"
        lines = [json.loads(text) for text in path.read_text().splitlines()]
        path.write_text(
            "".join(
                json.dumps(value | line if f"{value['deal']}/r{value['rotation']}" == GAME else value) + "\n"
                for value in lines
            )
        )
        assert any(f"{GAME}: {words}" in text for text in verify([site]).differences)

    def test_settings_that_make_another_plan(self, site: Path) -> None:
        night = league()[0][0]
        with_night(site, replace(night, settings=replace(night.settings, deals=2)))
        differences = verify([site]).differences
        assert len(differences) == 24
        assert all("got neither" in text for text in differences)

    def test_settings_that_make_no_plan(self, site: Path) -> None:
        night = league()[0][0]
        with_night(site, replace(night, bots=night.bots[:2]))
        assert any("night 1: seats: a table of 3 needs 3 bots" in text for text in verify([site]).differences)

    def test_a_records_file_that_is_missing_is_told_first_and_what_follows_is_counted(self, site: Path) -> None:
        (site / "records" / "night-1.jsonl").unlink()
        first, games, values = verify([site]).differences
        assert first == "records/night-1.jsonl: expected by league.json, not there"
        assert games == "night 1: games without a record, as follows from the above: 24"
        assert values.startswith("standings: values that differ, as they must without all records: ")

    def test_what_follows_from_a_broken_line_is_counted(self, site: Path) -> None:
        edit(site / "records" / "night-2.jsonl", lambda text: text.replace("{", "[", 1))
        line, games, _ = verify([site]).differences
        assert line.startswith("night-2.jsonl, line 1: expected a JSON object")
        assert games == "night 2: games without a record, as follows from the above: 1"

    def test_what_a_file_before_the_site_lacks_excuses_nothing_of_the_site(self, site: Path, tmp_path: Path) -> None:
        (tmp_path / "games.jsonl").write_text("oops\n")
        edit(site / "standings.json", lambda text: text.replace('"rank": 1', '"rank": 9'))
        _, *differences = verify([tmp_path / "games.jsonl", site]).differences
        assert all("key rank" in text for text in differences)

    def test_a_broken_line_excuses_no_more_games_than_itself(self, site: Path) -> None:
        edit(site / "records" / "night-2.jsonl", lambda text: "oops\n" + text.split("\n", 2)[2])
        differences = verify([site]).differences
        assert sum("got neither" in text for text in differences) == 2

    def test_a_records_file_of_no_night(self, site: Path) -> None:
        write_records(site / "records" / "night-9.jsonl", [])
        assert "records/night-9.jsonl: expected only" in only(verify([site]))

    def test_a_standing_that_was_improved_names_bot_and_key(self, site: Path) -> None:
        value = json.loads((site / "standings.json").read_text())
        row = next(row for row in value["season"] if row["bot"] == "birch")
        row["score"] = 0.987654
        (site / "standings.json").write_text(json.dumps(value, sort_keys=True, indent=1) + "\n")
        text = only(verify([site]))
        assert text.startswith("standings.json, season, bot birch, key score: expected 0.")
        assert text.endswith("got 0.987654")

    def test_a_standing_of_a_night_that_was_changed_names_the_night(self, site: Path) -> None:
        value = json.loads((site / "standings.json").read_text())
        value["nights"][1]["standings"][0]["faults"] += 1
        (site / "standings.json").write_text(json.dumps(value, sort_keys=True, indent=1) + "\n")
        assert "standings.json, night 2, bot" in only(verify([site]))

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda rows: rows.pop(), "got no row for it"),
            (lambda rows: rows.append(rows[0] | {"bot": "ghost"}), "expected no bot ghost"),
        ],
    )
    def test_a_bot_that_is_missing_or_made_up(
        self, site: Path, change: Callable[[list[dict[str, object]]], object], words: str
    ) -> None:
        value = json.loads((site / "standings.json").read_text())
        change(value["season"])
        (site / "standings.json").write_text(json.dumps(value))
        assert words in only(verify([site]))

    def test_a_rating_that_was_improved_names_bot_and_key(self, site: Path) -> None:
        value = json.loads((site / "standings.json").read_text())
        value["season"][0]["elo"] += 0.1
        (site / "standings.json").write_text(json.dumps(value, sort_keys=True, indent=1) + "\n")
        assert re.match(r"standings\.json, season, bot \w+, key elo: expected [-.\d]+, got ", only(verify([site])))

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda seats: seats[0].update(significant="yes"), "key seats[0].significant: expected"),
            (lambda seats: seats[0].update(significant=not seats[0]["significant"]), "seat 0 of 2, key significant"),
            (lambda seats: seats.pop(0), "seat 0 of 2: expected what it is worth, got nothing"),
            (lambda seats: seats.append(seats[0] | {"players": 5}), "seat 0 of 5: expected nothing"),
        ],
    )
    def test_a_seat_that_was_changed_is_named(
        self, site: Path, change: Callable[[list[dict[str, object]]], object], words: str
    ) -> None:
        value = json.loads((site / "standings.json").read_text())
        change(value["seats"])
        (site / "standings.json").write_text(json.dumps(value))
        assert words in only(verify([site]))

    def test_standings_of_an_older_version_are_to_be_published_again(self, site: Path) -> None:
        edit(site / "standings.json", lambda text: text.replace("treelings-standings/2", "treelings-standings/1"))
        assert only(verify([site])).endswith("makes it anew with: treelings league publish")

    def test_standings_of_another_league(self, site: Path) -> None:
        (site / "standings.json").write_text(standings_json(leaderboard("friday", league()[1])))
        assert only(verify([site])) == "standings.json, key league: expected 'thursday', got 'friday'"

    def test_standings_as_csv_that_were_changed_name_the_line(self, site: Path) -> None:
        edit(site / "standings.csv", lambda text: text.replace("amber", "Amber"))
        difference = only(verify([site]))
        assert difference.startswith("standings.csv, line ")
        assert "amber,sha256:" in difference
        assert "Amber,sha256:" in difference

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda text: text + "2,ghost\r\n", "expected '', got '2,ghost"),
            (lambda text: text[: text.index("\n")], "line 2: expected '1,"),
            (lambda text: text.replace("\r\n", "\n"), r"er_bound,provisional\r', got …'er_bound,provisional'"),
            (lambda text: text.replace("provisional", "provi\u0455ional"), r"nd,provi\u0455ional\r'"),
            (lambda text: text * 100, "standings.csv: expected"),
        ],
    )
    def test_standings_as_csv_with_lines_too_many_too_few_or_of_another_form(
        self, site: Path, change: Callable[[str], str], words: str
    ) -> None:
        edit(site / "standings.csv", change)
        assert words in only(verify([site]))

    def test_standings_that_are_not_there_as_csv(self, site: Path) -> None:
        (site / "standings.csv").unlink()
        assert "standings.csv: expected a file, got none" in only(verify([site]))

    @pytest.mark.parametrize(
        "change",
        [
            lambda value: value["season"].insert(0, value["season"][0] | {"elo": 9999.0}),
            lambda value: value["season"].reverse(),
            lambda value: value["seats"].insert(0, value["seats"][0] | {"elo": 9999.0}),
            lambda value: value["nights"].append(value["nights"][0]),
            lambda value: value.update(comment="all is well"),
        ],
    )
    def test_rows_twice_in_another_order_or_with_keys_besides_are_not_called_right(
        self, site: Path, change: Callable[[dict[str, list[dict[str, object]]]], object]
    ) -> None:
        value = json.loads((site / "standings.json").read_text())
        change(value)
        (site / "standings.json").write_text(json.dumps(value))
        assert "expected each row once, in the order of the ranks" in only(verify([site]))

    def test_the_same_standings_in_another_text(self, site: Path) -> None:
        edit(site / "standings.json", lambda text: text + "\n")
        assert "not the canonical one" in only(verify([site]))


def with_times(game: GameRecord, *times: float) -> GameRecord:
    """The game with other times of seat 0's first moves; all its other moves take none."""
    left = iter(times)
    return replace(
        game, moves=tuple(replace(move, ms=next(left, 0.0) if move.seat == 0 else 0.0) for move in game.moves)
    )


class TestClocks:
    """The made-up league's clock: 1,000 ms a move, 20,000 ms in the bank, 100 ms for each answer."""

    @pytest.mark.parametrize("ms", [1_000, 1_000.4, 1_001])
    def test_a_move_may_take_its_limit_and_what_rounding_may_add(self, site: Path, ms: float) -> None:
        change_game(site, lambda record: with_times(record, ms))
        assert verify([site]).ok

    def test_a_move_beyond_the_limit_of_a_move_differs(self, site: Path) -> None:
        change_game(site, lambda record: with_times(record, 5.0, 1_001.5))
        assert only(verify([site])) == (
            f"night 1, game {GAME}: turn 2: ms: expected at most 1000, the limit of seat 0, got 1001.5"
        )

    def test_a_move_beyond_what_was_left_in_the_bank_differs(self, site: Path) -> None:
        nights, _ = league()
        settings = nights[0].settings
        short = replace(settings, clock=settings.clock._replace(bank_ms=1_500, increment_ms=10))
        change_game(site, lambda record: with_times(record, 900.0, 610.0, 2.0))
        with_night(site, replace(nights[0], settings=short))
        # 1500 - 900 + 10 = 610, - 610 + 10 = 10
        assert verify([site]).ok
        change_game(site, lambda record: with_times(record, 900.0, 610.0, 11.5))
        with_night(site, replace(nights[0], settings=short))
        assert "turn 4: ms: expected at most 10, the limit of seat 0, got 11.5" in only(verify([site]))

    def test_seats_have_clocks_of_their_own_and_those_that_forfeited_none(self, tmp_path: Path) -> None:
        nights, records = random_league(Random(5), bots=BOTS[:3], nights=1, seats=(3,), deals=4, fault_chance=0.02)
        settings = nights[0].settings
        strict = replace(settings, clock=settings.clock._replace(bank_ms=40, increment_ms=0))
        slow = tuple(
            replace(record, moves=tuple(replace(move, ms=0.0 if move.by_referee else 1.5) for move in record.moves))
            for record in records
        )
        assert any(move.by_referee for record in slow for move in record.moves)
        assert max(len(record.moves) for record in slow) * 1.5 > 41
        assert verify([site_of(tmp_path, (replace(nights[0], settings=strict),), slow)]).ok


class TestFiles:
    def test_records_alone_are_replayed(self, tmp_path: Path) -> None:
        _, records = league()
        path = write_records(tmp_path / "games.jsonl", records[:5])
        report = verify([path])
        assert report.summary == "verified: 5 games, 0 decks"
        assert report.notes == ("games.jsonl: no secret given: decks unproven",)

    def test_with_the_secret_decks_are_proven(self, tmp_path: Path) -> None:
        nights, records = league()
        assert nights[0].secret is not None
        path = write_records(tmp_path / "games.jsonl", records[:4])
        report = verify([path], secret=bytes.fromhex(nights[0].secret))
        assert report.summary == "verified: 4 games, 2 decks"
        assert report.notes == ()

    def test_another_secret_proves_the_deck_wrong(self, tmp_path: Path) -> None:
        path = write_records(tmp_path / "games.jsonl", league()[1][:1])
        assert "deck: expected the one that follows" in only(verify([path], secret=bytes(32)))

    def test_a_deck_given_by_hand_is_a_note(self, tmp_path: Path) -> None:
        path = write_records(tmp_path / "games.jsonl", [replace(league()[1][0], deal=None)] * 2)
        report = verify([path])
        assert report.ok
        assert "given by hand" in report.notes[0]

    def test_more_than_a_thousand_notes_are_left_out(self, tmp_path: Path) -> None:
        path = write_records(tmp_path / "games.jsonl", [replace(league()[1][0], deal=None)] * 1_003)
        report = verify([path])
        assert (report.games, len(report.notes)) == (1_003, 1_001)
        assert report.notes[-1] == "further notes are left out"

    def test_a_game_twice_in_a_file_is_told(self, tmp_path: Path) -> None:
        path = write_records(tmp_path / "games.jsonl", [league()[1][0]] * 2)
        assert "line 2" in only(verify([path]))

    def test_a_bad_line_does_not_hide_those_behind_it(self, tmp_path: Path) -> None:
        path = tmp_path / "games.jsonl"
        path.write_text("oops\n" + to_json(league()[1][0]) + "\n")
        report = verify([path])
        assert report.games == 1
        assert only(report).startswith("games.jsonl, line 1: expected a JSON object")

    def test_several_paths_add_up(self, site: Path, tmp_path: Path) -> None:
        path = write_records(tmp_path / "games.jsonl", league()[1][:1])
        assert verify([site, path]).games == 49


class TestHostile:
    def test_a_missing_file_is_a_difference(self, tmp_path: Path) -> None:
        assert "expected a file, got none" in only(verify([tmp_path / "nothing.jsonl"]))

    def test_a_folder_that_is_no_site_is_a_difference(self, tmp_path: Path) -> None:
        assert "league.json: expected a file, got none" in only(verify([tmp_path]))

    def test_a_pipe_is_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "games.jsonl")
        assert "got something else" in only(verify([tmp_path / "games.jsonl"]))

    def test_a_line_without_end_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "games.jsonl").write_bytes(b"[" * 200_000)
        assert "at most 65536 bytes" in only(verify([tmp_path / "games.jsonl"]))

    @pytest.mark.parametrize("name", ["league.json", "standings.json"])
    @pytest.mark.parametrize("text", ["", "[" * 100_000, "\x1b[2J", '{"format": "\u202e"}', "null", "{}"])
    def test_files_that_are_not_what_they_say_give_one_printable_line(self, site: Path, name: str, text: str) -> None:
        (site / name).write_text(text)
        difference = only(verify([site]))
        assert name in difference
        assert difference.isprintable()

    def test_bytes_that_are_no_text_are_told(self, site: Path) -> None:
        (site / "league.json").write_bytes(b"\xff")
        assert "league.json: expected UTF-8 text" in only(verify([site]))

    def test_everything_that_is_shown_is_printable(self, tmp_path: Path) -> None:
        evil = "\x1b]0;pwned\x07\u202e\n"
        nights, records = league()
        changed = replace(
            records[0], league=evil, deal=evil, match=evil, moves=(replace(records[0].moves[0], move=evil[:9]),)
        )
        site = site_of(tmp_path, nights, (changed, *records[1:]))
        report = verify([site, write_records(tmp_path / f"x{evil.replace('/', '')}", [changed])])
        assert not report.ok
        assert all(text.isprintable() for text in (*report.differences, *report.notes))

    def test_no_more_than_a_hundred_differences_are_told(self, tmp_path: Path) -> None:
        path = tmp_path / "games.jsonl"
        path.write_text("oops\n" * 1_000)
        report = verify([path])
        assert (len(report.differences), report.untold) == (100, 900)
        assert report.summary == "not verified: 1000 differences in 0 games"

    @pytest.mark.parametrize("name", ["league.json", "standings.json", "standings.csv", "records/night-1.jsonl"])
    def test_no_file_of_a_site_may_be_a_pipe(self, site: Path, name: str) -> None:
        (site / name).unlink()
        os.mkfifo(site / name)
        report = verify([site])
        assert any(f"{name}: expected a file, got something else" in text for text in report.differences)

    def test_nights_of_more_games_than_can_be_checked_are_not_planned(self, site: Path) -> None:
        (site / "league.json").write_text(site_json(LEAGUE, [planned(n, bots=1_000, seats=2) for n in (1, 2)]))
        assert "at most 1,000,000 games in all, got 1,998,000" in only(verify([site]))

    def test_nights_whose_tables_take_too_long_to_choose_are_not_planned(self, site: Path) -> None:
        nights = [planned(n, bots=100, seats=5, max_tables=1_000) for n in range(1, 22)]
        (site / "league.json").write_text(site_json(LEAGUE, nights))
        assert "chosen in time: bots x seats x chosen tables at most 10,000,000" in only(verify([site]))

    def test_a_night_whose_tables_take_too_long_to_choose_is_not_planned(self, site: Path) -> None:
        (site / "league.json").write_text(site_json(LEAGUE, [planned(1, bots=900, seats=3, max_tables=1_000)]))
        assert any("night 1: max_tables: expected at most 370" in text for text in verify([site]).differences)

    @pytest.mark.parametrize(
        ("bots", "nights", "aim", "says"),
        [
            (201, 1, UntilDecided(1, 1), "night 1: until-decided: expected a night of at most 200 bots, got 201"),
            (100, 1, UntilDecided(1, 10_000), "night 1: at-most-deals: expected no more than 1,000,000 games a night"),
            (200, 26, UntilDecided(1, 1), "at most 500,000 pairs of bots in all, got 517,400"),
        ],
    )
    def test_nights_whose_order_takes_too_long_to_decide_are_not_planned(
        self, site: Path, bots: int, nights: int, aim: UntilDecided, says: str
    ) -> None:
        found = [
            replace(planned(n, bots=bots, seats=5, max_tables=100), until_decided=aim) for n in range(1, nights + 1)
        ]
        (site / "league.json").write_text(site_json(LEAGUE, found))
        assert says in only(verify([site]))

    @pytest.mark.parametrize("ranks", [(2, 2), (2, 3), (3, 1)])
    def test_ranks_that_cannot_be_are_told_and_rated(self, site: Path, ranks: tuple[int, ...]) -> None:
        path = site / "records" / "night-1.jsonl"
        _, records = league()
        wrong = (replace(record, ranks=ranks) if record.id == GAME else record for record in records)
        write_records(path, (record for record in wrong if record.night == 1))
        assert any(f"{GAME}: ranks: expected [" in text for text in verify([site]).differences)

    def test_records_of_more_bots_than_can_be_rated_are_not_rated(self) -> None:
        names = [f"bot{number:04}" for number in range(1_001)]
        records = [result(pair, (1, 2)) for pair in pairwise(names)]
        check_bots(records[:-1])
        with pytest.raises(RecordError, match=r"rated in time: .* got 2,006,006,002 with 1,001 bots"):
            check_bots(records)

    def test_standings_of_a_million_wrong_rows_are_not_taken_apart(self, site: Path) -> None:
        head = '{"format":"treelings-standings/2","league":"thursday","nights":[],"season":['
        (site / "standings.json").write_text(head + ",".join(['{"bot":1}'] * 1_000_000) + "]}")
        assert "characters, got 10,000,077" in only(verify([site]))

    def test_of_many_wrong_rows_the_first_is_named(self, site: Path) -> None:
        head = '{"format":"treelings-standings/2","league":"thursday","nights":[],"season":['
        (site / "standings.json").write_text(head + ",".join(["{}"] * 1_000) + "]}")
        assert "key season[0].rank: expected it to be there" in only(verify([site]))


def planned(number: int, *, bots: int, seats: int, max_tables: int | None = None) -> Night:
    """A night that was just opened."""
    night = league()[0][0]
    return replace(
        night,
        number=number,
        finished=None,
        secret=None,
        commitment=f"{number:064x}",
        settings=NightSettings((seats,), 1, "start", max_tables, night.settings.clock),
        bots=tuple(BotEntry(f"bot{place}", "", version_of("bot")) for place in range(bots)),
    )
