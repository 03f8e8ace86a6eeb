import json
import os
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from random import Random

import pytest

from referee.errors import RecordError
from referee.game import play_game
from referee.model import Fault, FaultKind, GameRecord, PlayedMove, SeatHolder
from referee.ports import Failure
from referee.record_file import append_record
from referee.records import (
    MAX_DEAL_ID,
    MAX_RECORD_BYTES,
    from_json,
    problems,
    ranks,
    read_records,
    states,
    to_json,
)
from referee.schedule import plan_match
from tests.support.players import FakePlayer
from tests.support.records import BOTS, SECRET, forfeited, random_record, record, version_of
from tests.support.sites import write_records
from treelings import Clock, State, derive_deck


def fault(seat: int, turn: int) -> Fault:
    return Fault(seat, turn, FaultKind.CRASH, "gone")


class TestText:
    def test_keys_are_in_the_order_of_the_page(self) -> None:
        line = to_json(forfeited(3, 1))
        value = json.loads(line)
        assert list(value) == [
            "format", "league", "night", "match", "deal", "rotation", "rules", "seats", "deck", "moves",
            "festival_turn", "ended", "faults", "scores", "ranks",
        ]  # fmt: skip
        assert list(value["rules"]) == ["players", "refill"]
        assert list(value["seats"][0]) == ["bot", "version"]
        assert list(value["faults"][0]) == ["seat", "turn", "kind", "detail"]
        assert {tuple(move) for move in value["moves"]} == {
            ("seat", "move", "ms"),
            ("seat", "move", "ms", "by"),
        }

    def test_a_record_is_one_compact_line_of_ascii(self) -> None:
        line = to_json(replace(record(), league="Dönerstag \u2028 \u202e"))
        assert line.isascii()
        assert len(line.splitlines()) == 1
        assert '", "' not in line

    @pytest.mark.parametrize("players", [2, 3, 4, 5])
    def test_what_was_written_is_read_again(self, players: int) -> None:
        game = forfeited(players, 1)
        assert from_json(to_json(game)) == game

    def test_a_game_outside_a_league_has_no_night_and_may_have_no_deal(self) -> None:
        game = replace(record(), night=None, deal=None, league="")
        assert from_json(to_json(game)) == game

    def test_the_processor_time_of_a_move_is_written_after_its_time_and_left_out_where_it_is_not_known(self) -> None:
        game = record()
        game = replace(game, moves=(replace(game.moves[0], cpu_ms=1.25), *game.moves[1:]))
        written = json.loads(to_json(game))["moves"]
        assert [list(move) for move in written[:2]] == [["seat", "move", "ms", "cpu_ms"], ["seat", "move", "ms"]]
        assert written[0]["cpu_ms"] == 1.25
        assert from_json(to_json(game)) == game

    def test_a_comment_is_the_last_key_of_its_move_and_left_out_where_there_is_none(self) -> None:
        game = record()
        game = replace(game, moves=(replace(game.moves[0], cpu_ms=1.25, comment="Grün \u2028?"), *game.moves[1:]))
        written = json.loads(to_json(game))["moves"]
        assert [list(move) for move in written[:2]] == [
            ["seat", "move", "ms", "cpu_ms", "comment"],
            ["seat", "move", "ms"],
        ]
        assert to_json(game).isascii()
        assert from_json(to_json(game)) == game
        assert problems(game) == []

    def test_unknown_keys_are_kept_and_written_back_wherever_they_are(self) -> None:
        value = json.loads(to_json(forfeited(3, 1)))
        value["weather"] = {"rain": [1, 2.5, None]}
        value["rules"]["variant"] = "moon"
        value["seats"][1]["colour"] = "red"
        value["moves"][3]["thought"] = "hm"
        value["faults"][0]["log"] = "…"
        line = json.dumps(value)
        assert json.loads(to_json(from_json(line))) == value

    def test_a_record_of_more_than_64_kib_is_neither_written_nor_read(self) -> None:
        game = replace(record(), extra={"long": "x" * MAX_RECORD_BYTES})
        with pytest.raises(RecordError, match="at most 65536 bytes"):
            to_json(game)
        with pytest.raises(RecordError, match="line 7: expected at most 65536 bytes"):
            from_json(" " * MAX_RECORD_BYTES + to_json(record()), "line 7")

    def test_numbers_that_json_cannot_hold_are_not_written(self) -> None:
        with pytest.raises(RecordError, match="JSON"):
            to_json(replace(record(), moves=(PlayedMove(0, "R", float("nan")),)))


def _set(*path: str | int, to: object) -> Callable[[dict[str, object]], None]:
    def change(value: dict[str, object]) -> None:
        at: object = value
        for step in path[:-1]:
            at = at[step]  # type: ignore[index]  # paths of the tests below exist
        at[path[-1]] = to  # type: ignore[index]

    return change


def _drop(key: str) -> Callable[[dict[str, object]], None]:
    def change(value: dict[str, object]) -> None:
        del value[key]

    return change


SHAPES: dict[str, tuple[Callable[[dict[str, object]], None], str]] = {
    "another format": (_set("format", to="treelings-game/2"), r"key format: expected: 'treelings-game/1'"),
    "a missing key": (_drop("deck"), "key deck: expected it to be there"),
    "a number as text": (_set("rotation", to="1"), 'key rotation: expected: a valid integer; got "1"'),
    "a truth as a number": (_set("rotation", to=True), "key rotation: expected: a valid integer; got true"),
    "night 0": (_set("night", to=0), r"key night.*got 0"),
    "a seat beyond the players": (_set("moves", 2, "seat", to=2), "moves with numbers under 2"),
    "a rotation beyond the players": (_set("rotation", to=2), "rotation with numbers under 2"),
    "a negative time": (_set("moves", 2, "ms", to=-1), r"key moves\[2\]\.ms: .*got -1"),
    "a time as text": (_set("moves", 2, "ms", to="3"), r"key moves\[2\]\.ms: .*got \"3\""),
    "a time of too many digits": (_set("moves", 2, "ms", to=10**400), r"key moves\[2\]\.ms"),
    "moves by a stranger": (_set("moves", 0, "by", to="me"), r"key moves\[0\]\.by: expected: 'referee'"),
    "a comment that is no text": (
        _set("moves", 1, "comment", to=7),
        r"key moves\[1\]\.comment: .*a valid string; got 7",
    ),
    "a comment of null": (_set("moves", 1, "comment", to=None), r"key moves\[1\]\.comment: .*a valid string; got null"),
    "a comment of more than 200 characters": (
        _set("moves", 1, "comment", to="a" * 201),
        r"key moves\[1\]\.comment: .*at most 200 characters",
    ),
    "half a character in a comment": (_set("moves", 1, "comment", to="\ud800"), r"key moves\[1\]\.comment"),
    "an unknown kind of fault": (
        _set("faults", to=[{"seat": 0, "turn": 1, "kind": "boredom", "detail": ""}]),
        r"key faults\[0\]\.kind: expected: 'startup'",
    ),
    "an unknown end": (_set("ended", to="tired"), "key ended: expected: 'festival' or 'forfeit'"),
    "an unknown refill": (_set("rules", "refill", to="never"), r"key rules\.refill: expected: 'start' or"),
    "one player": (_set("rules", "players", to=1), r"key rules\.players"),
    "fewer seats than players": (_set("rules", "players", to=3), "3 seats for 3 players, not 2"),
    "fewer ranks than players": (_set("ranks", to=[1]), "2 ranks for 2 players, not 1"),
    "no scores of a finished table": (_set("scores", to=None), "scores where the game was played out"),
    "a bot's name that is none": (_set("seats", 0, "bot", to="<b>"), r"key seats\[0\]\.bot"),
    "a bot's name with a separator": (_set("seats", 0, "bot", to="a-vs-b"), "no '-vs-' in it"),
    "one bot on two seats": (_set("seats", 0, "bot", to="amber"), "a different bot on each seat"),
    "a bot's name of more than 40 characters": (_set("seats", 0, "bot", to="a" * 41), "at most 40 characters"),
    "a deal of more than 300 characters": (_set("deal", to="a" * 301), "key deal: .*at most 300 characters"),
    "a version that is no digest": (_set("seats", 0, "version", to="1.0"), r"key seats\[0\]\.version"),
    "a deck that is too short": (_set("deck", to="ROY"), "key deck: .*at least 109 characters"),
    "letters of no guild in a deck": (_set("deck", to="X" * 109), "key deck: .*pattern"),
    "half a character": (_set("deal", to="\ud800"), "key deal"),
    "moves that are no list": (_set("moves", to={"0": 1}), "key moves: .*got an object with 1 entries"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_record_of_a_wrong_shape_is_refused_naming_line_key_expected_and_got(shape: str) -> None:
    change, message = SHAPES[shape]
    value = json.loads(to_json(record()))
    change(value)
    with pytest.raises(RecordError, match=rf"^games\.jsonl, line 3: .*{message}") as caught:
        from_json(json.dumps(value), "games.jsonl, line 3")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "no JSON at character 1"),
        ("{", "no JSON at character 2"),
        ('{"night": ' + "9" * 1_001 + "}", "got a number of 1,001 digits"),
        ("[]", "got a list with 0 entries"),
        ('{"ms": NaN}', "not finite: NaN"),
        ('{"ms": -Infinity}', "not finite: -Infinity"),
        ('{"ms": 1e999}', "not finite: 1e999"),
        ('{"a": 1, "a": 2}', "the key 'a' twice"),
        ("[" * 60_000, "nested too deeply|no JSON at character 60001"),  # Python 3.14 has room for them
        ('{"night": ' + "9" * 5_000 + "}", "line 1"),
    ],
)
def test_text_that_is_no_json_object_of_finite_numbers_is_refused(line: str, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        from_json(line, "line 1")


def test_the_longest_names_and_deal_that_a_match_writes_are_read_again() -> None:
    names = ["a" * 32, *("a" * 32 + f"-{number}" for number in range(2, 6))]
    match = plan_match(league="", night=None, bots=names, deals=1, refill="start")
    game = random_record(replace(match.games[0], deal_id="d" * MAX_DEAL_ID), SECRET, Random(1))
    assert from_json(to_json(game)) == game


class TestFiles:
    def test_records_are_read_one_a_line_and_empty_lines_are_skipped(self, tmp_path: Path) -> None:
        games = [record(seed=seed) for seed in range(3)]
        path = write_records(tmp_path / "games.jsonl", games)
        path.write_text(path.read_text().replace("\n", "\n\n"))
        assert list(read_records(path)) == games

    @pytest.mark.parametrize("end", ["\n", "", "\n\n"])
    def test_a_record_is_added_on_a_line_of_its_own(self, tmp_path: Path, end: str) -> None:
        games = [record(seed=seed) for seed in range(3)]
        path = tmp_path / "games.jsonl"
        append_record(path, games[0])
        path.write_text(path.read_text().rstrip("\n") + end)
        append_record(path, games[1])
        append_record(path, games[2])
        assert list(read_records(path)) == games
        assert path.read_text().endswith("}\n")

    def test_an_error_names_file_and_line(self, tmp_path: Path) -> None:
        path = write_records(tmp_path / "games.jsonl", [record()])
        path.write_text(path.read_text() + "oops\n")
        with pytest.raises(RecordError, match=r"games\.jsonl, line 2: expected a JSON object"):
            list(read_records(path))

    def test_a_line_without_end_is_not_read_to_its_end(self, tmp_path: Path) -> None:
        path = tmp_path / "games.jsonl"
        path.write_bytes(b"x" * 1_000_000)
        with pytest.raises(RecordError, match="line 1: expected at most 65536 bytes"):
            list(read_records(path))

    def test_bytes_that_are_no_text_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "games.jsonl"
        path.write_bytes(b"\xff\xfe\n")
        with pytest.raises(RecordError, match="line 1: expected UTF-8 text"):
            list(read_records(path))

    def test_a_missing_file_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(RecordError, match=r"none\.jsonl: expected a file, got none"):
            list(read_records(tmp_path / "none.jsonl"))

    def test_a_pipe_is_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "games.jsonl")
        with pytest.raises(RecordError, match=r"games\.jsonl: expected a file, got something else"):
            list(read_records(tmp_path / "games.jsonl"))

    def test_a_file_name_is_shown_printable(self, tmp_path: Path) -> None:
        path = tmp_path / "\x1b[2J.jsonl"
        path.write_text("oops\n")
        for broken in (path, tmp_path / "\x1b[2J", path / "below"):
            with pytest.raises(RecordError) as caught:
                list(read_records(broken))
            assert str(caught.value).isprintable()


class TestStates:
    def test_there_is_one_position_more_than_moves_and_the_last_has_the_scores(self) -> None:
        game = record(3)
        positions = list(states(game))
        assert len(positions) == len(game.moves) + 1
        assert positions[-1].over
        assert positions[-1].scores() == game.scores

    def test_each_position_is_a_move_after_the_one_before(self) -> None:
        for turn, (before, after) in enumerate(pairwise(states(record()))):
            assert (before.turn, after.turn) == (turn, turn + 1)


class TestRanks:
    @pytest.mark.parametrize(
        ("scores", "faults", "expected"),
        [
            ((9, 7, 7, 1), (), (1, 2, 2, 4)),
            ((5, 5, 3), (), (1, 1, 3)),
            ((9, 7, 5), (fault(0, 4),), (3, 1, 2)),
            ((9, 7, 5, 3), (fault(0, 4), fault(1, 6)), (4, 3, 1, 2)),
            (None, (fault(1, 5),), (1, 2)),
            (None, (fault(0, 0), fault(1, 0)), (1, 1)),
            (None, (fault(2, 3), fault(0, 8)), (2, 1, 3)),
        ],
    )
    def test_forfeits_rank_last_and_among_them_the_later_the_better(
        self, scores: tuple[int, ...] | None, faults: tuple[Fault, ...], expected: tuple[int, ...]
    ) -> None:
        assert ranks(len(expected), scores, faults) == expected


class TestProblems:
    @pytest.mark.parametrize("players", [2, 3, 4, 5])
    def test_a_game_by_the_rules_has_none(self, players: int) -> None:
        assert problems(record(players)) == []

    @pytest.mark.parametrize(("players", "count"), [(2, 1), (3, 1), (3, 2), (4, 2), (5, 3)])
    def test_a_game_with_forfeits_by_the_rules_has_none(self, players: int, count: int) -> None:
        assert problems(forfeited(players, count)) == []

    def test_bots_that_never_started_leave_a_game_without_moves(self) -> None:
        startup = tuple(Fault(seat, 0, FaultKind.STARTUP, "") for seat in (0, 1))
        game = replace(
            record(), moves=(), festival_turn=None, ended="forfeit", faults=startup, scores=None, ranks=(1, 1)
        )
        assert problems(game) == []

    def test_a_deck_that_is_none(self) -> None:
        assert problems(replace(record(), deck="R" * 109))[0].startswith("deck: expected")

    def test_a_rotation_out_of_range(self) -> None:
        assert "rotation: expected 0 to 1, got 2" in problems(replace(record(), rotation=2))

    def test_a_match_that_is_not_the_seats(self) -> None:
        assert problems(replace(record(), match="amber-vs-cedar"))[0].startswith("match: expected 'amber-vs-birch'")

    def test_an_illegal_move(self) -> None:
        game = record()
        played = _with_move(game, 4, replace(game.moves[4], move=_illegal(game, 4)))
        assert problems(played)[0].startswith("turn 4: illegal move")

    def test_text_that_is_no_move(self) -> None:
        game = record()
        (problem,) = problems(_with_move(game, 0, replace(game.moves[0], move="\x1b[2J")))
        assert problem.startswith("turn 0: not a move")
        assert problem.isprintable()

    def test_a_move_that_is_not_in_canonical_notation(self) -> None:
        game, turn = _game_with_a_lone_single()
        star = "*" + game.moves[turn].move[1:]
        (problem,) = problems(_with_move(game, turn, replace(game.moves[turn], move=star)))
        assert f"canonical notation, {game.moves[turn].move}, got {star}" in problem

    def test_a_move_of_another_seat(self) -> None:
        game = record()
        (problem,) = problems(_with_move(game, 1, replace(game.moves[1], seat=0)))
        assert problem == "turn 1: expected a move of seat 1, got one of seat 0"

    def test_a_move_of_the_referee_for_a_seat_that_had_not_forfeited(self) -> None:
        game = record()
        (problem,) = problems(_with_move(game, 1, replace(game.moves[1], by_referee=True)))
        assert problem == "turn 1: expected the move to be the bot's own"

    def test_processor_time_on_a_move_of_the_referee(self) -> None:
        game = forfeited(3, 1)
        turn = next(turn for turn, move in enumerate(game.moves) if move.by_referee)
        (problem,) = problems(_with_move(game, turn, replace(game.moves[turn], cpu_ms=0.5)))
        assert "none of the seat's processor time, got 0.5 ms" in problem

    def test_a_move_of_a_bot_whose_seat_had_forfeited(self) -> None:
        game = forfeited(3, 1)
        turn = game.faults[0].turn
        (problem,) = problems(_with_move(game, turn, replace(game.moves[turn], by_referee=False)))
        assert problem.startswith(f"turn {turn}: expected the move to be the referee's")

    def test_a_move_of_the_referee_that_is_not_the_first_legal_one(self) -> None:
        game = forfeited(3, 1)
        turn, other = next(
            (turn, state.legal_moves()[1])
            for turn, state in enumerate(states(game))
            if turn < len(game.moves) and game.moves[turn].by_referee and len(state.legal_moves()) > 1
        )
        (problem,) = problems(_with_move(game, turn, replace(game.moves[turn], move=other.notation)))
        assert f"turn {turn}: expected the referee to play the first legal move" in problem

    def test_moves_after_the_end(self) -> None:
        game = record()
        longer = replace(game, moves=(*game.moves, PlayedMove(0, "R", 1.0)))
        assert problems(longer) == [f"turn {len(game.moves)}: expected no more moves after the end, got 1"]

    def test_a_game_that_was_not_played_out(self) -> None:
        game = record()
        assert any("played out" in problem for problem in problems(replace(game, moves=game.moves[:-1])))

    def test_another_festival_turn(self) -> None:
        (problem,) = problems(replace(record(), festival_turn=None))
        assert problem.startswith("festival_turn: expected ")
        assert problem.endswith("got null")

    def test_other_scores_and_other_ranks(self) -> None:
        game = record()
        assert game.scores is not None
        scores = (game.scores[0] + 1, game.scores[1])
        assert problems(replace(game, scores=scores))[0].startswith("scores: expected")
        assert problems(replace(game, ranks=game.ranks[::-1]))[0].startswith("ranks: expected")

    def test_a_forfeit_that_no_fault_explains(self) -> None:
        game = replace(record(), ended="forfeit", scores=None)
        assert problems(game)[0].startswith("ended: expected festival with 2 seats")

    def test_a_game_that_went_on_with_fewer_than_two_seats_left(self) -> None:
        game = record()
        played_on = replace(game, faults=(fault(0, len(game.moves)),))
        assert problems(played_on)[0] == "ended: expected forfeit with 1 seats that had not forfeited, got festival"

    def test_a_game_that_broke_off_before_its_last_forfeit(self) -> None:
        game = forfeited(2, 1)
        late = replace(game, faults=(replace(game.faults[0], turn=len(game.moves) + 1),))
        assert any("expected turns up to" in problem for problem in problems(late))

    def test_a_game_that_went_on_after_the_forfeit_that_ended_it(self) -> None:
        game = forfeited(2, 1)
        turn = game.faults[0].turn
        early = replace(game, faults=(replace(game.faults[0], turn=turn - 2),))
        assert problems(early)[0].startswith(f"turn {turn - 2}: expected the move to be the referee's")
        first = list(states(game))[turn - 2].legal_moves()[0]
        instead = PlayedMove(game.faults[0].seat, first.notation, 0.0, by_referee=True)
        played_on = replace(early, moves=(*game.moves[: turn - 2], instead))
        assert f"moves: expected {turn - 2}, up to the forfeit that ended the game, got {turn - 1}" in problems(
            played_on
        )

    def test_two_faults_of_one_seat(self) -> None:
        game = forfeited(3, 1)
        twice = replace(game, faults=game.faults * 2)
        assert problems(twice)[0].startswith("faults: expected one a seat at most")

    def test_faults_out_of_order(self) -> None:
        game = forfeited(3, 2)
        assert problems(replace(game, faults=game.faults[::-1]))[0].startswith("faults: expected them in the order")

    def test_a_forfeit_after_the_last_turn(self) -> None:
        game = record(3)
        late = replace(game, faults=(fault(0, len(game.moves)),), ranks=ranks(3, game.scores, (fault(0, 1),)))
        assert problems(late) == ["faults: expected none after the last turn"]

    def test_a_forfeit_that_would_have_come_after_the_game_was_played_out(self) -> None:
        game = record()
        late = replace(
            game, ended="forfeit", scores=None, faults=(fault(0, len(game.moves)),), ranks=(2, 1)
        )  # fmt: skip
        assert problems(late) == ["ended: expected festival, since the game was played out"]


START, FIRST, SECOND = "start", "first turn", "second turn"


async def played(fails: tuple[str | None, ...]) -> GameRecord:
    """What the referee makes of a game in which each seat fails when it is said to, or never."""
    names = BOTS[: len(fails)]
    spec = plan_match(league="thursday", night=1, bots=names, deals=1, refill="start").games[0]
    assert spec.deal_id is not None
    crash = Failure(FaultKind.CRASH, "gone")
    players: dict[str | None, Callable[[], FakePlayer]] = {
        None: FakePlayer,
        START: lambda: FakePlayer(start=Failure(FaultKind.STARTUP, "never listened")),
        FIRST: lambda: FakePlayer([crash]),
        SECOND: lambda: FakePlayer([1.0, crash]),
    }
    seats = [SeatHolder(bot, version_of(bot)) for bot in spec.bots]
    deck = derive_deck(SECRET, spec.deal_id)
    return await play_game(spec, deck, seats, [players[fail]() for fail in fails], Clock())


def every_way_to_fail(players: int) -> list[tuple[str | None, ...]]:
    return list(product((None, START, FIRST, SECOND), repeat=players))


def forged(game: GameRecord, at: int, fault: Fault) -> GameRecord:
    """The game with another fault in the place of one, and the ranks that follow from it."""
    faults = (*game.faults[:at], fault, *game.faults[at + 1 :])
    return replace(game, faults=faults, ranks=ranks(len(game.seats), game.scores, faults))


class TestFaults:
    @pytest.mark.parametrize("players", [2, 3, 4, 5])
    async def test_whatever_seats_fail_and_when_the_referee_s_own_record_has_no_problem(self, players: int) -> None:
        for fails in every_way_to_fail(players):
            assert problems(await played(fails)) == [], fails

    @pytest.mark.parametrize("players", [2, 3, 4])
    async def test_no_fault_may_be_moved_to_a_seat_or_a_turn_that_was_not_its_own(self, players: int) -> None:
        for fails in every_way_to_fail(players):
            game = await played(fails)
            for at, fault in enumerate(game.faults):
                wrong = [replace(fault, turn=fault.turn + 1)]
                if fault.kind is not FaultKind.STARTUP:
                    wrong.append(replace(fault, seat=(fault.seat + 1) % players))
                elif fault.seat:
                    wrong.append(replace(fault, kind=FaultKind.CRASH))
                if fault.turn:
                    wrong += [replace(fault, turn=fault.turn - 1), replace(fault, kind=FaultKind.STARTUP)]
                for other in wrong:
                    assert problems(forged(game, at, other)), (fails, fault, other)

    @pytest.mark.parametrize("players", [2, 3, 4, 5])
    async def test_no_fault_of_a_seat_that_did_not_fail_may_be_added(self, players: int) -> None:
        for fails in every_way_to_fail(players)[:: 5 if players == 5 else 1]:
            game = await played(fails)
            innocent = set(range(players)) - {fault.seat for fault in game.faults}
            for seat, turn in product(innocent, {0, 1, len(game.moves)}):
                faults = (*game.faults, Fault(seat, turn, FaultKind.TIMEOUT, ""))
                more = replace(game, faults=faults, ranks=ranks(players, game.scores, faults))
                assert problems(more), (fails, seat, turn)

    def test_a_forged_forfeit_of_the_bot_that_was_not_on_turn(self) -> None:
        game = record()
        turn = 4
        for kind in list(FaultKind)[1:]:
            guilty = (Fault(1, turn, kind, ""),)
            forgery = replace(
                game, moves=game.moves[:turn], festival_turn=None, ended="forfeit", faults=guilty, scores=None,
                ranks=(1, 2),
            )  # fmt: skip
            assert problems(forgery) == ["faults[0]: expected seat 0, on turn at turn 4, got seat 1"]
            own = (replace(guilty[0], seat=0),)
            assert problems(replace(forgery, faults=own, ranks=(2, 1))) == []

    def test_a_startup_after_the_start(self) -> None:
        game = record()
        late = (Fault(0, 2, FaultKind.STARTUP, ""),)
        forgery = replace(
            game, moves=game.moves[:2], festival_turn=None, ended="forfeit", faults=late, scores=None, ranks=(2, 1)
        )
        assert problems(forgery) == ["faults[0]: expected a startup at turn 0, got it at turn 2"]

    async def test_a_fault_in_a_game_that_the_start_had_ended(self) -> None:
        game = await played((None, START))
        faults = (*game.faults, fault(0, 0))
        assert problems(replace(game, faults=faults, ranks=(1, 1))) == [
            "faults[1]: expected none after the forfeit that ended the game"
        ]

    async def test_faults_of_the_start_out_of_the_order_of_seats(self) -> None:
        game = await played((START, START, None))
        assert problems(replace(game, faults=game.faults[::-1]))[0].startswith("faults: expected them in the order")

    async def test_a_move_of_the_referee_costs_no_time(self) -> None:
        game = await played((None, START, None))
        (problem,) = problems(_with_move(game, 1, replace(game.moves[1], ms=0.5)))
        assert problem == "turn 1: expected the referee's move to take 0 ms of the seat's clock, got 0.5"


def _with_move(game: GameRecord, turn: int, move: PlayedMove) -> GameRecord:
    return replace(game, moves=(*game.moves[:turn], move, *game.moves[turn + 1 :]))


def _illegal(game: GameRecord, turn: int) -> str:
    state = list(states(game))[turn]
    legal = {move.notation for move in state.legal_moves()}
    return next(text for text in ("R", "O", "Y", "G", "B", "P") if text not in legal)


def _game_with_a_lone_single() -> tuple[GameRecord, int]:
    """A game and a turn in which "*" would mean the same as the letter that was played."""

    def lone(state: State, move: str) -> bool:
        return state.market.count(1) == 1 and state.market["ROYGBP".find(move[0])] == 1

    for seed in range(1_000):
        game = record(seed=seed)
        for turn, (state, played) in enumerate(zip(states(game), game.moves, strict=False)):
            if lone(state, played.move):
                return game, turn
    raise AssertionError("no such game among the first thousand")
