import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from referee.errors import SandboxError
from referee.sandbox.folders import SOCKET, RunFolder, base_folder, dead_runs, wipe
from referee.sandbox.run import Run


@pytest.fixture
def short_base() -> Iterator[Path]:
    """A base with a short path, and on the file system that the real one is on."""
    with tempfile.TemporaryDirectory(prefix="t", dir=base_folder()) as folder:
        yield Path(folder)


def dead_run() -> Run:
    return replace(Run.new(), started="1")


def test_a_bots_socket_path_stays_under_100_bytes_whatever_the_process_ids_are() -> None:
    longest = Run("f" * 8, "f" * 8, 2**22, "9" * 12)

    for kind in ("docker", "process"):
        assert len(os.fsencode(RunFolder(kind, longest, Path("/dev/shm")).path / ("f" * 8) / SOCKET)) < 100


def test_a_base_that_makes_socket_paths_too_long_is_refused(tmp_path: Path) -> None:
    base = tmp_path / ("x" * 80)
    base.mkdir()

    with pytest.raises(SandboxError, match="expected under 100"):
        RunFolder("docker", Run.new(), base).create()


def test_nobody_else_may_look_into_a_runs_folder(short_base: Path) -> None:
    folder = RunFolder("docker", Run.new(), short_base)
    folder.create()

    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert folder.add().stat().st_mode & 0o777 == 0o700
    folder.remove()


def test_every_bot_gets_another_folder(short_base: Path) -> None:
    folder = RunFolder("docker", Run.new(), short_base)
    folder.create()

    assert len({folder.add() for _ in range(20)}) == 20
    folder.remove()


def test_only_dead_runs_of_the_same_kind_are_leftovers(short_base: Path) -> None:
    dead = RunFolder("docker", dead_run(), short_base)
    for folder in (
        dead,
        RunFolder("docker", Run.new(), short_base),
        RunFolder("process", dead_run(), short_base),
        RunFolder("docker", replace(dead_run(), where="00000000"), short_base),
    ):
        folder.create()
    (short_base / "treelings-docker-something").mkdir()
    (short_base / "somebody-elses").mkdir()

    assert [folder.path for folder in dead_runs("docker", short_base)] == [dead.path]


def test_a_link_that_is_named_like_a_dead_run_is_left_alone(short_base: Path) -> None:
    target = short_base / "target"
    target.mkdir()
    RunFolder("docker", dead_run(), short_base).path.symlink_to(target)

    assert dead_runs("docker", short_base) == []


def test_a_folder_that_is_gone_already_is_no_error(tmp_path: Path) -> None:
    wipe(tmp_path / "gone")


def test_runs_that_sweep_the_same_leftover_at_the_same_time_do_not_disturb_each_other(short_base: Path) -> None:
    for attempt in range(10):
        leftover = short_base / str(attempt)
        for bot in range(50):
            (leftover / f"{bot}" / "folder").mkdir(parents=True)
            (leftover / f"{bot}" / "file").touch()
        with ThreadPoolExecutor(4) as sweepers:
            list(sweepers.map(wipe, [leftover] * 4))
        assert not leftover.exists()


def test_wiping_takes_everything_and_follows_no_link(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("kept")
    folder = tmp_path / "folder"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "file").write_text("x")
    (folder / "a" / "link").symlink_to(kept)
    (folder / "link").symlink_to(kept)
    os.mkfifo(folder / "a" / "b" / "fifo")

    wipe(folder)

    assert not folder.exists()
    assert (kept / "file").read_text() == "kept"


def test_folders_that_a_bot_closed_to_everybody_are_wiped(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b").chmod(0)
    (folder / "a").chmod(0)

    wipe(folder)

    assert not folder.exists()


def test_no_depth_of_nesting_ends_the_wiping(short_base: Path) -> None:
    folder = short_base / "folder"
    folder.mkdir()
    here = os.open(folder, os.O_RDONLY)
    try:
        for _ in range(3_000):
            os.mkdir("d", dir_fd=here)
            deeper = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = deeper
    finally:
        os.close(here)

    wipe(folder)

    assert not folder.exists()


def test_the_sockets_are_on_the_hosts_tmpfs_where_there_is_one() -> None:
    if not Path("/dev/shm").is_dir():
        pytest.skip("no /dev/shm here")
    assert base_folder() == Path("/dev/shm")
