"""What is read from a stranger's file: replayed and verified by the command line."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import typer

from referee.cli.app import app
from referee.errors import UsageError
from referee.model import FaultKind, GameRecord
from referee.records import states
from referee.schedule import plan_match
from tests.support.bot_sources import kit_bot
from tests.support.command import Done, treelings
from tests.support.records import BOTS, random_record
from tests.support.sites import write_records
from tests.support.submissions import bot_folder

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


def test_a_file_without_games_is_said_to_hold_none(tmp_path: Path) -> None:
    (tmp_path / "games.jsonl").touch()
    done = treelings("replay", "games.jsonl", cwd=tmp_path)
    assert (done.code, done.err) == (2, "error: games.jsonl: no game 1; it holds none\n")


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


def test_what_bots_say_of_their_moves_is_shown_and_acts_on_no_terminal(tmp_path: Path) -> None:
    game = forfeited()
    said = replace(game.moves[0], comment=EVIL + "[bold]all mine")
    write_records(tmp_path / "games.jsonl", [replace(game, moves=(said, *game.moves[1:]))])
    done = treelings("replay", "games.jsonl", cwd=tmp_path)
    assert done.code == 0
    assert r"“\x1b]0;pwned\x07\x1b[2J\u202e[bold]all mine”" in done.out
    assert all(char.isprintable() or char == "\n" for char in done.out)


ASK = ("--sandbox", "process", "--trust-bots")
FIRST_BOT = "def choose(self, view): return view.legal_moves[0]"


@pytest.fixture
def played(tmp_path: Path) -> GameRecord:
    """A game of three seats in games.jsonl; seat 1 forfeits in it."""
    spec = plan_match(league="", night=None, bots=BOTS[:3], deals=1, refill="start").games[0]
    records = (random_record(spec, bytes(32), Random(seed), fault_chance=0.02) for seed in range(500))
    game = next(
        game
        for game in records
        if game.ended == "festival" and [fault.seat for fault in game.faults] == [1] and game.faults[0].turn > 3
    )
    write_records(tmp_path / "games.jsonl", [game])
    return game


def asked(tmp_path: Path, seat: int | str, code: str, *more: str) -> Done:
    """What a bot of this code says to the seat's positions."""
    bot = bot_folder(tmp_path, "mybot", kit_bot(code))
    return treelings("replay", "games.jsonl", "--as", str(seat), "--bot", bot, *ASK, *more, cwd=tmp_path)


def test_a_bot_is_asked_what_the_seat_was_asked(tmp_path: Path, played: GameRecord) -> None:
    done = asked(tmp_path, 0, FIRST_BOT, "--json")
    assert done.code == 0, done.err
    value = json.loads(done.out)
    turns = [turn for turn, move in enumerate(played.moves) if move.seat == 0]
    assert [each["turn"] for each in value["turns"]] == turns
    positions = [*states(played)]
    for each in value["turns"]:
        turn = each["turn"]
        assert each["played"] == played.moves[turn].move
        assert each["played_margin"] == positions[turn + 1].margin(0)
        assert each["move"] == each["position"]["legal_moves"][0]
        assert each["position"]["history"] == [move.move for move in played.moves[:turn]]
        assert each["same"] == (each["move"] == each["played"])
    same = [each["turn"] for each in value["turns"] if each["same"]]
    assert (value["asked"], value["same"], value["failed"]) == (len(turns), len(same), 0)
    assert value["first_difference"] == min({*turns} - {*same})


def test_where_a_bot_differs_is_told_line_by_line(tmp_path: Path, played: GameRecord) -> None:
    moves = [move.move for move in played.moves]
    code = f"""
    def choose(self, view):
        self.say(f"as on turn {{view.turn}}")
        move = treelings.Move.parse({moves!r}[view.turn])
        return next(other for other in view.legal_moves if other is not move) if view.turn == 8 else move
    """
    done = asked(tmp_path, played.seats[2].bot, code)
    assert done.code == 0, done.err
    count = sum(move.seat == 2 for move in played.moves)
    assert f"{count - 1} of {count} the same; first difference at turn 8; failures: 0" in done.out
    assert [line.split()[0] for line in done.out.splitlines() if "≠" in line] == ["8"]
    assert "“as on turn 2”" in done.out


def test_the_position_in_which_a_seat_forfeited_can_be_asked_alone(tmp_path: Path, played: GameRecord) -> None:
    (fault,) = played.faults
    done = asked(tmp_path, 1, FIRST_BOT, "--turn", str(fault.turn))
    assert done.code == 0, done.err
    assert "forfeit" in done.out
    assert "0 of 1 the same" in done.out


def test_a_bot_that_fails_is_told_why_and_goes_on_afresh(tmp_path: Path, played: GameRecord) -> None:
    code = """
    def choose(self, view):
        if view.turn == 3: raise RuntimeError("lost the thread")
        if view.turn == 6: return treelings.Move.parse("-")
        return view.legal_moves[0]
    """
    done = asked(tmp_path, 0, code)
    assert done.code == 1
    assert "✗ crash" in done.out
    assert "✗ illegal_move" in done.out
    assert "RuntimeError: lost the thread" in done.out
    assert "failures: 2" in done.out
    assert "--turn 3 --json" in done.out
    assert done.out.count("=") + done.out.count("≠") >= sum(move.seat == 0 for move in played.moves) - 2


def test_a_bot_that_does_not_start_is_asked_no_more(tmp_path: Path, played: GameRecord) -> None:
    done = asked(tmp_path, 0, "def start(self, game): raise RuntimeError('no way')")
    assert done.code == 1
    assert done.out.count("✗") == 1
    assert "✗ startup" in done.out
    assert "since it does not start" in done.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--as", "0"], "--as SEAT and --bot BOT belong together"),
        (["--bot", "random"], "--as SEAT and --bot BOT belong together"),
        (["--json"], "--turn and --json are for --as SEAT --bot BOT"),
        (["--turn", "3"], "--turn and --json are for --as SEAT --bot BOT"),
        (["--as", "3", "--bot", "random"], "expected a seat of the game, 0 (amber), 1 (birch), 2 (cedar); got 3"),
        (["--as", "\x1b[2J", "--bot", "random"], r"got \x1b[2J"),
        (["--as", "9" * 5_000, "--bot", "random"], "expected a seat of the game"),
        (["--game", "2"], "games.jsonl: no game 2; expected 1 to 1"),
        (["--game", "9" * 30], f"games.jsonl: no game {'9' * 30}; expected 1 to 1"),
        (["--as", "0", "--bot", "random", "--turn", "1"], "--turn 1: seat 0 was not asked then; expected one of 0, 3"),
        (["--as", "0", "--bot", "nobody"], "nobody"),
    ],
)
def test_what_cannot_be_asked_is_told(tmp_path: Path, played: GameRecord, arguments: list[str], words: str) -> None:
    with pytest.raises((UsageError, typer.BadParameter)) as error:
        app(["replay", str(tmp_path / "games.jsonl"), *arguments, "--sandbox", "process"], standalone_mode=False)
    assert words in str(error.value)
