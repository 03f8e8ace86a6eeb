"""Text that strangers chose, on its way through the commands to a terminal."""

import json
from pathlib import Path
from random import Random

import pytest

from referee.records import to_json
from referee.schedule import plan_match
from tests.support.command import NO_ENGINE, treelings
from tests.support.records import BOTS, random_record

EVIL = "\x1b]0;pwned\x07\x1b[2J\u202e"


def inert(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


@pytest.mark.parametrize("bot_toml", [None, "name = ", f'name = "{EVIL}"', 'name = "x"\nauthor = "\\u001b[2J"'])
def test_a_folder_with_an_evil_name_is_refused_in_harmless_words(tmp_path: Path, bot_toml: str | None) -> None:
    folder = tmp_path / f"bot{EVIL}"
    folder.mkdir()
    if bot_toml is not None:
        (folder / "bot.toml").write_text(bot_toml)
    done = treelings("match", folder, "random", cwd=tmp_path, env=NO_ENGINE)
    assert done.code == 2
    assert "bot.toml" in done.err
    assert inert(done.err)
    assert done.out == ""


@pytest.mark.parametrize("command", ["replay", "verify"])
def test_an_evil_record_is_shown_harmlessly(tmp_path: Path, command: str) -> None:
    game = plan_match(league="", night=None, bots=BOTS[:2], deals=1, refill="start").games[0]
    value = json.loads(to_json(random_record(game, bytes(32), Random(1), fault_chance=0.1)))
    assert value["faults"]
    value |= {"league": EVIL, "deal": EVIL}
    for fault in value["faults"]:
        fault["detail"] = EVIL * 20
    file = tmp_path / f"{EVIL}.jsonl"
    file.write_text(json.dumps(value) + "\n")
    done = treelings(command, file, cwd=tmp_path)
    assert done.code == 0
    assert "x1b]0;pwned" in done.out
    assert inert(done.out)
    assert inert(done.err)
