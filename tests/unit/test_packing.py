"""A bot's archive: the same files make the same bytes, and what it lacks or names wrongly is told."""

import gzip
import json
import os
import pwd
import random
import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from referee.archives import MAX_ARCHIVE_BYTES
from referee.errors import BotFileError, SubmissionError
from referee.packing import archive, pack
from referee.submissions import MAX_PATH, File, inspect, read, take_in
from referee.vendoring import lacks_packages, packed_already, with_packages
from tests.support.submissions import bot_folder

NODE = 'name = "ann"\nauthor = "A"\ncommand = ["node", "bot.js"]\nruntime = "node"\n'
NATIVE = 'name = "ann"\nauthor = "A"\ncommand = ["./bot"]\nruntime = "native"\n'


def test_an_archive_is_the_same_version_as_its_folder(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann", files={"data/x": "1", ".git/config": "", "run": "#!"})
    (folder / "run").chmod(0o755)
    bot, path = pack(folder, tmp_path / "ann.tar.gz")
    assert bot.version == inspect(folder).version == take_in(path, tmp_path).version


def test_the_same_files_make_the_same_archive_whenever_they_were_written(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann")
    _, first = pack(folder, tmp_path / "first")
    (folder / "bot.py").touch()
    (folder / "bot.py").chmod(0o600)
    _, second = pack(folder, tmp_path / "second")
    assert first.read_bytes() == second.read_bytes()


def test_an_archive_tells_nothing_of_who_made_it() -> None:
    with tarfile.open(fileobj=BytesIO(gzip.decompress(archive([File("bot", b"x", executable=True)])))) as tar:
        (entry,) = tar.getmembers()
    assert (entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname, entry.mode) == (0, 0, 0, "", "", 0o755)


def test_packages_without_a_lock_are_not_fetched(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann", toml=NODE, files={"bot.js": "", "package.json": '{"dependencies": {}}'})
    with pytest.raises(SubmissionError, match=r"ann: expected package-lock\.json beside package\.json"):
        pack(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_packages_that_no_file_names_are_the_bots_own(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann", toml=NODE, files={"bot.js": "", "node_modules/mine/index.js": "1"})
    _, path = pack(folder, tmp_path / "out")
    assert "node_modules/mine/index.js" in {file.path for file in read(path)[1]}


@pytest.mark.parametrize(
    ("place", "why"),
    [("/dev/null", "Not a directory"), (f"/{'x' * 300}", "File name too long")],
)
def test_who_cannot_keep_a_samples_packages_is_told_to_name_another_place_and_plays_without(
    place: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", place)
    folder = bot_folder(tmp_path, "ann", toml=NODE, files={"bot.js": "", "package.json": '{"dependencies": {}}'})
    assert packed_already(folder) is None
    with pytest.raises(
        SubmissionError, match=rf"kept in {place}/treelings, which cannot be made: {why}; set XDG_CACHE"
    ):
        with_packages(folder)


def test_a_user_whom_the_machine_does_not_know_plays_without_a_samples_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(_: int) -> pwd.struct_passwd:
        raise KeyError

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    folder = bot_folder(tmp_path, "ann", toml=NODE, files={"bot.js": "", "package.json": '{"dependencies": {}}'})
    assert packed_already(folder) is None
    with pytest.raises(
        SubmissionError, match="ann: its packages are kept in a folder of this user, who has none; set XDG"
    ):
        with_packages(folder)


def test_a_bot_without_the_packages_that_it_names_is_told_how_they_come_in(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann", toml=NODE, files={"bot.js": "", "package.json": '{"dependencies": {}}'})
    assert lacks_packages(folder)
    with pytest.raises(
        SubmissionError, match=r"package\.json: expected the packages .* `treelings pack` to hand it in"
    ):
        read(folder)
    (folder / "node_modules").mkdir()
    (folder / "node_modules/index.js").touch()
    assert read(folder)[0].name == "ann"


def test_what_is_wrong_with_a_bot_is_said_of_its_own_folder(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann", toml=NATIVE)
    with pytest.raises(BotFileError, match=rf"^{folder}/bot\.toml: command: expected a file of the bot, got './bot'"):
        pack(folder, tmp_path / "out")


def test_a_native_bot_is_built_first(tmp_path: Path) -> None:
    makefile = "bot:\n\techo built > bot\n\tchmod +x bot\n"
    folder = bot_folder(tmp_path, "ann", toml=NATIVE, files={"Makefile": makefile})
    _, path = pack(folder, tmp_path / "out")
    assert {file.path: file.executable for file in read(path)[1]}["bot"]


def test_a_build_that_fails_is_no_bot(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann", toml=NATIVE, files={"Makefile": "bot:\n\tfalse\n"})
    with pytest.raises(SubmissionError, match="make ended with 2"):
        pack(folder, tmp_path / "out")


def test_the_archive_of_the_last_time_is_no_part_of_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bot_folder(tmp_path, "ann"))
    first, path = pack(Path(), None)
    once = path.read_bytes()
    second, _ = pack(Path(), None)
    assert (second.version, path.read_bytes()) == (first.version, once)


def test_an_archive_that_no_league_would_read_is_not_written(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann")
    (folder / "weights").write_bytes(random.Random(1).randbytes(MAX_ARCHIVE_BYTES))
    with pytest.raises(SubmissionError, match=r"ann: expected an archive of at most 12,000,000 bytes, got 12,0"):
        pack(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_longest_paths_that_may_be_handed_in_can_be_packed(tmp_path: Path) -> None:
    path = f"{'a' * 98}/{'b' * 99}/c"
    assert len(path) == MAX_PATH
    folder = bot_folder(tmp_path, "ann", files={path: "1"})
    bot, packed = pack(folder, tmp_path / "out")
    assert read(packed)[0].version == bot.version == inspect(folder).version


def test_what_cannot_be_handed_in_is_not_even_copied(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann", files={"node_modules/x": "made anew"})
    os.mkfifo(folder / "pipe")
    with pytest.raises(SubmissionError, match=rf"^{folder}: pipe: expected a plain file, got a pipe"):
        pack(folder, tmp_path / "out")


BUILT = [
    "./pkg",
    "pkg @ file:///pkg",
    "-e pkg",
    "https://a.org/p-1.tar.gz",
    "p-1.tar.gz",
    "-r x",
    "p \\\n -i http://a.org",
]


@pytest.mark.parametrize("line", BUILT)
def test_pip_is_asked_for_no_code_that_it_would_run(line: str, tmp_path: Path) -> None:
    folder = bot_folder(
        tmp_path, "ann", files={"requirements.txt": f"# mine\n{line}  # a comment\n", "pkg/setup.py": "1/0"}
    )
    with pytest.raises(SubmissionError, match=r"ann: requirements\.txt: expected names of packages and their versions"):
        pack(folder, tmp_path / "out")


@pytest.mark.npm
def test_a_package_that_is_only_linked_is_told_by_name(tmp_path: Path) -> None:
    lock = {
        "lockfileVersion": 3,
        "packages": {
            "": {"dependencies": {"x": "file:lib"}},
            "lib": {"name": "x", "version": "1.0.0"},
            "node_modules/x": {"resolved": "lib", "link": True},
        },
    }
    files = {
        "bot.js": "",
        "package.json": '{"dependencies": {"x": "file:lib"}}',
        "package-lock.json": json.dumps(lock),
        "lib/package.json": '{"name": "x", "version": "1.0.0"}',
    }
    folder = bot_folder(tmp_path, "ann", toml=NODE, files=files)
    with pytest.raises(SubmissionError, match="ann: its package x is a folder of this machine, which npm only links"):
        pack(folder, tmp_path / "out")
