"""`treelings check`: its verdict and exit code, its JSON, and what is wrong use."""

import json
import re
import sys
from pathlib import Path

import pytest

from tests.support.bot_sources import kit_bot
from tests.support.command import NO_ENGINE, Done, treelings
from tests.support.submissions import bot_folder
from treelings.v1.game_pb2 import Query

ROOT = Path(__file__).parents[2]
PLAIN = ("--sandbox", "process", "--trust-bots")
CALM = "[clock]\nstartup_ms = 60_000\nmove_ms = 60_000\nbank_ms = 600_000\n"
"""Far more time than a bot needs: one that is slow is told so, and on a busy machine any may be."""

GOOD = kit_bot()
CRASHING = kit_bot("def choose(self, view):\n    print('\\x1b[2J')\n    raise KeyError('lost')")


def check(bot: str | Path, *arguments: str | Path, cwd: Path, env: dict[str, str] | None = None) -> Done:
    return treelings("check", bot, *arguments, cwd=cwd, env=env)


@pytest.fixture
def night(tmp_path: Path) -> Path:
    """A league's folder, whose settings give bots all the time that they need."""
    (tmp_path / "night").mkdir()
    (tmp_path / "night/league.toml").write_text('name = "night"\nseats = [2, 5]\n' + CALM)
    return tmp_path / "night"


def test_a_good_bot_passes_and_the_next_commands_are_told(night: Path, tmp_path: Path) -> None:
    bot_folder(tmp_path, "ann", code=GOOD)
    done = check("ann", "--league", "night", *PLAIN, cwd=tmp_path)
    assert done.code == 0, done.out
    lines = done.out.splitlines()
    assert [line[0] for line in lines if re.match(r"\S \d ", line)] == list("✓✓!✓✓✓✓✓")
    assert lines[-2] == "ann is ready to play, with 1 thing to look at (!)."
    typed = " ".join(PLAIN)  # without it, these would be refused where the bot has just passed
    assert lines[-1] == f"Next: treelings match ann greedy {typed}, or treelings league add night ann {typed}"
    assert {*tmp_path.iterdir(), *night.iterdir()} == {tmp_path / "ann", night, night / "league.toml"}


def test_a_sample_is_checked_without_trust(tmp_path: Path) -> None:
    done = check("greedy", "--seats", "3", cwd=tmp_path, env=NO_ENGINE)
    assert done.code == 0, done.out
    assert "three seats" in done.out
    assert "two seats" not in done.out
    assert done.out.endswith("\nNext: treelings match greedy greedy, or treelings league add LEAGUE greedy\n")


def keys_of(section: str) -> set[str]:
    page = (ROOT / "docs/spec/check.md").read_text(encoding="utf-8")
    told = page.split(f"\n## {section}\n")[1].split("\n## ")[0] if section else page.split("\n## ")[0]
    return {key for cell in re.findall(r"^\| (`.*?) \|", told, re.MULTILINE) for key in re.findall(r"`(\w+)`", cell)}


@pytest.mark.usefixtures("night")
def test_as_json_it_is_one_object_with_the_keys_that_are_documented(tmp_path: Path) -> None:
    bot_folder(tmp_path, "ann", code=CRASHING)
    done = check("ann", "--league", "night", "--json", *PLAIN, cwd=tmp_path)
    assert done.code == 1
    told = json.loads(done.out)
    assert (told["format"], told["bot"], told["verdict"]) == ("treelings-check/1", "ann", "bad")
    steps = {step["name"]: step for step in told["steps"]}
    assert [step["outcome"] for step in told["steps"]] == (
        ["passed", "passed", "warning", "passed", "failed", "not reached", "not reached", "not reached"]
    )
    assert {*told, *steps["files"]} - {"format"} == keys_of("")
    problem = steps["two seats"]["problem"]
    assert problem.keys() == keys_of("A problem")
    assert problem["fault"] == "crash"
    assert problem["query"]["turn"] == problem["turn"] == len(problem["query"]["history"])
    assert problem["log"][-1] == "KeyError: 'lost'"
    assert "\x1b" not in done.out
    page = (ROOT / "docs/spec/check.md").read_text(encoding="utf-8")
    for step in steps.values():
        assert all(f"`{key}`" in page for key in step["figures"])
        assert step["problem"] is None or step["name"] == "two seats"


def test_an_author_in_another_language_is_shown_the_query_as_it_was_sent(tmp_path: Path) -> None:
    run = f"#!/bin/sh\nexec {sys.executable} bot.py\n"  # what a program is written in does not show
    toml = 'name = "ann"\nauthor = "Ann"\ncommand = ["./run"]\nruntime = "native"\n'
    (bot_folder(tmp_path, "ann", code=CRASHING, toml=toml, files={"run": run}) / "run").chmod(0o755)
    done = check("ann", *PLAIN, cwd=tmp_path)
    assert done.code == 1, done.out
    assert done.out.endswith("Next: mend that, then treelings check ann --sandbox process --trust-bots\n")
    asked = done.out.split("  query    ")[1].split("  its log  ")[0]
    assert asked.startswith("# Query; the game's Start said seat: ")
    assert re.findall(r"^ {11}(\w+): ", asked, re.MULTILINE) == [field.name for field in Query.DESCRIPTOR.fields]


def test_json_is_json_whatever_the_terminal_writes(tmp_path: Path) -> None:
    (tmp_path / "Zoë 🐦").mkdir()
    done = check("Zoë 🐦", "--json", cwd=tmp_path, env={"PYTHONIOENCODING": "ascii"})
    assert done.out.isascii()
    assert json.loads(done.out)["bot"] == "Zoë 🐦"


def test_of_a_good_bot_every_figure_is_documented(tmp_path: Path) -> None:
    done = check("random", "--json", "--sandbox", "process", cwd=tmp_path)
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert told["verdict"] == "good"
    page = (ROOT / "docs/spec/check.md").read_text(encoding="utf-8")
    assert all(step["figures"] for step in told["steps"])
    assert all(f"`{key}`" in page for step in told["steps"] for key in step["figures"])


def test_what_is_no_bot_is_wrong_use(tmp_path: Path) -> None:
    for asked in ((), ("--json",)):
        done = check("nobody", *asked, cwd=tmp_path)
        assert (done.code, done.out) == (2, "")
        assert "nobody: expected a bot's folder, its .zip or .tar.gz, or the name of a sample bot" in done.err
    done = check("random", "--league", "nowhere", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "league.toml: cannot be read" in done.err


def test_files_that_are_no_bot_fail_a_step(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no archive")
    done = check("notes.txt", cwd=tmp_path)
    assert done.code == 1
    assert done.out.startswith("✗ 1 files       ")
    assert "notes.txt is not ready to play: step 1 (files) failed." in done.out


def test_without_an_engine_one_has_to_choose(tmp_path: Path) -> None:
    bot_folder(tmp_path, "ann", code=GOOD)
    done = check("ann", cwd=tmp_path, env=NO_ENGINE)
    assert done.code == 2
    assert "--trust-bots" in done.err
    done = check("ann", "--sandbox", "docker", cwd=tmp_path, env=NO_ENGINE)
    assert done.code == 1
    assert re.search(r"^\? 3 sandbox ", done.out, re.MULTILINE)
    assert "ann could not be checked to the end, by no fault of its own." in done.out


@pytest.mark.docker
@pytest.mark.usefixtures("runtime_image")
def test_in_containers_by_a_leagues_settings(tmp_path: Path) -> None:
    bot_folder(tmp_path, "ann", code=GOOD)
    (tmp_path / "night").mkdir()
    (tmp_path / "night/league.toml").write_text('name = "night"\nseats = 2\n[sandbox]\nmemory_mb = 128\n' + CALM)
    done = check("ann", "--league", "night", cwd=tmp_path)
    assert done.code == 0, done.out
    assert "✓ 3 sandbox    a container: no network, 128 MB, 1 core" in done.out
    assert "ann is ready to play." in done.out
    assert done.out.endswith("treelings league add night ann\n")
