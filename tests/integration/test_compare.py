"""`treelings compare` on real processes."""

import json
from pathlib import Path

import pytest

from tests.support.bot_sources import kit_bot
from tests.support.command import NO_ENGINE, help_of, treelings
from tests.support.submissions import bot_folder, bot_toml

SECRET = "5e" * 32


def test_its_help_tells_its_exit_codes() -> None:
    shown = " ".join(help_of("compare").split())
    assert "0 NEW is better (H1 accepted), 1 it is not or that stays undecided, 2 wrong use" in shown


def test_a_clear_improvement_is_accepted_whatever_plays_side_by_side(tmp_path: Path) -> None:
    told = []
    for jobs in (1, 3):
        done = treelings(
            "compare", "random", "greedy", "--elo1", "100", "--secret", SECRET, "--jobs", str(jobs), "--json",
            "--records", f"{jobs}.jsonl", cwd=tmp_path, env=NO_ENGINE,
        )  # fmt: skip
        assert done.code == 0, done.err
        told.append(json.loads(done.out))
    assert told[0] == told[1]
    assert (told[0]["verdict"], told[0]["better"], told[0]["end"]) == ("H1", True, "decided")
    one, other = ((tmp_path / f"{jobs}.jsonl").read_text().splitlines() for jobs in (1, 3))
    assert len(one) == told[0]["games"] == 2 * told[0]["deals"]
    assert [moves(line) for line in one] == [moves(line) for line in other]
    checked = treelings("verify", "3.jsonl", "--secret", SECRET, cwd=tmp_path)
    assert checked.code == 0, checked.out


def moves(line: str) -> tuple[str, int, list[str]]:
    record = json.loads(line)
    return record["deal"], record["rotation"], [move["move"] for move in record["moves"]]


def test_two_versions_of_a_bot_share_a_table_with_others(tmp_path: Path) -> None:
    for version, at in (("before", 0), ("after", -1)):
        code = kit_bot(f"def choose(self, view): return view.legal_moves[{at}]")
        bot_folder(tmp_path, version, code, toml=bot_toml("mybot"))
    done = treelings(
        "compare", "before", "after", "--opponents", "greedy", "--max-deals", "1", "--trust-bots",
        "--records", "games.jsonl", cwd=tmp_path, env=NO_ENGINE,
    )  # fmt: skip
    assert done.code == 1, done.err
    assert done.out.startswith("Undecided after 1 deal.\n")
    assert "3 games" in done.out
    heading = [line.split()[:2] for line in done.err.splitlines() if line.startswith(("OLD", "NEW", "with"))]
    assert heading == [["OLD", "mybot"], ["NEW", "mybot-2"], ["with", "greedy"]]
    games = [json.loads(line) for line in (tmp_path / "games.jsonl").read_text().splitlines()]
    seated = [[seat["bot"] for seat in game["seats"]] for game in games]
    assert [sorted(bots) for bots in seated] == [["greedy", "mybot", "mybot-2"]] * 3
    assert len({bots.index("mybot") for bots in seated}) == 3


def test_a_bot_that_always_crashes_ends_it_early_with_its_words(tmp_path: Path) -> None:
    bot_folder(tmp_path, "broken", kit_bot("def choose(self, view): raise RuntimeError('lost the thread')"))
    done = treelings("compare", "random", "broken", "--trust-bots", cwd=tmp_path, env=NO_ENGINE)
    assert done.code == 1
    assert done.out.startswith("Nothing to compare: NEW forfeited every game.\n")
    assert "NEW forfeited 10 of 10 games.\n" in done.out
    assert "RuntimeError: lost the thread" in done.out


def test_a_bot_is_compared_with_itself_only_where_that_is_meant(tmp_path: Path) -> None:
    refused = treelings("compare", "greedy", "greedy", cwd=tmp_path, env=NO_ENGINE)
    assert refused.code == 2
    assert "expected two versions of a bot, got the same files" in refused.err
    assert "--same" in refused.err
    meant = treelings("compare", "greedy", "greedy", "--same", "--max-deals", "1", cwd=tmp_path, env=NO_ENGINE)
    assert meant.code == 1
    assert meant.out.startswith("Undecided after 1 deal.\n")


def test_a_full_disk_is_named_and_takes_no_outcome_with_it(tmp_path: Path) -> None:
    done = treelings("compare", "random", "greedy", "--max-deals", "9", "--records", "/dev/full", cwd=tmp_path,
                     env=NO_ENGINE)  # fmt: skip
    assert done.code == 1
    assert "error: /dev/full: No space left on device" in done.err
    assert done.out.startswith("Undecided after ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--elo0", "10"], "elo0 and elo1: expected elo0 below elo1, both from -100 to 100, got 10 and 10"),
        (["--opponents", "neighbour"] * 4, "expected at most three opponents, got 4"),
        (["--max-deals", "9" * 20], "'--max-deals': Input should be less than or equal to"),
        (["--jobs", "10000"], "'--jobs': Input should be less than or equal to"),
    ],
)
def test_wrong_use_is_told_before_anything_is_played(options: list[str], message: str, tmp_path: Path) -> None:
    done = treelings("compare", "random", "greedy", *options, cwd=tmp_path, env=NO_ENGINE)
    assert (done.code, done.out) == (2, "")
    assert message in " ".join(done.err.split())
