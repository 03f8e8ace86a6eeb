import subprocess
import sys
from dataclasses import replace

import pytest

from referee.sandbox.run import Run, process_start


def test_a_run_is_read_back_from_its_text() -> None:
    run = Run.new()

    assert Run.parse(str(run)) == run


@pytest.mark.parametrize("text", ["", "somebody-elses", "0123-4567-1-2", "../../etc", "\n01234567-89abcdef-12-34"])
def test_any_other_text_is_no_run(text: str) -> None:
    assert Run.parse(text) is None


def test_the_run_of_this_process_lives() -> None:
    assert not Run.new().is_dead()


def test_a_run_whose_process_is_gone_is_dead() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    started = process_start(process.pid)
    process.wait()

    assert replace(Run.new(), pid=process.pid, started=started or "x").is_dead()


def test_a_run_whose_process_id_went_to_another_process_is_dead() -> None:
    assert replace(Run.new(), started="1").is_dead()


def test_a_run_of_another_host_is_never_called_dead() -> None:
    assert not replace(Run.new(), where="00000000", pid=2**31 - 1).is_dead()


def test_where_the_system_tells_no_start_a_run_lives_as_long_as_its_process_id_is_in_use() -> None:
    assert not replace(Run.new(), started="x").is_dead()


def test_a_process_that_only_waits_to_be_reaped_has_ended() -> None:
    process = subprocess.Popen(["true"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read()  # its end: the process is ending
    try:
        for _ in range(1_000_000):
            if process_start(process.pid) == "ended":
                break
        else:
            pytest.fail("the process was never seen to have ended")
    finally:
        process.wait()
        process.stdout.close()
