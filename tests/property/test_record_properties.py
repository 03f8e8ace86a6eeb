from dataclasses import replace
from itertools import chain, repeat
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from referee.errors import RecordError
from referee.model import GameRecord, PlayedMove
from referee.records import from_json, problems, to_json
from referee.schedule import plan_match
from tests.support.records import BOTS, random_record
from treelings import Refill

REFILLS: st.SearchStrategy[Refill] = st.sampled_from(["start", "end"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)

COMMENTS = st.text(st.characters(codec="utf-8"), max_size=200)


@st.composite
def games(draw: st.DrawFn) -> GameRecord:
    match = plan_match(
        league=draw(st.text(max_size=20)),
        night=draw(st.none() | st.integers(1, 1_000)),
        bots=BOTS[: draw(st.integers(2, 5))],
        deals=1,
        refill=draw(REFILLS),
    )
    rng = Random(draw(st.integers(0, 2**32)))
    game = random_record(
        draw(st.sampled_from(match.games)), rng.randbytes(32), rng, fault_chance=draw(st.sampled_from([0, 0.03]))
    )
    comments = draw(st.lists(COMMENTS, max_size=4))
    return replace(game, moves=tuple(map(commented, game.moves, chain(comments, repeat("")))))


def commented(move: PlayedMove, comment: str) -> PlayedMove:
    return replace(move, comment=comment)


@settings(deadline=None)
@given(games())
def test_a_game_by_the_rules_survives_its_text_and_has_no_problems(game: GameRecord) -> None:
    line = to_json(game)
    again = from_json(line)
    assert again == game
    assert to_json(again) == line
    assert problems(again) == []


@settings(deadline=None)
@given(games(), st.dictionaries(st.text().map(lambda key: "x-" + key), JSON, max_size=3))
def test_unknown_keys_survive(game: GameRecord, extra: dict[str, object]) -> None:
    game.extra.update(extra)
    assert from_json(to_json(game)) == game


@settings(deadline=None)
@given(games(), st.data())
def test_a_damaged_line_is_refused_or_read_but_never_a_crash(game: GameRecord, data: st.DataObject) -> None:
    line = to_json(game)
    at = data.draw(st.integers(0, len(line) - 1))
    damaged = line[:at] + data.draw(st.text(max_size=3)) + line[at + data.draw(st.integers(0, 3)) :]
    assert all(text.isprintable() for text in _verdict(damaged))


def _verdict(line: str) -> list[str]:
    try:
        return problems(from_json(line))
    except RecordError as error:
        return [str(error)]
