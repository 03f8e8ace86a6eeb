"""A league whose disk is full: it says so, loses nothing that was recorded, and goes on as if nothing had been."""

import errno
import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from referee.cli.records_file import RecordsFile
from referee.errors import RefereeError, StoreError
from referee.league import League
from referee.loop import run
from referee.model import GameSpec
from referee.publish import publish_site
from referee.records import to_json
from referee.submissions import take_in
from tests.support.league import FakeSandbox, Tables, Told, new_league
from tests.support.records import AtHand, random_league
from tests.support.submissions import bot_folder

BOTS = ("ann", "bob", "cyd", "dan")
SETTINGS = "deals = 20"  # 240 games, of which each match has 40


def play(league: League, tables: Tables | None = None) -> None:
    run(league.run(FakeSandbox(), progress=Told(), jobs=1, seat=tables or Tables()))


def lines(league: League) -> list[str]:
    return [to_json(record) for record in league.records()]


@contextmanager
def no_larger_files(size_bytes: int) -> Iterator[None]:
    """No file may become larger in this process."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only who may mount disks has a small one")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill(disk: Path) -> None:
    """Take all room that is left, in a file "ballast"."""
    with pytest.raises(OSError, match="No space left"):
        (disk / "ballast").write_bytes(bytes(2**20))


@pytest.fixture
def undisturbed(tmp_path: Path) -> list[str]:
    """The records of a league that had room for all of them."""
    with new_league(tmp_path / "undisturbed", BOTS, settings=SETTINGS) as league:
        play(league)
        return lines(league)


def interrupted(league: League, games: int, fill: Callable[[], None]) -> list[str]:
    """Let the disk be full after so many games; what is recorded then."""
    played = []

    def before(game: GameSpec) -> None:
        played.append(game.id)
        if len(played) == games:
            fill()

    with pytest.raises(StoreError) as full:
        play(league, Tables(before=before))
    assert "make room there and try again: all that was recorded is kept" in str(full.value)
    assert "league.db" in str(full.value)
    return lines(league)


def test_a_league_on_a_full_disk_goes_on_where_it_was_once_there_is_room(
    small_disk: Path, undisturbed: list[str]
) -> None:
    with new_league(small_disk, BOTS, settings=SETTINGS) as league:
        kept = interrupted(league, 100, lambda: fill(small_disk))
        assert 80 <= len(kept) <= 100  # two matches had come to their end
        assert set(kept) <= set(undisturbed)
        with pytest.raises(StoreError, match="database or disk is full; make room there"):
            play(league)
        assert lines(league) == kept
        (small_disk / "ballast").unlink()
        play(league)
        assert lines(league) == undisturbed
        assert league.status().next.startswith("treelings league reveal")


def test_a_database_that_may_not_grow_any_more_keeps_what_it_has(tmp_path: Path, undisturbed: list[str]) -> None:
    with new_league(tmp_path, BOTS, settings=SETTINGS) as league:
        league.open_night()
        size = (league.folder / "league.db").stat().st_size
        with no_larger_files(size + 100_000), pytest.raises(StoreError, match="see whether the disk is full or fails"):
            play(league)
        kept = lines(league)
        assert set(kept) < set(undisturbed)
        play(league)
        assert lines(league) == undisturbed


def test_a_file_of_records_keeps_what_it_held_where_there_is_no_room_for_a_game_in_its_place(tmp_path: Path) -> None:
    _, games = random_league(Random(3), nights=1, deals=1)
    path = tmp_path / "games.jsonl"
    path.write_text("what it held\n")
    with no_larger_files(1_000), RecordsFile(path) as file, pytest.raises(OSError, match="File too large") as full:
        file.write(games)
    assert full.value.filename == str(path)
    assert path.read_text() == "what it held\n"
    with RecordsFile(path) as file:
        file.write(games[:1])
        file.write(games[1:])
    assert path.read_text() == "".join(to_json(game) + "\n" for game in games)


def test_a_site_that_has_no_room_leaves_the_old_one_and_says_what_to_do(tmp_path: Path) -> None:
    nights, records = random_league(Random(3), nights=1, deals=1)
    publish_site(tmp_path / "site", league="thursday", nights=nights, games=AtHand(records[:2]))
    old = {path: path.read_bytes() for path in (tmp_path / "site").rglob("*") if path.is_file()}
    with no_larger_files(10_000), pytest.raises(RefereeError, match="File too large; make room there"):
        publish_site(tmp_path / "site", league="thursday", nights=nights, games=AtHand(records))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == old


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of all that is synced, in order."""
    paths: list[str] = []
    sync = os.fsync

    def noted(number: int) -> None:
        paths.append(str(Path(f"/proc/self/fd/{number}").readlink()))
        sync(number)

    monkeypatch.setattr(os, "fsync", noted)
    return paths


def test_the_commitments_are_on_the_disk_before_and_after_the_site_takes_its_place(
    tmp_path: Path, synced: list[str]
) -> None:
    nights, records = random_league(Random(3), nights=1, deals=1)
    publish_site(tmp_path / "site", league="thursday", nights=nights, games=AtHand(records))
    file, folder, place = synced
    assert file == f"{folder}/league.json"
    assert folder.startswith(f"{tmp_path}/.treelings-publish-site-")
    assert place == str(tmp_path)


def test_all_files_of_a_bot_are_on_the_disk_before_it_is_called_one_of_the_league(
    tmp_path: Path, synced: list[str]
) -> None:
    source = bot_folder(tmp_path, "ann", files={"lib/deep/table.bin": "1 2 3"})
    with new_league(tmp_path, ()) as league:
        bots = league.folder / "bots"
        added = league.add(source)
        *copied, place = synced
        copy = Path(copied[-1])  # a folder comes after what it holds
        held = {path.relative_to(added.submission.folder) for path in added.submission.folder.rglob("*")}
        assert {Path(path).relative_to(copy) for path in copied} == {Path(), *held}
        assert len(held) == 5  # bot.toml, bot.py, lib, deep, table.bin
        assert copy.parent.parent == bots
        assert copy.parent.name.startswith(".new-")  # so they were before the copy took its place
        assert place == str(bots)
        synced.clear()
        assert not league.add(source).changed
        assert synced == [place]  # whoever copied them may not have come to that


def test_a_bot_whose_files_the_disk_did_not_take_is_none_of_the_league(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with new_league(tmp_path, ()) as league:
        with monkeypatch.context() as broken_disk:
            broken_disk.setattr(os, "fsync", failing)
            with pytest.raises(OSError, match="Input/output error"):
                league.add(bot_folder(tmp_path, "ann"))
        assert league.bots() == ()
        assert list((league.folder / "bots").iterdir()) == []
        assert league.add(bot_folder(tmp_path, "ann")).changed


def test_copies_for_a_match_or_a_trial_wait_for_no_disk(tmp_path: Path, synced: list[str]) -> None:
    take_in(bot_folder(tmp_path, "ann"), tmp_path)
    assert synced == []
