"""How a query is shown to the author of a bot that failed on it."""

import json

import pytest
from google.protobuf import text_format

from referee.cli.fault import query_text
from referee.conformance.decks import MOST_MOVES
from treelings import State, View, codec, derive_deck
from treelings.moves import Move
from treelings.v1.game_pb2 import Query

DECK = derive_deck(bytes(32), "demo/0")


def view_after(turns: int, players: int = 3) -> View:
    state, history = State.deal(DECK, players, "end"), list[Move]()
    for _ in range(turns):
        history.append(state.legal_moves()[0])
        state.play(history[-1])
    return View.of(state, tuple(history))


def test_in_python_it_is_the_view_as_json() -> None:
    view = view_after(7)
    told = json.loads(query_text(view))
    assert told["rows"] == list(view.rows)
    assert len(told["history"]) == 7


def test_elsewhere_it_is_the_message_that_was_sent_with_the_moves_since_the_bots_last_turn() -> None:
    for turns, since in ((0, 0), (2, 0), (3, 0), (7, 4)):
        view = view_after(turns)
        told = query_text(view, in_python=False)
        assert text_format.Parse(told, Query()) == codec.query_message(view, since).query
        start, *fields = told.splitlines()
        assert start.endswith(f"seat: {view.seat}, players: 3, refill: REFILL_END")
        assert [line.partition(":")[0] for line in fields] == [field.name for field in Query.DESCRIPTOR.fields]


@pytest.mark.parametrize("in_python", [True, False])
def test_of_a_long_list_it_says_how_many_more_there_are(*, in_python: bool) -> None:
    view = View.of(State.deal(MOST_MOVES, 2, "start"), ())
    assert f'"… {len(view.legal_moves) - 40} more"]' in query_text(view, in_python=in_python)
