"""What bots log in a league of real processes: kept for their authors, and shown by `treelings league logs`."""

from pathlib import Path

import pytest

from referee.league import League
from referee.loop import run
from referee.sandbox.process import ProcessSandbox
from referee.submissions import sample_bot
from tests.support.bot_sources import kit_bot
from tests.support.command import treelings
from tests.support.league import Told
from tests.support.submissions import bot_folder

TALKATIVE = kit_bot("""
def start(self, game):
    print("\\x1b[2Jgame", game.game, flush=True)

def choose(self, view):
    return view.legal_moves[0]
""")
CRASHING = "import sys\nsys.exit('no luck today')\n"


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A league of three bots after its first night, one deal a match; no game is played again for want of time."""
    folder = tmp_path_factory.mktemp("logs")
    League.create(folder / "league", "thursday").close()
    (folder / "league" / "league.toml").write_text('name = "thursday"\ndeals = 1\n[clock]\nmove_ms = 60_000\n')
    with League.open(folder / "league") as opened:
        sample = sample_bot("random")
        assert sample
        opened.add(sample)
        opened.add(bot_folder(folder, "talkative", code=TALKATIVE))
        opened.add(bot_folder(folder, "crashing", code=CRASHING))
        assert run(opened.run(ProcessSandbox(), progress=Told())).finished
    return folder / "league"


def test_every_bot_and_match_has_a_log(league: Path) -> None:
    found = {str(path.relative_to(league / "logs")) for path in (league / "logs").rglob("*") if path.is_file()}
    matches = ("crashing-vs-random", "crashing-vs-talkative", "random-vs-talkative")
    assert found == {f"night-1/{match}/{bot}.log" for match in matches for bot in match.split("-vs-")}


def test_the_log_of_a_match_is_shown_escaped_and_with_our_line(league: Path) -> None:
    done = treelings(
        "league", "logs", league, "talkative", "--match", "random-vs-talkative", cwd=league.parent
    )  # fmt: skip
    assert done.code == 0, done.err
    header, *games = done.out.splitlines()
    assert header.startswith("=== talkative sha256:")
    assert "night 1, random-vs-talkative" in header
    assert "at most 1,048,576 bytes are kept of each start" in header
    assert [line.split()[0] for line in games] == ["\\x1b[2Jgame", "the", "\\x1b[2Jgame", "the"]


def test_each_start_of_a_bot_that_crashes_is_in_its_log(league: Path) -> None:
    done = treelings("league", "logs", league, "crashing", "--match", "crashing-vs-random", cwd=league.parent)
    lines = done.out.splitlines()
    assert len([line for line in lines if line.startswith("=== crashing sha256:")]) >= 2
    assert {line for line in lines if not line.startswith("===")} == {"no luck today"}


def test_several_matches_are_listed_with_their_sizes(league: Path) -> None:
    done = treelings("league", "logs", league, "talkative", cwd=league.parent)
    assert done.code == 0
    first, second, advice = done.out.splitlines()
    assert first.startswith("night 1  crashing-vs-talkative  ")
    assert second.startswith("night 1  random-vs-talkative  ")
    assert second.endswith(" bytes")
    assert advice.endswith("talkative --match random-vs-talkative")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nobody"], "no log by 'nobody'; there are logs of crashing, random, talkative"),
        (
            ["random", "--match", "a-vs-b"],
            "no log by random from 'a-vs-b'; its matches are crashing-vs-random, random-",
        ),
        (["random", "--night", "7"], "no night 7; expected 1 to 1"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(league: Path, arguments: list[str], says: str) -> None:
    done = treelings("league", "logs", league, *arguments, cwd=league.parent)
    assert done.code == 2
    assert says in done.err


def test_a_match_outside_a_league_keeps_logs_where_it_is_told_to(tmp_path: Path) -> None:
    bot = bot_folder(tmp_path, "talkative", code=TALKATIVE)
    done = treelings(
        "match", bot, "random", "--deals", "1", "--sandbox", "process", "--trust-bots", "--logs", "kept", cwd=tmp_path
    )
    assert done.code == 0, done.err
    assert "Logs of the bots: kept/random-vs-talkative" in done.out
    log = (tmp_path / "kept" / "random-vs-talkative" / "talkative.log").read_bytes()
    assert log.startswith(b"=== talkative sha256:")
    assert log.count(b"\x1b[2Jgame") == 2


def test_a_night_whose_logs_cannot_be_kept_is_complete_and_says_so(tmp_path: Path) -> None:
    League.create(tmp_path / "league", "thursday").close()
    (tmp_path / "league" / "league.toml").write_text('name = "thursday"\ndeals = 1\n')
    (tmp_path / "league" / "logs").write_text("in the way")
    with League.open(tmp_path / "league") as opened:
        for name in ("random", "greedy"):
            sample = sample_bot(name)
            assert sample
            opened.add(sample)
    done = treelings("league", "run", tmp_path / "league", "--sandbox", "process", cwd=tmp_path)
    assert done.code == 1
    assert "league/logs" in done.err
    with League.open(tmp_path / "league") as opened:
        assert opened.night(1).finished
