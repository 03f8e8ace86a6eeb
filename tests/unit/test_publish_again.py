"""Publishing a site again: the same bytes as a new one, and no more work than there is news."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from referee.model import BotEntry, GameRecord, Night
from referee.publish import publish_site
from tests.support.records import AtHand, random_league

League = tuple[tuple[Night, ...], tuple[GameRecord, ...]]
PAGE = "matches/1-amber-vs-birch.html"


@pytest.fixture(scope="module")
def league() -> League:
    return random_league(Random(3), nights=1, deals=1, bots=("amber", "birch", "cedar"))


def publish(folder: Path, nights: Sequence[Night], records: Sequence[GameRecord]) -> Path:
    publish_site(folder / "site", league="thursday", nights=nights, games=AtHand(records))
    return folder / "site"


def contents(site: Path) -> dict[str, bytes]:
    return {str(path.relative_to(site)): path.read_bytes() for path in site.rglob("*") if path.is_file()}


def files(site: Path) -> dict[str, int]:
    """Each file's number on the disk: the same where it was taken over, another where it was written anew."""
    return {str(path.relative_to(site)): path.stat().st_ino for path in site.rglob("*") if path.is_file()}


def test_what_is_published_after_something_else_is_what_is_published_at_once(tmp_path: Path, league: League) -> None:
    nights, records = league
    publish(tmp_path / "grown", nights, records[:1])
    publish(tmp_path / "grown", nights, records[:3])
    grown = publish(tmp_path / "grown", nights, records)
    assert contents(grown) == contents(publish(tmp_path / "new", nights, records))


def test_nothing_is_written_again_that_is_the_same(tmp_path: Path, league: League) -> None:
    before = files(publish(tmp_path, *league))
    after = files(publish(tmp_path, *league))
    assert {name for name in after if after[name] != before[name]} == set()


def test_a_new_game_changes_the_page_of_its_match_and_of_no_other(tmp_path: Path, league: League) -> None:
    nights, records = league
    before = files(publish(tmp_path, nights, records[:-1]))
    after = files(publish(tmp_path, nights, records))
    changed = {name for name in after if name.startswith("matches/") and after[name] != before[name]}
    assert changed == {f"matches/1-{records[-1].match}.html"}


def test_another_author_is_on_the_pages_of_old_matches_too(tmp_path: Path, league: League) -> None:
    (night,), records = league
    publish(tmp_path, [night], records)
    bots = tuple(BotEntry(bot.name, "Nobody before", bot.version) for bot in night.bots)
    site = publish(tmp_path, [replace(night, bots=bots)], records)
    assert "Nobody before" in (site / PAGE).read_text()


def test_a_page_that_was_cut_short_is_made_again(tmp_path: Path, league: League) -> None:
    whole = contents(publish(tmp_path, *league))
    (tmp_path / "site" / PAGE).write_bytes(whole[PAGE][:-1])
    assert contents(publish(tmp_path, *league)) == whole


def test_a_link_in_place_of_a_page_is_not_followed(tmp_path: Path, league: League) -> None:
    whole = contents(publish(tmp_path, *league))
    elsewhere = tmp_path / "elsewhere.html"
    elsewhere.write_bytes(whole[PAGE])
    (tmp_path / "site" / PAGE).unlink()
    (tmp_path / "site" / PAGE).symlink_to(elsewhere)
    site = publish(tmp_path, *league)
    assert not (site / PAGE).is_symlink()
    assert contents(site) == whole
