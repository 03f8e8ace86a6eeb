"""`treelings match`: how many games it plays, at how many tables, and what it says of them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from referee.record_file import append_record
from referee.records import read_records
from referee.schedule import plan_match
from tests.support.command import treelings

SECRET = "ab" * 32
QUICK = ("--sandbox", "process", "--secret", SECRET, "--move-ms", "60000")  # a busy machine may take some of it


def test_so_many_games_are_rounded_up_to_whole_deals_and_it_is_said(tmp_path: Path) -> None:
    done = treelings("match", "random", "greedy", "neighbour", "--games", "4", *QUICK, cwd=tmp_path)
    assert done.code == 0
    assert "6 games: each deal is played in all 3 rotations of the seats" in done.err
    assert "2 deals, 6 games" in done.out


def test_several_tables_give_the_same_decks_and_results_in_the_order_of_deals_and_rotations(tmp_path: Path) -> None:
    games = {}
    for jobs in ("1", "3"):
        file = tmp_path / f"{jobs}.jsonl"
        treelings(
            "match", "greedy", "neighbour", "--deals", "7", "--jobs", jobs, *QUICK, "--records", file, cwd=tmp_path
        )
        games[jobs] = [
            (game.id, game.deck, game.scores, [move.move for move in game.moves]) for game in read_records(file)
        ]
    plan = plan_match(league="", night=None, bots=["greedy", "neighbour"], deals=7, refill="start")
    assert [game for game, *_ in games["3"]] == [game.id for game in plan.games]
    assert games["1"] == games["3"]


def test_for_programs_the_summary_is_all_that_is_printed(tmp_path: Path) -> None:
    done = treelings("match", "random", "greedy", "--games", "2", "--json", *QUICK, cwd=tmp_path)
    assert "rotations" not in done.err  # two games make a whole deal
    told = json.loads(done.out)
    assert (told["match"], told["deals"], told["games"], told["secret"]) == ("greedy-vs-random", 1, 2, SECRET)
    assert told["voids"] == []
    assert sorted(bot["bot"] for bot in told["bots"]) == ["greedy", "random"]
    for bot in told["bots"]:
        low, high = bot["score_95"]
        assert 0 <= low <= bot["score"] <= high <= 1
        assert 0 < bot["move_ms_median"] <= bot["move_ms_99"]


def test_the_summary_fits_into_80_columns_and_says_what_its_numbers_are(tmp_path: Path) -> None:
    done = treelings("match", "random", "greedy", "--deals", "3", *QUICK, cwd=tmp_path, env={"COLUMNS": "80"})
    title, head, *rows = done.out.splitlines()[:4]
    assert title.strip() == "greedy-vs-random: 3 deals, 6 games"
    assert head.split() == ["#", "bot", "w-t-l", "score", "95", "%", "margin", "ms", "a", "move", "faults"]
    assert all(re.search(r"\d-\d-\d .* % +\d+\.\d – \d+\.\d +[+-]\d+\.\d ± ", row) for row in rows)
    assert max(map(len, (head, *rows))) <= 80
    assert "the median / what 99 of 100 moves took at most" in done.out


def every_start_is_logged(folder: Path, bots: tuple[str, ...], tables: int) -> None:
    for bot in bots:
        log = (folder / "greedy-vs-random" / f"{bot}.log").read_text()
        assert len(re.findall(rf"^=== {bot} sha256:", log, re.MULTILINE)) == tables


def test_the_logs_of_all_tables_are_kept(tmp_path: Path) -> None:
    done = treelings("match", "random", "greedy", "--deals", "4", "--jobs", "2", "--logs", "logs", *QUICK, cwd=tmp_path)
    assert done.code == 0
    every_start_is_logged(tmp_path / "logs", ("random", "greedy"), 2)


def test_a_full_disk_is_named_and_takes_no_summary_with_it(tmp_path: Path) -> None:
    done = treelings("match", "random", "greedy", "--deals", "2", *QUICK, "--records", "/dev/full", cwd=tmp_path)
    assert done.code == 1
    assert "error: /dev/full: No space left on device" in done.err
    assert "greedy-vs-random: " in done.out


def test_where_the_disk_is_full_every_line_is_a_whole_game_and_more_can_follow(tmp_path: Path) -> None:
    # No file may grow beyond 16 kB, as on a disk with little room: that is four games and a part of a fifth at least.
    match = f"{sys.executable} -m referee.cli match random greedy --deals 4 {' '.join(QUICK)} --records games.jsonl"
    full = subprocess.run(
        ["bash", "-c", f"ulimit -f 16; {match}"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert full.returncode == 1
    assert "error: games.jsonl: File too large; make room there" in full.stderr
    assert "greedy-vs-random: " in full.stdout  # what was played is summed up all the same
    games = list(read_records(tmp_path / "games.jsonl"))
    plan = plan_match(league="", night=None, bots=["greedy", "random"], deals=4, refill="start")
    assert [game.id for game in games] == [game.id for game in plan.games[: len(games)]]
    assert 0 < len(games) < 8
    append_record(tmp_path / "games.jsonl", games[0])
    assert list(read_records(tmp_path / "games.jsonl")) == [*games, games[0]]


def test_where_no_log_can_be_kept_nothing_is_played(tmp_path: Path) -> None:
    (tmp_path / "logs").touch()
    done = treelings("match", "random", "greedy", "--logs", "logs", *QUICK, cwd=tmp_path)
    assert (done.code, done.out) == (1, "")
    assert "logs: File exists" in done.err


def test_the_commands_to_go_on_with_can_be_pasted(tmp_path: Path) -> None:
    done = treelings("match", "random", "greedy", "--deals", "1", *QUICK, "--records", "my games.jsonl", cwd=tmp_path)
    assert "treelings replay 'my games.jsonl' --game 1\n" in done.out
    assert f"treelings verify 'my games.jsonl' --secret {SECRET}\n" in done.out


@pytest.mark.docker
@pytest.mark.usefixtures("runtime_image")
def test_several_tables_play_in_containers(tmp_path: Path) -> None:
    done = treelings(
        "match", "random", "greedy", "--deals", "4", "--jobs", "2", "--logs", "logs", "--sandbox", "docker",
        "--move-ms", "60000", cwd=tmp_path,
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "4 deals, 8 games" in done.out
    every_start_is_logged(tmp_path / "logs", ("random", "greedy"), 2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["random", "greedy", "--games", "2", "--deals", "1"], ["--games", "--deals", "leave out one"]),
        (["random", "greedy", "--games", "2", "--deal-id", "x"], ["--deal-id", "--games"]),
        (["random", "greedy", "--deals", "9" * 20], ["--deals", "less than or equal"]),
        (["--attach", "mine=127.0.0.1:50051"], ["2 to 5", "got 1"]),
        (["random", "--attach", "mine=127.0.0.1:50051", "--jobs", "2"], ["one game at a time", "got 2"]),
    ],
)
def test_wrong_use_is_told_with_what_was_expected(arguments: list[str], words: list[str], tmp_path: Path) -> None:
    done = treelings("match", *arguments, cwd=tmp_path)
    assert done.code == 2
    for word in words:
        assert word in done.err


def test_what_the_file_held_stays_until_a_first_game_takes_its_place(tmp_path: Path) -> None:
    games = tmp_path / "games.jsonl"
    games.write_text("an evening's work\n")
    nobody = treelings("match", "random", "--attach", "mine=127.0.0.1:1", *QUICK, "--records", games, cwd=tmp_path)
    assert nobody.code == 2
    assert "mine" in nobody.err
    assert games.read_text() == "an evening's work\n"
    treelings("match", "random", "greedy", "--deals", "1", *QUICK, "--records", games, cwd=tmp_path)
    assert [game.rotation for game in read_records(games)] == [0, 1]
