"""The command line: what each command prints, where, and with which exit code."""

import contextlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.command import NO_ENGINE, help_of, treelings

LEAGUE_COMMANDS = ("init", "add", "remove", "bots", "open", "run", "status", "standings", "publish", "reveal")


@pytest.fixture
def league(tmp_path: Path) -> Path:
    """A league of three sample bots, one deal a match, no night yet."""
    assert treelings("league", "init", "night", cwd=tmp_path).code == 0
    settings = tmp_path / "night/league.toml"
    settings.write_text(settings.read_text().replace("deals = 10", "deals = 1"))
    assert treelings("league", "add", "night", "random", "greedy", "neighbour", cwd=tmp_path).code == 0
    return tmp_path / "night"


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """A bot that is no sample: it plays the first legal move."""
    folder = tmp_path / "stranger"
    folder.mkdir()
    (folder / "bot.toml").write_text(
        'name = "stranger"\nauthor = "Ann"\ncommand = ["python", "bot.py"]\nruntime = "python"\n'
    )
    (folder / "bot.py").write_text(
        "import treelings\n\n\nclass First(treelings.Bot):\n    def choose(self, view):\n"
        "        return view.legal_moves[0]\n\n\ntreelings.serve(First)\n"
    )
    return folder


@pytest.mark.parametrize(
    "command",
    [(), ("match",), ("verify",), ("replay",), ("doctor",), ("league",), ("image",), ("image", "build")]
    + [("league", command) for command in LEAGUE_COMMANDS],
)
def test_every_command_explains_itself(command: tuple[str, ...]) -> None:
    shown = help_of(*command)
    assert "Usage" in shown
    assert len(shown.splitlines()) > 4


def test_a_league_goes_from_init_to_a_verified_site(league: Path) -> None:
    base = league.parent
    assert "no night yet" in treelings("league", "status", league, cwd=base).out
    assert "neighbour" in treelings("league", "bots", league, cwd=base).out
    opened = treelings("league", "open", league, cwd=base)
    assert opened.code == 0
    assert "Commitment" in opened.out
    assert (league / "site/index.html").is_file()  # the commitment is out before the first game
    ran = treelings("league", "run", league, "--sandbox", "process", "--jobs", "2", cwd=base)
    assert ran.code == 0
    assert "isolates nothing" in ran.err
    assert "Night 1 is complete: 6 games." in ran.out
    assert "night 1: 6 of 6 games" in treelings("league", "status", league, cwd=base).out
    shown = treelings("league", "standings", league, "--night", "1", cwd=base)
    assert "greedy" in shown.out
    table = json.loads(treelings("league", "standings", league, "--json", cwd=base).out)
    assert [row["games"] for row in table["season"]] == [4, 4, 4]
    published = treelings("league", "publish", league, "--to", base / "www", cwd=base)
    assert "www/index.html" in published.out
    assert "not yet revealed" in treelings("verify", base / "www", cwd=base).out
    assert treelings("league", "reveal", league, cwd=base).code == 0
    verified = treelings("verify", league / "site", cwd=base)
    assert verified.code == 0
    assert "verified: 6 games, 3 decks, standings identical" in verified.out
    assert "The pages themselves (*.html) are not compared." in verified.out


def test_a_night_is_run_until_its_first_place_is_decided(league: Path) -> None:
    ran = treelings(
        "league", "run", league, "--sandbox", "process", "--until-decided", "1", "--at-most-deals", "2",
        cwd=league.parent,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "after 1 deal: 0 of 1 places decided; open: " in ran.err
    assert "Place 1 is not decided at 95 %, after 2 deals a match." in ran.out
    assert "Night 1 is complete: 12 games." in ran.out
    assert treelings("league", "reveal", league, cwd=league.parent).code == 0
    assert "verified: 12 games, 6 decks" in treelings("verify", league / "site", cwd=league.parent).out


def test_a_wish_that_cannot_be_opens_no_night(league: Path) -> None:
    for wish, says in (
        (["--until-decided", "4"], "expected 1 to 3 places"),
        (["--at-most-deals", "9"], "--at-most-deals: expected together with --until-decided"),
    ):
        refused = treelings("league", "run", league, "--sandbox", "process", *wish, cwd=league.parent)
        assert (refused.code, says in refused.err) == (2, True)
    assert "no night yet" in treelings("league", "status", league, cwd=league.parent).out


def test_running_again_opens_the_next_night(league: Path) -> None:
    for night in (1, 2):
        done = treelings("league", "run", league, "--sandbox", "process", cwd=league.parent)
        assert f"Night {night} is complete" in done.out
    season = json.loads(treelings("league", "standings", league, "--json", cwd=league.parent).out)
    assert season["season"][0]["games"] == 8


def test_verify_names_what_differs_and_fails(league: Path) -> None:
    treelings("league", "run", league, "--sandbox", "process", cwd=league.parent)
    standings = league / "site/standings.json"
    treelings("league", "publish", league, cwd=league.parent)
    standings.write_text(standings.read_text().replace('"rank": 1', '"rank": 2').replace('"rank":1', '"rank":2'))
    done = treelings("verify", league / "site", cwd=league.parent)
    assert done.code == 1
    assert "rank" in done.err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("index.html", "the one with league.json in it, got a page"),
        ("", "got that of a league; its site is {given}/site"),
    ],
)
def test_verify_names_the_folder_that_it_takes_in_the_place_of_one_near_it(
    league: Path, given: str, words: str
) -> None:
    (league / "index.html").touch()
    done = treelings("verify", league / given, cwd=league.parent)
    assert (done.code, done.out) == (2, "")
    assert "expected the folder of a site, " + words.format(given=league / given) in done.err


def test_a_match_is_played_recorded_replayed_and_verified(tmp_path: Path) -> None:
    secret = "ab" * 32
    done = treelings(
        "match", "random", "greedy", "neighbour", "--deals", "1", "--secret", secret, "--refill", "end",
        "--sandbox", "process", "--records", "games.jsonl", cwd=tmp_path,
    )  # fmt: skip
    assert done.code == 0
    assert secret in done.out
    assert len((tmp_path / "games.jsonl").read_text().splitlines()) == 3
    verified = treelings("verify", "games.jsonl", "--secret", secret, cwd=tmp_path)
    assert (verified.code, verified.out.splitlines()[-1]) == (0, "verified: 3 games, 1 decks")
    shown = treelings("replay", "games.jsonl", "--game", "3", cwd=tmp_path)
    assert shown.code == 0
    assert "firefly shows up" in shown.out
    assert "points" in shown.out


def test_a_deal_of_a_night_can_be_played_by_its_id(tmp_path: Path) -> None:
    done = treelings(
        "match", "random", "greedy", "--secret", "00" * 32, "--deal-id", "demo/0", "--sandbox", "process",
        "--records", "games.jsonl", cwd=tmp_path,
    )  # fmt: skip
    assert done.code == 0
    first = json.loads((tmp_path / "games.jsonl").read_text().splitlines()[0])
    assert first["deal"] == "demo/0"
    assert first["deck"].startswith("YPORYBORPY")  # the vector of rules.md


def test_a_bot_withdraws_from_the_next_nights_and_its_games_stay(league: Path) -> None:
    assert treelings("league", "run", league, "--sandbox", "process", cwd=league.parent).code == 0
    gone = treelings("league", "remove", league, "greedy", cwd=league.parent)
    assert re.fullmatch(r"greedy [0-9a-f]{8} joins no further night; what it played stays\n", gone.out)
    assert "greedy" not in treelings("league", "bots", league, cwd=league.parent).out
    assert "Night 2: 2 bots, matches: 1" in treelings("league", "open", league, cwd=league.parent).out
    assert treelings("league", "reveal", league, "--night", "1", cwd=league.parent).code == 0
    assert "verified: 6 games, 3 decks" in treelings("verify", league / "site", cwd=league.parent).out
    again = treelings("league", "remove", league, "greedy", cwd=league.parent)
    assert (again.code, "no bot 'greedy'" in again.err) == (2, True)
    back = treelings("league", "add", league, "greedy", cwd=league.parent)
    assert back.out.endswith("joins the next night\n")


def test_a_bot_withdraws_from_a_night_that_has_not_begun(league: Path) -> None:
    opened = treelings("league", "open", league, cwd=league.parent)
    gone = treelings("league", "remove", league, "greedy", cwd=league.parent)
    assert "leaves night 1 and joins no further one\nNight 1: 2 bots, matches: 1\n" in gone.out
    assert gone.out.splitlines()[-1] == opened.out.splitlines()[1]  # the commitment stays
    assert "greedy" not in (league / "site/league.json").read_text()


def test_a_bot_may_sit_at_a_table_twice(tmp_path: Path) -> None:
    done = treelings("match", "random", "random", "--deals", "1", "--sandbox", "process", cwd=tmp_path)
    assert done.code == 0
    assert "random-2" in done.out


def test_without_an_engine_samples_play_with_one_clear_line(tmp_path: Path) -> None:
    done = treelings("match", "random", "greedy", "--deals", "1", cwd=tmp_path, env=NO_ENGINE)
    assert done.code == 0
    assert len(done.err.strip().splitlines()) == 1
    assert "isolates nothing" in done.err


def test_without_an_engine_strangers_are_refused_unless_trusted(stranger: Path, tmp_path: Path) -> None:
    refused = treelings("match", stranger, "random", "--deals", "1", cwd=tmp_path, env=NO_ENGINE)
    assert refused.code == 2
    assert refused.err.startswith(
        "error: stranger: no sample bot, and nothing isolates bots here (no containers: connecting to unix:///nonexistent/"
    )
    assert "start a Docker engine" in refused.err
    assert "--trust-bots" in refused.err
    assert "bots run as plain processes" not in refused.err  # none does
    trusted = treelings("match", stranger, "random", "--deals", "1", "--trust-bots", cwd=tmp_path, env=NO_ENGINE)
    assert trusted.code == 0
    assert "stranger" in trusted.out


def test_who_wished_for_plain_processes_is_told_that_this_is_why_a_stranger_is_refused(
    stranger: Path, tmp_path: Path
) -> None:
    refused = treelings("match", stranger, "random", "--sandbox", "process", cwd=tmp_path)
    assert refused.code == 2
    assert refused.err == (
        "error: stranger: no sample bot, and --sandbox process isolates nothing; leave that out, or add --trust-bots "
        "if you trust whoever wrote them\n"
    )


def test_no_bot_is_said_to_run_where_the_night_cannot_be_opened(tmp_path: Path) -> None:
    treelings("league", "init", "night", cwd=tmp_path)
    treelings("league", "add", "night", "random", cwd=tmp_path)
    refused = treelings("league", "run", "night", cwd=tmp_path, env=NO_ENGINE)
    assert refused.code == 2
    assert "2 bots" in refused.err
    assert "plain processes" not in refused.err


def test_a_league_with_a_stranger_needs_a_sandbox_or_trust(league: Path, stranger: Path) -> None:
    treelings("league", "add", league, stranger, "--no-trial", cwd=league.parent)
    refused = treelings("league", "run", league, cwd=league.parent, env=NO_ENGINE)
    assert refused.code == 2
    assert "--trust-bots" in refused.err
    trusted = treelings("league", "run", league, "--trust-bots", cwd=league.parent, env=NO_ENGINE)
    assert trusted.code == 0


def test_docker_wished_for_and_missing_is_a_failure(tmp_path: Path) -> None:
    done = treelings("match", "random", "greedy", "--sandbox", "docker", cwd=tmp_path, env=NO_ENGINE)
    assert done.code == 1
    assert "engine" in done.err


def test_doctor_fails_without_an_engine_and_says_what_to_do(tmp_path: Path) -> None:
    done = treelings("doctor", cwd=tmp_path, env=NO_ENGINE)
    assert done.code == 1
    assert "✗" in done.out
    assert "→" in done.out
    assert done.out.endswith("; --trust-bots runs those that you trust as plain processes.\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["match", "random"], ["2 to 5", "1"]),
        (["match", "random", "nobody"], ["nobody"]),
        (["match", "random", "x" * 256], ["expected a bot's folder", "got neither"]),
        (["league", "status", "x" * 256], ["xxx…: expected a path, got a name too long to be one"]),
        (["match", "random", "greedy", "--secret", "abc"], ["64 hex digits", "abc"]),
        (["match", "random", "greedy", "--deal-id", "x", "--deals", "2"], ["--deal-id"]),
        (["match", "random", "greedy", "--deals", "0"], ["deals"]),
        (["match", "random", "greedy", "--refill", "never"], ["never"]),
        (["league", "run", "nowhere"], ["nowhere", "league init"]),
        (["verify", "nowhere"], ["nowhere", "expected a file of records or the folder of a site"]),
        (["verify", "https://example.org/x y"], ["download the folder first: wget -r -np 'https://example.org/x y'"]),
        (["verify", ".", "--secret", "ab" * 32], ["--secret: ", "a site tells its own secrets"]),
        (["replay", "nowhere"], ["nowhere"]),
        (["new", "mybot", "--language", "rust"], ["Invalid value for '--language': 'rust' is not one of"]),
        (["league", "bogus"], ["bogus"]),
        (["--bogus"], ["bogus"]),
        (["match", "--deals"], ["--deals"]),
        (["match"], ["error: a table has 2 to 5 bots, got 0; such as: treelings match random greedy"]),
    ],
)
def test_wrong_use_exits_with_2_and_names_what_was_wrong(
    arguments: list[str], words: list[str], tmp_path: Path
) -> None:
    done = treelings(*arguments, cwd=tmp_path)
    assert done.code == 2
    assert done.err.startswith("error: ")
    for word in words:
        assert word in done.err


def test_a_broken_record_is_named_by_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "games.jsonl").write_text('{"format": "treelings-game/1"}\n')
    done = treelings("verify", "games.jsonl", cwd=tmp_path)
    assert done.code == 1
    assert "games.jsonl" in done.err
    assert "line 1" in done.err


def test_replay_of_a_game_that_is_not_there_says_how_many_there_are(tmp_path: Path) -> None:
    treelings("match", "random", "greedy", "--deals", "1", "--sandbox", "process", "--records", "g.jsonl", cwd=tmp_path)
    done = treelings("replay", "g.jsonl", "--game", "3", cwd=tmp_path)
    assert done.code == 2
    assert "1 to 2" in done.err


def test_a_typo_in_the_settings_is_refused_with_a_suggestion(league: Path) -> None:
    settings = league / "league.toml"
    settings.write_text(settings.read_text().replace("deals =", "deal ="))
    done = treelings("league", "status", league, cwd=league.parent)
    assert done.code == 2
    assert "league.toml" in done.err
    assert "deals" in done.err


def test_completion_is_offered_for_the_shell(tmp_path: Path) -> None:
    # From a shell of its own, since the command asks which one started it; two commands, so that it stays the parent.
    command = ["bash", "-c", '"$0" -m referee.cli --show-completion; exit $?', sys.executable]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "complete" in done.stdout


def test_square_brackets_in_names_are_shown_as_they_are(stranger: Path, tmp_path: Path) -> None:
    (stranger / "bot.toml").write_text((stranger / "bot.toml").read_text().replace('"Ann"', '"[/b]Ann[red]"'))
    assert treelings("league", "init", "night", "--name", "x[/b]y", cwd=tmp_path).code == 0
    settings = tmp_path / "night/league.toml"
    settings.write_text(settings.read_text().replace("deals = 10", "deals = 1"))
    treelings("league", "add", "night", stranger, "random", "--no-trial", cwd=tmp_path)
    assert "[/b]Ann[red]" in treelings("league", "bots", "night", cwd=tmp_path).out
    ran = treelings("league", "run", "night", "--sandbox", "process", "--trust-bots", cwd=tmp_path)
    assert ran.code == 0
    assert "x[/b]y, night 1" in ran.out
    assert "[/b]Ann[red]" in ran.out


def test_a_terminal_that_knows_only_ascii_is_no_reason_to_fail(stranger: Path, league: Path) -> None:
    (stranger / "bot.toml").write_text((stranger / "bot.toml").read_text().replace('"Ann"', '"Zoë"'))
    treelings("league", "add", league, stranger, "--no-trial", cwd=league.parent)
    done = treelings("league", "bots", league, cwd=league.parent, env={"PYTHONIOENCODING": "ascii"})
    assert done.code == 0
    assert "Zo\\xeb" in done.out
    assert treelings("--help", cwd=league.parent, env={"PYTHONIOENCODING": "ascii"}).code == 0


@pytest.mark.parametrize(
    ("command", "full", "said"),
    [("--version", "stdout", b"error: No space left on device; make room there\n"), ("check nobody", "stderr", b"")],
)
def test_an_output_that_is_full_is_told_once_and_ends_as_any_other_failure(
    command: str, full: str, said: bytes
) -> None:
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("wb") as device:
        done = subprocess.run(
            [sys.executable, "-m", "referee.cli", *command.split()],
            stdout=device if full == "stdout" else subprocess.PIPE,
            stderr=device if full == "stderr" else subprocess.PIPE,
            env=buffered, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stdout or done.stderr or b"") == (1, said)


def test_what_to_do_next_and_errors_break_between_words_on_a_terminal(league: Path) -> None:
    narrow = {"FORCE_COLOR": "1", "COLUMNS": "20"}
    told = treelings("league", "status", "none", cwd=league.parent, env=narrow).err
    words = re.sub(r"\x1b\[[\d;]*m", "", told)
    assert [line.strip() for line in words.splitlines()[:2]] == ["error: none is no", "league: no"]
    lines = treelings("league", "status", league, cwd=league.parent, env=narrow).out.splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("next:"))
    assert [line.strip() for line in lines[begin : begin + 2]] == ["next: treelings", "league run"]


def test_a_run_that_is_refused_opens_no_night(league: Path, stranger: Path) -> None:
    treelings("league", "add", league, stranger, "--no-trial", cwd=league.parent)
    assert treelings("league", "run", league, cwd=league.parent, env=NO_ENGINE).code == 2
    assert "no night yet" in treelings("league", "status", league, cwd=league.parent).out


def test_a_night_is_not_opened_with_bots_whose_files_were_changed(league: Path) -> None:
    changed = min(league.glob("bots/*/bot.py"))
    changed.chmod(0o644)
    changed.write_text("import treelings\n")
    done = treelings("league", "run", league, "--sandbox", "process", "--trust-bots", cwd=league.parent)
    assert done.code == 2
    assert "were changed" in done.err
    assert "no night yet" in treelings("league", "status", league, cwd=league.parent).out


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE nights SET settings = '{'",
        "UPDATE nights SET settings = '{}'",
        "UPDATE nights SET bots = '7'",
        "UPDATE games SET record = x'ff'",
        "UPDATE bots SET command = 'x'",
    ],
)
def test_a_damaged_database_is_named(damage: str, league: Path) -> None:
    assert treelings("league", "run", league, "--sandbox", "process", cwd=league.parent).code == 0
    with contextlib.closing(sqlite3.connect(league / "league.db")) as database:
        database.execute(damage)
        database.commit()
    done = treelings("league", "publish", league, cwd=league.parent)
    assert done.code == 1
    assert "league.db" in done.err
    assert len(done.err.splitlines()) <= 2


def test_an_init_that_failed_can_be_tried_again(tmp_path: Path) -> None:
    command = f"{sys.executable} -m referee.cli league init night"
    # No file may grow beyond 4 kB: the database cannot be written, as on a full disk.
    failed = subprocess.run(
        ["bash", "-c", f"trap '' XFSZ; ulimit -f 4; {command}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert failed.returncode == 1, failed.stderr
    assert "league.db" in failed.stderr
    assert treelings("league", "init", "night", cwd=tmp_path).code == 0


@pytest.mark.parametrize("command", [(), ("league",), ("image",)])
def test_without_arguments_the_help_is_the_answer(command: tuple[str, ...], tmp_path: Path) -> None:
    done = treelings(*command, cwd=tmp_path)
    assert done.code == 2
    assert "Usage" in done.out
    assert "error" not in done.err


def test_the_versions_can_be_asked_for(tmp_path: Path) -> None:
    done = treelings("--version", cwd=tmp_path)
    assert done.code == 0
    assert re.fullmatch(r"treelings-referee \d+\.\d+\.\d+, treelings \d+\.\d+\.\d+\n", done.out)


def test_a_place_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = treelings(
        "match", "random", "greedy", "--sandbox", "process", "--records", "/nowhere/games.jsonl", cwd=tmp_path
    )
    assert done.code == 1
    assert done.err.splitlines()[-1].startswith("error: /nowhere/games.jsonl: No such file or directory")


def test_a_bot_is_told_apart_from_its_twins_whatever_they_are_called(stranger: Path, tmp_path: Path) -> None:
    longest = "a" * 32
    (stranger / "bot.toml").write_text((stranger / "bot.toml").read_text().replace('"stranger"', f'"{longest}"'))
    done = treelings(
        "match", stranger, stranger, stranger, "--deals", "1", "--sandbox", "process", "--trust-bots",
        "--records", "games.jsonl", cwd=tmp_path,
    )  # fmt: skip
    assert done.code == 0
    assert treelings("verify", "games.jsonl", cwd=tmp_path).code == 0


def test_ctrl_c_ends_a_run_with_words_and_exit_code_1(league: Path) -> None:
    settings = league / "league.toml"
    settings.write_text(settings.read_text().replace("deals = 1", "deals = 500"))
    with subprocess.Popen(
        [sys.executable, "-m", "referee.cli", "league", "run", str(league), "--sandbox", "process"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline().startswith("Night 1")
        while not recorded(league):
            assert process.poll() is None
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        words = process.stderr.read()
        assert process.wait(60) == 1
    assert "finished games are kept" in words
    assert "Traceback" not in words


def recorded(league: Path) -> int:
    with contextlib.closing(sqlite3.connect(league / "league.db")) as database:
        (games,) = database.execute("SELECT count(*) FROM games").fetchone()
    return int(games)
