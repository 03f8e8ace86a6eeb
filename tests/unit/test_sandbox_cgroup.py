import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.errors import SandboxError
from referee.sandbox.cgroup import Group, find_group, try_freezer
from tests.support.cgroups import CONTAINER, PID, FakeMachine
from tests.support.descriptors import open_descriptors

V1 = ("freezer", "cpu,cpuacct", "name=systemd")
DOCKER = f"/docker/{CONTAINER}"  # as the cgroupfs driver names it
SYSTEMD = f"/system.slice/docker-{CONTAINER}.scope"
MACHINES = {
    "version 1, cgroupfs": (V1, False, DOCKER, "freezer", "freezer.state", "FROZEN", "THAWED"),
    "version 1, systemd": (V1, False, SYSTEMD, "freezer", "freezer.state", "FROZEN", "THAWED"),
    "version 2, cgroupfs": ((), False, DOCKER, "", "cgroup.freeze", "1", "0"),
    "version 2, systemd": ((), False, SYSTEMD, "", "cgroup.freeze", "1", "0"),
    "both": (V1, True, DOCKER, "freezer", "freezer.state", "FROZEN", "THAWED"),
    "both, without a freezer in version 1": (("cpu,cpuacct",), True, DOCKER, "", "cgroup.freeze", "1", "0"),
}
EITHER = pytest.mark.parametrize("controllers", [V1, ()], ids=["version 1", "version 2"])


def container(machine: FakeMachine, place: str = DOCKER) -> Group:
    machine.group(place)
    machine.process(place)
    group = find_group(CONTAINER, PID, machine.proc)
    assert group is not None
    return group


def open_below(folder: Path) -> set[str]:
    """The files that are open in there."""
    return {file for _, file in open_descriptors() if Path(file).is_relative_to(folder)}


@pytest.fixture
def both(tmp_path: Path) -> Iterator[tuple[FakeMachine, Group]]:
    machine = FakeMachine(tmp_path, V1, both=True)
    group = container(machine)
    yield machine, group
    group.close()


@pytest.mark.parametrize("name", MACHINES)
def test_a_group_is_frozen_and_released_whatever_the_driver_and_the_version(tmp_path: Path, name: str) -> None:
    controllers, two, place, controller, file, held, released = MACHINES[name]
    machine = FakeMachine(tmp_path, controllers, both=two)
    group = container(machine, place)
    group.prepare_freezer()
    state = machine.file(controller, place, file)

    group.freeze()
    assert state.read_text().startswith(held)
    group.thaw()
    assert state.read_text().startswith(released)
    group.close()


def test_a_group_is_found_where_a_mount_point_has_a_blank_in_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "a name"
    folder.mkdir()
    machine = FakeMachine(folder, V1)
    group = container(machine)

    group.prepare_freezer()
    group.close()


def test_a_group_is_found_where_only_a_part_of_the_hierarchy_is_mounted(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path, ())
    machine.group(f"/{CONTAINER}")
    machine.process(DOCKER)
    mountinfo = machine.proc / "self" / "mountinfo"
    mountinfo.write_text(mountinfo.read_text().replace(" / ", " /docker ", 1))
    group = find_group(CONTAINER, PID, machine.proc)
    assert group is not None

    group.prepare_freezer()
    group.close()


def test_a_process_that_is_gone_has_no_group(tmp_path: Path) -> None:
    assert find_group(CONTAINER, PID, FakeMachine(tmp_path, V1).proc) is None


def test_a_process_of_another_container_or_machine_is_not_taken_for_this_ones(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path, V1, both=True)
    machine.group("/docker/" + "f" * 64)
    machine.process("/docker/" + "f" * 64)

    assert find_group(CONTAINER, PID, machine.proc) is None


@EITHER
def test_processor_time_is_told_in_milliseconds(tmp_path: Path, controllers: tuple[str, ...]) -> None:
    machine = FakeMachine(tmp_path, controllers)
    group = container(machine)
    if controllers:
        machine.file("cpu,cpuacct", DOCKER, "cpuacct.usage").write_text("1234567890\n")
    else:
        machine.file("", DOCKER, "cpu.stat").write_text("usage_usec 1234567\nuser_usec 1\nthrottled_usec 0\n")

    assert group.cpu_used_ms() == pytest.approx(1_234.567, abs=0.001)
    times = group.cpu_times()
    assert times is not None
    assert times.used_ms == pytest.approx(1_234.567, abs=0.001)
    group.close()


@EITHER
def test_time_that_the_quota_held_it_back_is_told_in_milliseconds(tmp_path: Path, controllers: tuple[str, ...]) -> None:
    machine = FakeMachine(tmp_path, controllers)
    group = container(machine)
    if controllers:
        machine.file("cpu,cpuacct", DOCKER, "cpu.stat").write_text("nr_throttled 2\nthrottled_time 1500000\n")
    else:
        machine.file("", DOCKER, "cpu.stat").write_text("usage_usec 9\nnr_throttled 2\nthrottled_usec 1500\n")

    times = group.cpu_times()
    assert times is not None
    assert times.throttled_ms == 1.5
    group.close()


@EITHER
def test_each_thread_tells_what_it_had_and_waited_for_those_of_groups_within_too(
    tmp_path: Path, controllers: tuple[str, ...]
) -> None:
    machine = FakeMachine(tmp_path, controllers)
    group = container(machine)
    machine.group(f"{DOCKER}/within")
    controller, file = ("freezer", "tasks") if controllers else ("", "cgroup.threads")
    machine.file(controller, DOCKER, file).write_text("4000\n4001\n4002\n")
    machine.file(controller, f"{DOCKER}/within", file).write_text("4003\n")
    machine.thread(4000, "1000000 2500000 3\n")
    machine.thread(4001, "0 0 0\n")
    machine.thread(4003, "7000000 0 1\n")  # 4002 has ended meanwhile

    times = group.cpu_times()
    assert times is not None
    assert times.threads == {4000: (1.0, 2.5), 4001: (0.0, 0.0), 4003: (7.0, 0.0)}
    group.close()


def test_a_group_owns_its_processes_and_those_of_groups_within_and_no_others(
    both: tuple[FakeMachine, Group],
) -> None:
    machine, group = both
    for pid, place in ((1, "/"), (2, f"{DOCKER}/within"), (3, f"{DOCKER}f"), (4, "/docker"), (5, DOCKER)):
        machine.process(place, pid)
    machine.process("/elsewhere", 6, version_2=DOCKER)

    assert [pid for pid in (PID, 1, 2, 3, 4, 5, 6, 7) if group.owns(pid)] == [PID, 2, 5]


def test_what_is_asked_of_a_group_that_is_gone_does_nothing(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path, V1)
    group = container(machine)
    shutil.rmtree(machine.file("freezer", DOCKER, ""))  # they go one after the other
    shutil.rmtree(machine.file("cpu,cpuacct", DOCKER, ""))
    shutil.rmtree(machine.proc / str(PID))

    group.prepare_freezer()
    group.freeze()
    group.thaw()
    assert group.cpu_times() is None
    assert not group.owns(PID)
    group.close()


def test_a_group_is_killed_by_its_first_process_whether_that_lives_or_has_ended(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        group = Group({}, {}, tmp_path, os.pidfd_open(process.pid))
        assert group.kill()
        assert process.wait() == -signal.SIGKILL
        assert group.kill()  # and nobody else, though its id may be another's by now
        group.close()
        assert not group.kill()


def test_a_group_whose_first_process_nobody_knows_cannot_be_killed(both: tuple[FakeMachine, Group]) -> None:
    _, group = both
    assert not group.kill()


def test_a_group_that_is_closed_does_nothing_and_keeps_no_file_open(
    tmp_path: Path, both: tuple[FakeMachine, Group]
) -> None:
    machine, group = both
    group.prepare_freezer()
    assert len(open_below(tmp_path)) == 2  # the clock and the freezer
    group.close()
    group.close()

    assert open_below(tmp_path) == set()
    group.freeze()
    assert machine.file("freezer", DOCKER, "freezer.state").read_text() == "THAWED\n"
    assert group.cpu_used_ms() is None


def test_a_group_that_was_not_prepared_for_it_is_not_frozen(both: tuple[FakeMachine, Group]) -> None:
    machine, group = both
    group.freeze()

    assert machine.file("freezer", DOCKER, "freezer.state").read_text() == "THAWED\n"


def test_a_group_without_a_freezer_cannot_be_prepared(tmp_path: Path) -> None:
    group = container(FakeMachine(tmp_path, ("cpu,cpuacct",)))

    with pytest.raises(SandboxError, match=r"expected a freezer .*, looked in .*cpuacct"):
        group.prepare_freezer()
    group.close()


def test_a_group_that_is_mounted_nowhere_cannot_be_prepared(tmp_path: Path) -> None:
    machine = FakeMachine(tmp_path, V1)
    (machine.proc / "self" / "mountinfo").write_text("")
    group = container(machine)

    assert group.cpu_used_ms() is None
    assert group.cpu_times() is None
    with pytest.raises(SandboxError, match="none that is mounted"):
        group.prepare_freezer()


def test_a_freezer_that_may_not_be_used_is_our_failure(both: tuple[FakeMachine, Group]) -> None:
    machine, group = both
    state = machine.file("freezer", DOCKER, "freezer.state")
    state.unlink()
    state.mkdir()  # as root, nothing else is refused

    with pytest.raises(SandboxError, match=r"freezer\.state: Is a directory"):
        group.prepare_freezer()


@EITHER
def test_a_machine_whose_groups_cannot_be_frozen_is_told_from_one_that_can(
    tmp_path: Path, controllers: tuple[str, ...]
) -> None:
    # Only a kernel puts the file into a new folder.
    with pytest.raises(SandboxError, match="the kernel has no such file"):
        try_freezer(FakeMachine(tmp_path, controllers).proc)
    assert not list(tmp_path.glob("cgroups/*/*"))


def test_a_machine_without_control_groups_has_no_freezer(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="no control groups"):
        try_freezer(tmp_path)


@EITHER
def test_a_group_has_threads_until_the_last_one_is_gone(tmp_path: Path, controllers: tuple[str, ...]) -> None:
    machine = FakeMachine(tmp_path, controllers)
    group = container(machine)
    tasks = machine.file("freezer", DOCKER, "tasks") if controllers else machine.file("", DOCKER, "cgroup.threads")
    tasks.write_text(f"{PID}\n")
    group.close()  # what it keeps open is not needed for this

    assert group.has_threads()
    tasks.write_text("")
    assert not group.has_threads()
    shutil.rmtree(tasks.parent)
    assert not group.has_threads()
