"""A match on real processes: what one game did to a bot does not reach the next."""

from pathlib import Path

from referee.match import Table
from referee.model import FaultKind, GameRecord, GameSpec, MatchSpec, Submission, game_id
from referee.players import connect
from referee.records import problems
from referee.sandbox.process import ProcessSandbox
from tests.support.bot_sources import kit_bot
from treelings import Clock

NAMES = ("ann", "bob")
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


async def test_a_bot_that_crashes_in_one_game_forfeits_it_and_plays_the_next_on_a_fresh_process(
    tmp_path: Path,
) -> None:
    bots = {
        "ann": submission(tmp_path, "ann", kit_bot()),
        "bob": submission(
            tmp_path,
            "bob",
            kit_bot("""
            def start(self, game): self.game = game.game
            def choose(self, view):
                if self.game == "d0/r1" and view.turn >= 4:
                    raise RuntimeError("lost the thread")
                return view.legal_moves[0]
            """),
        ),
    }
    sandbox = ProcessSandbox()
    await sandbox.open()
    table = Table(SPEC, bots, sandbox, bytes(32), Clock(), connect)
    try:
        await table.open()
        results = [result async for result in table.play(SPEC.games)]
    finally:
        await table.close()
        await sandbox.close()
    records = [result for result in results if isinstance(result, GameRecord)]
    assert [record.id for record in records] == [game.id for game in SPEC.games]
    assert [record.ended for record in records] == ["festival", "forfeit", "festival", "festival"]
    (fault,) = records[1].faults
    assert (fault.seat, fault.turn, fault.kind) == (0, 4, FaultKind.CRASH)
    assert "RuntimeError: lost the thread" in fault.detail
    assert [problems(record) for record in records] == [[]] * 4
