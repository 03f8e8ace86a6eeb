"""Real bots on a machine whose cores others burn: who was starved is not blamed, who was not is."""

from pathlib import Path

import pytest

from referee.limits import Limits
from referee.model import FaultKind
from referee.sandbox.docker import DockerSandbox
from referee.sandbox.process import ProcessSandbox
from tests.support.bot_sources import kit_bot
from tests.support.load import outside_load
from tests.support.overload import Played, burner, play_games, sleeper
from treelings import Clock

pytestmark = pytest.mark.alone

STARTUP_MS = 30_000  # a start is not what is shown here
TIGHT = Clock(STARTUP_MS, move_ms=100, bank_ms=600_000)
ROOMY = Clock(STARTUP_MS, move_ms=400, bank_ms=600_000)
BURNERS = 6
LOAD_S = 120

STARVED_BY_ITSELF = """
def choose(self, view):
    import hashlib, threading
    ends = time.monotonic() + view.limit_ms / 1000 * 2
    def burn():
        while time.monotonic() < ends:
            hashlib.pbkdf2_hmac("sha256", b"", b"", 20_000)  # lets other threads run meanwhile
    threads = [threading.Thread(target=burn) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return view.legal_moves[-1]
"""


def all_forfeited_for_time(played: Played, games: int) -> bool:
    return played.voids == [] and played.forfeits(FaultKind.TIMEOUT) == played.forfeits() == games


async def test_no_honest_bot_forfeits_because_others_have_the_cores(tmp_path: Path) -> None:
    with outside_load(BURNERS, at_most_s=LOAD_S):
        played = await play_games(
            ProcessSandbox(), {"ann": burner(0.5), "bob": burner(0.5)}, tmp_path, games=2, clock=TIGHT
        )
    assert played.forfeits() == 0
    assert len(played.records) + len(played.voids) == 2
    assert all("Overloaded: " in reason for void in played.voids for reason in void.reasons)


@pytest.mark.docker
@pytest.mark.usefixtures("runtime_image")
async def test_no_honest_bot_in_a_container_forfeits_because_others_have_the_cores(tmp_path: Path) -> None:
    with outside_load(BURNERS, at_most_s=LOAD_S):
        played = await play_games(
            DockerSandbox(league="overload"), {"ann": burner(0.5), "bob": burner(0.5)}, tmp_path, games=1, clock=TIGHT
        )
    assert played.forfeits() == 0
    assert len(played.records) + len(played.voids) == 1


async def test_a_bot_that_sleeps_past_its_limit_always_forfeits(tmp_path: Path) -> None:
    played = await play_games(ProcessSandbox(), {"ann": kit_bot(), "bob": sleeper(1.5)}, tmp_path, 4, ROOMY)
    assert all_forfeited_for_time(played, 4), str(played)


async def test_a_bot_that_sleeps_for_three_limits_forfeits_although_others_have_the_cores(tmp_path: Path) -> None:
    with outside_load(BURNERS, at_most_s=LOAD_S):
        played = await play_games(ProcessSandbox(), {"ann": kit_bot(), "bob": sleeper(4)}, tmp_path, 2, ROOMY)
    assert all_forfeited_for_time(played, 2), str(played)


async def test_a_bot_whose_threads_starve_each_other_forfeits(tmp_path: Path) -> None:
    bots = {"ann": kit_bot(), "bob": kit_bot(STARVED_BY_ITSELF)}
    played = await play_games(ProcessSandbox(), bots, tmp_path, 2, ROOMY)
    assert all_forfeited_for_time(played, 2), str(played)


@pytest.mark.docker
@pytest.mark.usefixtures("runtime_image")
async def test_a_bot_that_its_own_quota_holds_back_forfeits(tmp_path: Path) -> None:
    bots = {"ann": kit_bot(), "bob": kit_bot(STARVED_BY_ITSELF)}
    sandbox = DockerSandbox(league="overload", limits=Limits(cpus=0.5))
    played = await play_games(sandbox, bots, tmp_path, 2, ROOMY)
    assert all_forfeited_for_time(played, 2), str(played)
