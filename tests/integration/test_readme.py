"""What README.md shows is true: its bot plays, its commands exist, its files are there."""

import re
import shlex
from pathlib import Path

import pytest

from tests.support.command import help_of, treelings

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_bot_of_five_minutes_is_the_one_that_new_makes_and_beats_random(tmp_path: Path) -> None:
    assert treelings("new", "mybot", cwd=tmp_path).code == 0
    shown = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert shown is not None
    assert shown[1] == (tmp_path / "mybot/bot.py").read_text(encoding="utf-8")
    done = treelings(
        "match", "mybot", "random", "--deals", "3", "--secret", "00" * 32, "--sandbox", "process", "--trust-bots",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.code == 0, done.err
    rows = [line.split() for line in done.out.splitlines() if "mybot" in line and "%" in line]
    assert rows[0][:2] == ["1", "mybot"]
    assert "forfeits" not in done.err


def commands() -> list[str]:
    shown = re.findall(r"^    (treelings .*?)(?:\s{2,}#.*)?$", README, re.MULTILINE)
    assert len(shown) >= 7
    return shown


@pytest.mark.parametrize("command", commands())
def test_every_command_that_is_shown_exists_with_its_options(command: str) -> None:
    words = shlex.split(command)[1:]
    path = words[:2] if words[0] == "league" else words[:1]
    shown = help_of(*path)
    for option in [word for word in words if word.startswith("--")]:
        assert option in shown


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#]+)\)", README))))
def test_every_link_leads_to_a_file(target: str) -> None:
    assert (ROOT / target).exists()


@pytest.mark.parametrize("target", ["league", "test"])
def test_the_two_commands_are_targets_of_make(target: str) -> None:
    assert re.search(rf"^    make {target}$", README, re.MULTILINE)
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
