"""A person plays against bots: the command as a process, with what is typed coming through a pipe."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer

from referee.cli.app import app
from referee.cli.play import PERSON
from referee.errors import UsageError
from referee.records import read_records
from tests.support.bot_sources import kit_bot
from tests.support.command import help_of, treelings
from tests.support.submissions import bot_folder

SECRET = "00" * 32
FIRST = "1\n" * 200
"""The first choice, over and over."""


def test_a_game_is_played_kept_shown_and_verified(tmp_path: Path) -> None:
    command = ["play", "greedy", "--seat", "1", "--secret", SECRET, "--deal-id", "demo/0", "--sandbox", "process"]
    command += ["--records", "mine.jsonl", "--name", "ann"]
    done = treelings(*command, cwd=tmp_path, typed=FIRST)
    assert done.code == 0, done.err
    assert "Seats: 0 greedy, 1 ann" in done.out
    assert "The end" in done.out
    (record,) = read_records(tmp_path / "mine.jsonl")
    assert [seat.bot for seat in record.seats] == ["greedy", "ann"]
    assert record.seats[1].version == PERSON
    assert record.deck.startswith("YPORYBORPY")  # the vector of rules.md
    assert record.scores is not None
    assert f"{record.scores[1]} points" in done.out
    assert all(played.move in done.out for played in record.moves)
    again = treelings(*command, cwd=tmp_path, typed=FIRST)
    assert "treelings replay mine.jsonl --game 2" in again.out
    assert f"--deal-id demo/0 --secret {SECRET}" in again.out
    assert treelings("replay", "mine.jsonl", "--game", "2", cwd=tmp_path).code == 0
    (tmp_path / "one.jsonl").write_text((tmp_path / "mine.jsonl").read_text().splitlines()[0])
    assert treelings("verify", "one.jsonl", "--secret", SECRET, cwd=tmp_path).code == 0


def test_a_game_for_whose_record_there_is_no_room_is_told_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text("\n" * 32_768)  # as large as files may be here
    command = f"{sys.executable} -m referee.cli play random --seat 0 --sandbox process --records mine.jsonl"
    done = subprocess.run(
        ["bash", "-c", f"ulimit -f 32; exec {command}"], cwd=tmp_path, input=FIRST, capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "random" in done.stdout.rpartition("The end")[2]
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: mine.jsonl: the record of random-vs-you/")
    assert last.endswith(" cannot be written: File too large")


def test_games_of_several_secrets_in_a_file_are_verified(tmp_path: Path) -> None:
    for _ in range(2):
        command = ["play", "random", "--seat", "0", "--sandbox", "process", "--records", "mine.jsonl"]
        assert treelings(*command, cwd=tmp_path, typed=FIRST).code == 0
    verified = treelings("verify", "mine.jsonl", cwd=tmp_path)
    assert verified.code == 0, verified.err
    assert "2 games" in verified.out


def test_the_command_says_how_it_is_used() -> None:
    assert {"--seat", "--hint", "--records", "--deal-id", "--trust-bots"} <= set(help_of("play").split())


def test_who_leaves_is_asked_and_nothing_is_kept(tmp_path: Path) -> None:
    command = ["play", "random", "--seat", "0", "--sandbox", "process", "--records", "mine.jsonl"]
    done = treelings(*command, cwd=tmp_path, typed="q\ny\n")
    assert done.code == 0
    assert "Leave the game?" in done.out
    assert "nothing of it is kept" in done.out
    assert (tmp_path / "mine.jsonl").read_text() == ""


def test_an_input_that_ends_ends_the_game_in_words(tmp_path: Path) -> None:
    done = treelings("play", "random", "--seat", "0", "--sandbox", "process", cwd=tmp_path, typed="1\n")
    assert done.code == 1
    assert done.err.splitlines()[-1].startswith("error: the input ended before the game did")


def test_bots_that_forfeit_are_told_and_the_others_play_on(tmp_path: Path) -> None:
    bad = bot_folder(tmp_path, "bad", kit_bot("def choose(self, view): raise RuntimeError('lost the thread')"))
    command = ["play", str(bad), "random", "--seat", "0", "--sandbox", "process", "--trust-bots"]
    done = treelings(*command, "--records", "mine.jsonl", cwd=tmp_path, typed=FIRST)
    assert done.code == 0
    assert "bad forfeits: crash: " in done.out
    assert "RuntimeError: lost the thread" in done.out
    assert "moved by the referee" in done.out
    (record,) = read_records(tmp_path / "mine.jsonl")
    assert record.ended == "festival"


def test_hints_come_with_what_the_bot_says_of_its_move(tmp_path: Path) -> None:
    sage = bot_folder(
        tmp_path,
        "sage",
        kit_bot("""
    def choose(self, view):
        self.say("the last one is the best")
        return view.legal_moves[-1]
    """),
    )
    command = ["play", "random", "--seat", "0", "--hint", str(sage), "--sandbox", "process", "--trust-bots"]
    done = treelings(*command, cwd=tmp_path, typed="h\n" + FIRST)
    assert done.code == 0
    assert "sage would play" in done.out
    assert "“the last one is the best”" in done.out


def test_the_person_keeps_their_name_and_a_bot_gives_way(tmp_path: Path) -> None:
    command = ["play", "random", "random", "--name", "random", "--seat", "2", "--sandbox", "process"]
    done = treelings(*command, cwd=tmp_path, typed="q\ny\n")
    seats = done.out.splitlines()[0]
    assert "2 random;" in seats
    assert "random-2" in seats
    assert "random-3" in seats


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["random"] * 5, "1 to 4 bots, got 5"),
        (["random", "--seat", "2"], "0 to 1, got 2"),
        (["random", "--name", "No Name"], "--name: expected 1 to 32 of a-z"),
        (["random", "--deal-id", "x" * 301], "at most 300 characters"),
        (["random", "--secret", "abc"], "64 hex digits"),
        (["random", "--hint", "nobody"], "nobody"),
    ],
)
def test_wrong_use_is_told_before_anything_is_played(arguments: list[str], words: str) -> None:
    with pytest.raises((UsageError, typer.BadParameter)) as error:
        app(["play", *arguments, "--sandbox", "process"], standalone_mode=False)
    assert words in str(error.value)


def test_a_file_that_holds_something_else_is_refused_before_the_game(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text("dear diary\n")
    done = treelings("play", "random", "--sandbox", "process", "--records", "mine.jsonl", cwd=tmp_path, typed=FIRST)
    assert done.code == 1
    assert "mine.jsonl, line 1" in done.err
    assert (tmp_path / "mine.jsonl").read_text() == "dear diary\n"


@pytest.mark.parametrize("sandbox", ["process", pytest.param("docker", marks=pytest.mark.docker)])
def test_ctrl_c_leaves_at_once_and_leaves_nothing_behind(tmp_path: Path, sandbox: str) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    # Nobody types anything: the pipe stays open.
    with subprocess.Popen(
        [sys.executable, "-m", "referee.cli", "play", "random", "--seat", "0", "--sandbox", sandbox],
        env={**os.environ, "TMPDIR": str(temporary)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout
            shown = ""
            while "Your move" not in shown:
                shown += (came := process.stdout.read(1))
                assert came, process.stderr.read() if process.stderr else ""
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            while process.poll() is None and time.monotonic() < began + 60:
                time.sleep(0.05)
            assert process.poll() == 1
            assert process.stderr
            assert process.stderr.read().splitlines()[-1] == "Interrupted."
        finally:
            process.kill()
    assert [*temporary.iterdir()] == []
