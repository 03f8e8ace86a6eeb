import asyncio
import errno
import json
import os
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import pytest
from docker.errors import APIError
from requests import Response

from referee.errors import ConfigError, EngineGone, SandboxError
from referee.limits import Limits
from referee.sandbox.choose import choose_sandbox, lacking, told_when_slow
from referee.sandbox.doctor import (
    Check,
    check_abilities,
    check_disk,
    check_image,
    check_memory,
    check_old_images,
    check_python,
    check_user,
    examine,
)
from referee.sandbox.engine import abilities, connect, engine_errors, require_abilities, require_settings
from referee.sandbox.image import image_name
from referee.sandbox.process import why_not
from referee.sandbox.runtimes import ImageStatus, wanted_image
from tests.support.sandboxed import EngineProxy

ABLE: dict[str, Any] = {
    "MemoryLimit": True,
    "SwapLimit": True,
    "PidsLimit": True,
    "CpuCfsQuota": True,
    "CPUSet": True,
    "SecurityOptions": ["name=apparmor", "name=seccomp,profile=default"],
    "OSType": "linux",
    "OperatingSystem": "Debian GNU/Linux 12 (bookworm)",
    "CgroupVersion": "2",
}
LACKS: list[tuple[str, dict[str, Any]]] = [
    ("memory limit", {"MemoryLimit": False}),
    ("swap limit", {"SwapLimit": False}),
    ("limit on processes", {"PidsLimit": False}),
    ("CPU quota", {"CpuCfsQuota": False}),
    ("cpuset", {"CPUSet": False}),
    ("seccomp", {"SecurityOptions": []}),
    ("seccomp", {"SecurityOptions": None}),
    ("user ids as on the host", {"SecurityOptions": ["name=seccomp,profile=default", "name=rootless"]}),
    ("user ids as on the host", {"SecurityOptions": ["name=seccomp,profile=default", "name=userns"]}),
    ("Linux containers", {"OSType": "windows"}),
]


@pytest.fixture
def silent_engine(tmp_path: Path) -> Iterator[str]:
    """An engine that takes connections and never says a word."""
    path = tmp_path / "docker.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        yield f"unix://{path}"


@pytest.fixture
def rude_engine(tmp_path: Path) -> Iterator[str]:
    """An engine that hangs up on everybody."""
    path = tmp_path / "docker.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()

        def hang_up() -> None:
            while True:
                try:
                    server.accept()[0].close()
                except OSError:
                    return

        thread = threading.Thread(target=hang_up)
        thread.start()
        yield f"unix://{path}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_an_engine_with_all_limits_is_taken() -> None:
    require_abilities(ABLE)


@pytest.mark.parametrize(("name", "difference"), LACKS)
def test_an_engine_without_a_limit_is_refused_by_its_name(name: str, difference: dict[str, Any]) -> None:
    with pytest.raises(SandboxError, match=f"lacks {name},"):
        require_abilities(ABLE | difference)


def test_an_engine_that_says_nothing_of_a_limit_lacks_it() -> None:
    assert [ability.name for ability in abilities({}) if ability.has] == ["user ids as on the host"]


def test_a_refusal_names_all_that_is_lacking() -> None:
    with pytest.raises(SandboxError, match="lacks memory limit, cpuset, without"):
        require_abilities(ABLE | {"MemoryLimit": False, "CPUSet": False})


def test_a_runtime_for_containers_must_be_one_of_the_engines() -> None:
    runtimes: dict[str, Any] = {"Runtimes": {"runsc": {}, "runc": {}}}
    require_settings(runtimes, Limits())
    require_settings(runtimes, Limits(runtime="runsc"))

    with pytest.raises(ConfigError, match=r"runtime: .* has \(runc, runsc\), got 'kata'"):
        require_settings(runtimes, Limits(runtime="kata"))


def test_bots_cannot_have_more_cores_than_the_engine() -> None:
    require_settings({"NCPU": 2}, Limits(cpus=2))
    require_settings({}, Limits(cpus=2))

    with pytest.raises(ConfigError, match=r"sandbox\.cpus: expected at most 2, .*, got 2\.5"):
        require_settings({"NCPU": 2}, Limits(cpus=2.5))


@pytest.mark.docker
@pytest.mark.parametrize("wish", ["auto", "docker"])
def test_where_the_engine_has_not_what_the_settings_ask_for_bots_do_not_run_held_by_less(
    wish: Literal["auto", "docker"],
) -> None:
    with pytest.raises(ConfigError, match=r"sandbox\.runtime: expected one that the Docker engine has"):
        choose_sandbox(wish, league="x", limits=Limits(runtime="no-such-runtime"), report=print)


@pytest.mark.docker
def test_where_the_image_of_one_runtime_cannot_be_had_the_others_still_are() -> None:
    found = lacking("docker", ["native", "cobol"], print)

    assert list(found) == ["cobol"]
    assert "expected one of python, node, native, got 'cobol'" in found["cobol"]


@pytest.mark.docker
async def test_an_engine_that_is_lost_during_a_build_is_no_lack_of_a_runtime(tmp_path: Path) -> None:
    address = f"unix://{tmp_path}/engine.sock"
    async with EngineProxy.serve(tmp_path / "engine.sock") as proxy:
        engine = await asyncio.to_thread(connect, url=address)
        await proxy.cut()
        with pytest.raises(EngineGone, match="looking whether it is still there"):
            await asyncio.to_thread(lacking, "docker", ["native"], print, lambda: engine)


def test_without_an_engine_no_runtime_is_looked_for(tmp_path: Path) -> None:
    with pytest.raises(EngineGone):
        lacking("docker", ["native"], print, lambda: connect(url=f"unix://{tmp_path}/none"))


def test_a_process_of_node_takes_node_on_the_path(tmp_path: Path) -> None:
    (tmp_path / "node").write_text("#!/bin/sh\n")
    (tmp_path / "node").chmod(0o755)

    assert why_not("node", {"PATH": str(tmp_path)}) is None
    assert why_not("node", {"PATH": f"{tmp_path}/none"}) == "node is not on the PATH: install Node.js 18 or newer"
    assert lacking("process", ["python", "native"], print) == {}


def test_no_socket_is_an_engine_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(EngineGone, match=r"does not answer .No such file or directory"):
        connect(url=f"unix://{tmp_path / 'nothing.sock'}")


def test_a_socket_that_is_not_for_this_user_is_told_with_what_to_do() -> None:
    words = r"may not be used by this user \(Permission denied\): join the group docker, or run as root"
    with pytest.raises(EngineGone, match=words), engine_errors("connecting"):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def test_an_engine_that_never_answers_is_gone(silent_engine: str) -> None:
    with pytest.raises(EngineGone, match=r"does not answer \(Read timed out"):
        connect(url=silent_engine, timeout_s=1)


def test_an_engine_that_hangs_up_is_gone(rude_engine: str) -> None:
    with pytest.raises(EngineGone, match="does not answer"):
        connect(url=rude_engine, timeout_s=10)


def test_a_refusal_is_told_in_the_engines_words_without_what_acts_on_a_terminal() -> None:
    response = Response()
    response.status_code = 500

    with (
        pytest.raises(SandboxError, match=r"starting it: .* refused: no \\x1b\[31m") as caught,
        engine_errors("starting it"),
    ):
        raise APIError("500", response=response, explanation="no \x1b[31m " + "x" * 5_000)
    assert not isinstance(caught.value, EngineGone)
    assert len(str(caught.value)) < 500


def test_the_wish_for_processes_is_met_with_a_warning() -> None:
    sandbox, note = choose_sandbox("process", league="x", limits=Limits(), report=print)

    assert sandbox.name == "process"
    assert note is not None
    assert "isolates nothing" in note
    assert "bots that you trust" in note


def test_without_an_engine_auto_takes_processes_and_says_why_in_one_line(tmp_path: Path) -> None:
    sandbox, note = choose_sandbox(
        "auto", league="x", limits=Limits(), report=print, connect=lambda: connect(url=f"unix://{tmp_path}/none")
    )
    assert sandbox.name == "process"
    assert note is not None
    assert "isolates nothing" in note
    assert "No such file or directory" in note
    assert "\n" not in note


def test_without_an_engine_the_wish_for_docker_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineGone):
        choose_sandbox(
            "docker", league="x", limits=Limits(), report=print, connect=lambda: connect(url=f"unix://{tmp_path}/none")
        )


def test_a_runtime_that_nobody_knows_is_refused_with_those_that_are() -> None:
    with pytest.raises(SandboxError, match="expected one of python, node, native, got 'cobol'"):
        wanted_image("cobol")


def test_the_image_is_named_after_what_goes_into_it() -> None:
    assert wanted_image() == wanted_image("python")
    assert wanted_image().startswith("treelings-runtime-python:0.1.0-")


def test_another_sdk_asks_for_another_image() -> None:
    names = {image_name(files) for files in ([], [("bot.py", b"1")], [("bot.py", b"2")], [("view.py", b"1")])}

    assert len(names) == 4
    assert image_name([("bot.py", b"1")]) == image_name([("bot.py", b"1")])


def test_the_examination_of_a_machine_without_an_engine_says_what_to_do(tmp_path: Path) -> None:
    checks = {check.name: check for check in examine(lambda: connect(url=f"unix://{tmp_path}/none"))}

    assert checks["Docker engine"].level == "missing"
    assert checks["Docker engine"].advice
    assert checks["Python"].level == "ok"


def test_every_lack_is_examined_with_advice() -> None:
    for name, difference in LACKS:
        (check,) = [check for check in check_abilities(ABLE | difference) if check.name == name]
        assert check.level == "missing"
        assert check.advice


def test_an_engine_that_shares_no_sockets_is_taken_and_its_weakness_told() -> None:
    desktop = ABLE | {"OperatingSystem": "Docker Desktop"}
    require_abilities(desktop)
    (check,) = [check for check in check_abilities(desktop) if check.name == "sockets shared with the host"]

    assert check.level == "warning"
    assert "bots are reached over TCP: they can reach services of this machine" in check.found
    assert "engine on Linux itself" in check.advice


def test_an_able_engine_has_nothing_missing() -> None:
    assert {check.level for check in check_abilities(ABLE)} == {"ok"}


def test_an_old_python_is_missing_a_new_one() -> None:
    assert check_python((3, 10, 9)) == Check("Python", "missing", "3.10.9", "install Python 3.11 or newer")
    assert check_python((3, 11, 0)).level == "ok"


PYTHON_IMAGE = ImageStatus("python", "a:2", "python 3.11", ())


def test_an_image_for_another_sdk_is_not_the_image() -> None:
    check = check_image(ImageStatus("python", "a:2", None, ("a:1",)))

    assert (check.level, check.advice) == ("missing", "treelings image build")
    assert "only older ones (1)" in check.found


def test_a_built_image_is_ok_whatever_older_ones_there_are() -> None:
    assert check_image(PYTHON_IMAGE) == Check("runtime image", "ok", "a:2 (python 3.11)")
    assert check_image(replace(PYTHON_IMAGE, older=("a:1",))) == check_image(PYTHON_IMAGE)


def test_old_images_are_counted_the_first_named_and_what_frees_their_room() -> None:
    assert check_old_images(()) == []
    (one,) = check_old_images(("a:1",))
    assert one == Check("old images", "ok", "1 of earlier versions: a:1", "treelings image prune")
    (four,) = check_old_images(("a:1", "a:2", "a:3", "a:4"))
    assert four.found == "4 of earlier versions: a:1, a:2, a:3, …"


def test_nothing_is_missing_where_an_image_is_not_that_not_every_league_needs() -> None:
    check = check_image(ImageStatus("node", "a:2", None, ()))

    assert check == Check(
        "image for node",
        "ok",
        "a:2: not built",
        "the first such bot builds it, or treelings image build --runtime node",
    )


def test_an_ordinary_user_is_told_what_root_would_change() -> None:
    assert check_user(0).level == "ok"
    assert check_user(1000).level == "warning"


def test_less_memory_than_the_bots_may_use_is_worth_a_warning() -> None:
    enough, short = (check_memory(size, 256 * 1024**2, 20) for size in (5 * 1024**3, 5 * 1024**3 - 1))
    assert (enough.level, short.level) == ("ok", "warning")
    assert short.found == "5.0 GB, of which bots may use 5.0 (at most 20, with 256 MB each)"
    assert "jobs" in short.advice


def test_a_full_disk_is_worth_a_warning() -> None:
    assert check_disk(Path("/var/lib/docker"), 10 * 1024**3).level == "ok"
    assert check_disk(Path("/var/lib/docker"), 1024**3).level == "warning"


def test_the_seccomp_profile_denies_what_it_does_not_name() -> None:
    profile = json.loads(resources.files("referee.sandbox").joinpath("seccomp.json").read_text())
    allowed = {
        name
        for rule in profile["syscalls"]
        if rule["action"] == "SCMP_ACT_ALLOW" and "args" not in rule
        for name in rule["names"]
    }

    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    assert not allowed & {
        "socket", "socketpair", "clone", "clone3", "io_uring_setup", "io_uring_enter", "io_uring_register", "ptrace",
        "process_vm_readv", "process_vm_writev", "bpf", "perf_event_open", "keyctl", "add_key", "request_key",
        "userfaultfd", "mount", "unshare", "setns", "inotify_init", "inotify_init1", "mincore",
    }  # fmt: skip


def test_an_engine_that_takes_its_time_is_said_to_be_waited_for() -> None:
    said, told = list[str](), threading.Event()

    def report(line: str) -> None:
        said.append(line)
        told.set()

    with told_when_slow(report, after_s=0):
        told.wait()
    assert said == ["waiting for the Docker engine …"]


def test_nothing_is_said_of_an_engine_that_answered() -> None:
    said, before = list[str](), {*threading.enumerate()}
    with told_when_slow(said.append, after_s=3600):
        (waiting,) = {*threading.enumerate()} - before
    waiting.join()  # which would take an hour
    assert said == []
