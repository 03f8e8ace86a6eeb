"""What the viewer of a match's page is given: all of each game and nothing that could act (records.md)."""

import json
import re
from dataclasses import replace
from random import Random

import pytest

from referee.model import Fault, FaultKind, GameRecord
from referee.publish.nights import Match, game_number
from referee.publish.overview import overview
from referee.publish.pages import Pages
from referee.publish.replays import replays
from tests.support.records import random_league


def _match(records: tuple[GameRecord, ...]) -> Match:
    nights, _ = random_league(Random(3), nights=1, bots=("amber", "birch"))
    (match,) = overview("thursday", nights, records).nights[0].matches
    return match


@pytest.fixture(scope="module")
def games() -> tuple[GameRecord, ...]:
    """Two deals in both rotations, without a fault."""
    return random_league(Random(3), nights=1, bots=("amber", "birch"), fault_chance=0.0)[1]


def test_a_game_is_its_deck_its_seats_and_its_moves(games: tuple[GameRecord, ...]) -> None:
    given = json.loads(json.dumps(replays(_match(games))))
    assert len(given["decks"]) == 2
    for game, shown in zip(games, given["games"], strict=True):
        assert given["decks"][shown["deck"]] == game.deck
        assert [given["bots"][seat] for seat in shown["seats"]] == [holder.bot for holder in game.seats]
        assert shown["moves"].split(" ") == [played.move for played in game.moves]
        assert shown["ms"] == [pytest.approx(played.ms, abs=0.5) for played in game.moves]
        assert (shown["refill"], shown["scores"]) == (game.refill, list(game.scores or ()))


def test_comments_faults_and_the_referees_moves_are_told_by_turn(games: tuple[GameRecord, ...]) -> None:
    first, second, third, *rest = games[0].moves
    told = replace(
        games[0],
        moves=(replace(first, comment="tall\u202e"), second, replace(third, by_referee=True), *rest),
        faults=(Fault(0, 2, FaultKind.CRASH, "gone\x1b"),),
    )
    (shown, *_) = json.loads(json.dumps(replays(_match((told, *games[1:])))))["games"]
    assert shown["said"] == {"0": "tall\\u202e"}
    assert shown["by"] == [2]
    assert shown["faults"] == [[0, 2, "crash", "gone\\x1b"]]


def test_a_game_keeps_its_number_whichever_games_are_there(games: tuple[GameRecord, ...]) -> None:
    assert [game_number(game) for game in games] == [0, 1, 2, 3]
    given = json.loads(json.dumps(replays(_match(games[1:]))))
    assert [shown["number"] for shown in given["games"]] == [1, 2, 3]


def test_a_comment_cannot_end_the_script_that_it_is_given_in(games: tuple[GameRecord, ...]) -> None:
    said = replace(games[0].moves[0], comment="</script><!--<script>&'\"")
    nights, _ = random_league(Random(3), nights=1, bots=("amber", "birch"))
    league = overview("thursday", nights, [replace(games[0], moves=(said, *games[0].moves[1:])), *games[1:]])
    page = Pages(league).match(league.nights[0].matches[0])
    found = re.search('<script type="application/json" id="replays">(.*)</script>\n<script src', page)
    assert found is not None
    assert not set("<>&'") & set(found[1])
    assert json.loads(found[1])["games"][0]["said"] == {"0": said.comment}
