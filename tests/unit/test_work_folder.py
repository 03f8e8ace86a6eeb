"""Folders to work in: gone with the block, or at the next start where the process was killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from referee.work_folder import work_folder

PREFIX = "made-by-us-"

KILLED = f"""
import os, pathlib, signal
from referee.work_folder import work_folder
with work_folder(pathlib.Path.cwd(), {PREFIX!r}) as folder:
    (folder / "deep").mkdir()
    (folder / "deep" / "file").touch()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_folder_lasts_as_long_as_its_block_and_is_closed_to_others(tmp_path: Path) -> None:
    with work_folder(tmp_path, PREFIX) as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "file").touch()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_goes_with_a_block_that_fails(tmp_path: Path) -> None:
    with pytest.raises(LookupError), work_folder(tmp_path, PREFIX):
        raise LookupError
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_goes_when_the_next_one_comes(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert (left / "deep" / "file").exists()
    with work_folder(tmp_path, PREFIX) as folder:
        assert list(tmp_path.iterdir()) == [folder]


def test_a_folder_in_use_stays(tmp_path: Path) -> None:
    with work_folder(tmp_path, PREFIX) as first, work_folder(tmp_path, PREFIX) as second:
        assert {first, second} == set(tmp_path.iterdir())


def test_nothing_of_anybody_elses_is_touched(tmp_path: Path) -> None:
    kept = {
        "other",
        f"{PREFIX}longer-than-ours",
        f"{PREFIX}shorter",
        "else-where",
        f"{PREFIX}linked__",
        f"{PREFIX}a_file__",
    }
    for name in ("other", f"{PREFIX}longer-than-ours", f"{PREFIX}shorter", "else-where"):
        (tmp_path / name).mkdir()
    (tmp_path / f"{PREFIX}linked__").symlink_to("else-where")
    (tmp_path / f"{PREFIX}a_file__").touch()
    with work_folder(tmp_path, PREFIX):
        pass
    assert {path.name for path in tmp_path.iterdir()} == kept


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder of another user's")
def test_a_folder_of_another_user_stays(tmp_path: Path) -> None:
    others = tmp_path / f"{PREFIX}12345678"
    others.mkdir()
    os.chown(others, 12345, 12345)
    with work_folder(tmp_path, PREFIX):
        assert others.is_dir()
