"""`treelings new`: what it makes, what it prints, and that its next commands work."""

import getpass
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.support.command import help_of, treelings

PLAIN = ("--sandbox", "process", "--trust-bots")


def test_the_folder_and_the_next_commands_are_told(tmp_path: Path) -> None:
    done = treelings("new", "mybot", "--into", "my bots", "--author", "Ann", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[:5] == [
        "my bots/mybot/",
        "├── README.md",
        "├── bot.py",
        "├── bot.toml",
        "└── test_bot.py",
    ]
    commands = [shlex.split(line, comments=True) for line in done.out.splitlines() if line.startswith("  treelings")]
    assert [command[1] for command in commands] == ["check", "match", "league"]
    assert all("my bots/mybot" in command for command in commands)


NPM = ("npm", "ci", "--ignore-scripts", "--no-audit")


@pytest.mark.parametrize(  # a bot that is to be compiled plays in test_runtimes.py
    ("language", "made_by"), [("python", ()), pytest.param("javascript", NPM, marks=pytest.mark.npm)]
)
def test_it_beats_random_as_it_is(language: str, made_by: tuple[str, ...], tmp_path: Path) -> None:
    assert treelings("new", "mybot", "--language", language, cwd=tmp_path).code == 0
    if made_by:
        subprocess.run(made_by, cwd=tmp_path / "mybot", capture_output=True, check=True)
    done = treelings("match", "mybot", "random", "--deals", "3", "--secret", "00" * 32, *PLAIN, cwd=tmp_path)
    assert done.code == 0, done.err
    assert re.search(r"^1 +mybot ", done.out, re.MULTILINE), done.out
    assert "forfeits" not in done.err


def test_the_author_is_who_git_says_or_who_is_logged_in(tmp_path: Path) -> None:
    def author(name: str, **env: str) -> object:
        assert treelings("new", name, cwd=tmp_path, env=env).code == 0
        return tomllib.loads((tmp_path / name / "bot.toml").read_text())["author"]

    (tmp_path / "gitconfig").write_text('[user]\n\tname = "Ann  Lee"\n')
    (tmp_path / "empty").write_text("")
    nothing_else = {"GIT_CONFIG_SYSTEM": str(tmp_path / "empty"), "GIT_CONFIG_COUNT": "0"}
    assert author("one", GIT_CONFIG_GLOBAL=str(tmp_path / "gitconfig"), **nothing_else) == "Ann Lee"
    assert author("two", GIT_CONFIG_GLOBAL=str(tmp_path / "empty"), **nothing_else) == getpass.getuser()
    assert author("three", PATH=str(tmp_path)) == getpass.getuser()


def test_what_cannot_be_is_wrong_use(tmp_path: Path) -> None:
    done = treelings("new", "My Bot", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "such as my-bot, got" in done.err
    assert treelings("new", "x", "--language", "cobol", cwd=tmp_path).code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("language", "many"), [("python", 6), ("javascript", 7), ("cpp", 7), ("go", 8)])
def test_the_commands_of_its_readme_exist(language: str, many: int, tmp_path: Path) -> None:
    treelings("new", "mybot", "--language", language, cwd=tmp_path)
    shown = re.findall(
        r"`(treelings [^`]*)`|^    (treelings .*)$", (tmp_path / "mybot/README.md").read_text(), re.MULTILINE
    )
    commands = [shlex.split(inline or block, comments=True) for inline, block in shown]
    assert len(commands) == many
    for command in commands:
        said = help_of(*command[1 : 3 if command[1] == "league" else 2])
        assert all(word in said for word in command if word.startswith("--"))
