"""What is read from a stranger's file: replayed and verified by the command line."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from referee.model import FaultKind, GameRecord
from referee.schedule import plan_match
from tests.support.command import treelings
from tests.support.records import BOTS, random_record
from tests.support.sites import write_records

EVIL = "\x1b]0;pwned\x07\x1b[2J\u202e"


def forfeited() -> GameRecord:
    """A game of three seats with a fault."""
    spec = plan_match(league="", night=None, bots=BOTS[:3], deals=1, refill="start").games[0]
    records = (random_record(spec, bytes(32), Random(seed), fault_chance=0.02) for seed in range(100))
    return next(record for record in records if record.faults and record.ended == "festival")


def test_a_replay_shows_nothing_that_acts_on_a_terminal(tmp_path: Path) -> None:
    game = forfeited()
    faults = tuple(replace(fault, detail=EVIL + "[bold]gone") for fault in game.faults)
    write_records(tmp_path / "games.jsonl", [replace(game, deal=EVIL + "/0", faults=faults)])
    done = treelings("replay", "games.jsonl", cwd=tmp_path)
    assert done.code == 0
    assert all(char.isprintable() or char == "\n" for char in done.out)
    assert r"\x1b]0;pwned\x07\x1b[2J\u202e/0, rotation 0" in done.out
    assert str(FaultKind(game.faults[0].kind)) in done.out
    assert "[bold]gone" in done.out


@pytest.mark.parametrize("change", [lambda game: replace(game, deal=None), lambda game: replace(game, deal="")])
def test_only_a_deck_without_a_deal_is_said_to_be_given_by_hand(
    tmp_path: Path, change: Callable[[GameRecord], GameRecord]
) -> None:
    game = change(forfeited())
    write_records(tmp_path / "games.jsonl", [game])
    assert ("given by hand" in treelings("replay", "games.jsonl", cwd=tmp_path).out) == (game.deal is None)


@pytest.mark.parametrize("command", ["replay", "verify"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, command: str) -> None:
    os.mkfifo(tmp_path / "games.jsonl")
    done = treelings(command, "games.jsonl", cwd=tmp_path)
    assert done.code == 1
    assert "games.jsonl: expected a file, got something else" in done.err


@pytest.mark.parametrize("command", [["verify", "games.jsonl"], ["match", "random", "greedy"]])
def test_an_empty_secret_is_no_secret_and_refused(tmp_path: Path, command: list[str]) -> None:
    write_records(tmp_path / "games.jsonl", [forfeited()])
    done = treelings(*command, "--secret", "", cwd=tmp_path)
    assert done.code == 2
    assert "64 hex digits" in done.err


def test_a_deal_id_that_no_reader_would_take_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    done = treelings("match", "random", "greedy", "--deal-id", "x" * 301, "--records", "games.jsonl", cwd=tmp_path)
    assert done.code == 2
    assert "at most 300 characters, got 301" in done.err
    assert not (tmp_path / "games.jsonl").exists()
