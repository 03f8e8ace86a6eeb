"""A match on real processes: what one game did to a bot does not reach the next."""

import uuid
from pathlib import Path

import pytest

from referee.match import Table
from referee.model import FaultKind, GameRecord, GameSpec, MatchSpec, Submission, game_id
from referee.ports import Sandbox
from referee.records import problems
from referee.sandbox.docker import DockerSandbox
from referee.sandbox.process import ProcessSandbox
from tests.support.bot_sources import kit_bot
from tests.support.playing import link_to
from treelings import Clock

NAMES = ("ann", "bob")
CLOCK = Clock(move_ms=3_000)  # filling the memory takes a busy machine its time
SPEC = MatchSpec(
    "ann-vs-bob", 0, NAMES,
    tuple(
        GameSpec(game_id(deal, rotation), "test", 1, "ann-vs-bob", deal, rotation, "start", NAMES[:: 1 - 2 * rotation])
        for deal in ("d0", "d1") for rotation in (0, 1)
    ),
)  # fmt: skip


def submission(folder: Path, name: str, source: str) -> Submission:
    home = folder / name
    home.mkdir()
    (home / "bot.py").write_text(source)
    return Submission(name, "Tests", f"sha256:{name}", home, ("python", "bot.py"), "python")


async def play(sandbox: Sandbox, folder: Path, bob: str) -> list[GameRecord]:
    """The records of the whole match between a well-behaved bot and this one."""
    bots = {"ann": submission(folder, "ann", kit_bot()), "bob": submission(folder, "bob", bob)}
    await sandbox.open()
    table = Table(SPEC, bots, sandbox, bytes(32), CLOCK, link_to)
    try:
        await table.open()
        results = [result async for result in table.play(SPEC.games)]
    finally:
        await table.close()
        await sandbox.close()
    records = [result for result in results if isinstance(result, GameRecord)]
    assert [record.id for record in records] == [game.id for game in SPEC.games]
    assert [problems(record) for record in records] == [[]] * len(SPEC.games)
    return records


async def test_a_bot_that_crashes_in_one_game_forfeits_it_and_plays_the_next_on_a_fresh_process(
    tmp_path: Path,
) -> None:
    bob = kit_bot("""
    def start(self, game): self.game = game.game
    def choose(self, view):
        if self.game == "d0/r1" and view.turn >= 4:
            raise RuntimeError("lost the thread")
        return view.legal_moves[0]
    """)
    records = await play(ProcessSandbox(), tmp_path, bob)
    assert [record.ended for record in records] == ["festival", "forfeit", "festival", "festival"]
    (fault,) = records[1].faults
    assert (fault.seat, fault.turn, fault.kind) == (0, 4, FaultKind.CRASH)
    assert "RuntimeError: lost the thread" in fault.detail


@pytest.mark.parametrize(
    "end",
    [
        "raise RuntimeError('lost the thread')",
        "raise KeyboardInterrupt",
        "sys.exit(0)",
        "os._exit(0)",
        "time.sleep(0.2); os.kill(os.getpid(), signal.SIGKILL)",
    ],
)
async def test_a_bot_that_breaks_down_after_its_games_plays_each_of_them_without_a_fault(
    tmp_path: Path, end: str
) -> None:
    records = await play(ProcessSandbox(), tmp_path, kit_bot(f"def end(self, result): {end}"))
    assert [record.faults for record in records] == [()] * len(SPEC.games)
    assert [record.ended for record in records] == ["festival"] * len(SPEC.games)


async def test_a_bot_takes_its_time_after_a_game_and_keeps_its_process(tmp_path: Path) -> None:
    bob = kit_bot(f"""
    def start(self, game):
        assert len(ended) == {[game.id for game in SPEC.games]}.index(game.game), "another process"
    def end(self, result): time.sleep(0.3); ended.append(result)
    """).replace("class TestBot", "ended = []\n\nclass TestBot")
    records = await play(ProcessSandbox(), tmp_path, bob)
    assert [record.faults for record in records] == [()] * len(SPEC.games)


@pytest.mark.docker
async def test_containers_that_break_down_after_their_games_play_each_of_them_without_a_fault(
    runtime_image: str, tmp_path: Path
) -> None:
    assert runtime_image
    sandbox = DockerSandbox(league=f"test-{uuid.uuid4().hex[:12]}")
    records = await play(sandbox, tmp_path, kit_bot("def end(self, result): raise RuntimeError('lost the thread')"))
    assert [record.faults for record in records] == [()] * len(SPEC.games)
    assert [record.ended for record in records] == ["festival"] * len(SPEC.games)


@pytest.mark.docker
async def test_containers_that_misbehave_are_told_apart_and_each_costs_its_own_game(
    runtime_image: str, tmp_path: Path
) -> None:
    assert runtime_image
    bob = kit_bot("""
    def start(self, game): self.game = game.game
    def choose(self, view):
        if self.game == "d0/r0":
            hoard = [bytes(1_000_000) + os.urandom(1) for _ in range(4_000)]
        if self.game == "d0/r1":
            time.sleep(60)
        if self.game == "d1/r0":
            os._exit(3)
        return view.legal_moves[0]
    """)
    records = await play(DockerSandbox(league=f"test-{uuid.uuid4().hex[:12]}"), tmp_path, bob)
    assert [[fault.kind for fault in record.faults] for record in records] == [
        [FaultKind.OUT_OF_MEMORY], [FaultKind.TIMEOUT], [FaultKind.CRASH], [],
    ]  # fmt: skip
    assert records[0].faults[0].detail.startswith("the bot was ended by its memory limit, at turn 1")
    assert records[1].faults[0].detail.startswith("no answer within 3,000 ms, ")  # and what a busy machine took from it
    assert records[1].faults[0].detail.endswith(", at turn 0 (bank 20,000 ms)")
    assert records[2].faults[0].detail.startswith("the bot ended with exit code 3 (it logged nothing), at turn 1")
    assert records[3].ended == "festival"
