"""docs/protocol.md is true of the code: fields, limits, faults and steps, and the game that it shows."""

import re

import pytest

from referee.conformance import CORNERS
from referee.conformance.decks import MOST_MOVES
from referee.limits import Limits
from referee.model import FaultKind
from referee.players.http2 import LONGEST_HEADERS, LONGEST_MESSAGE
from tests.support import captured_game
from treelings import Clock, Move, State, View, codec, told, wire
from treelings.bot import LONGEST_COMMENT
from treelings.cards import MAX_PLAYERS, MIN_PLAYERS
from treelings.server import LISTEN_VARIABLE, SOCKET_VARIABLE
from treelings.v1 import game_pb2

PAGE = captured_game.PAGE.read_text(encoding="utf-8")
WORDS = PAGE.replace(captured_game.of_page(PAGE), "")
SECTIONS = dict(re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", WORDS, re.MULTILINE))
CLOCK = Clock()


def rows(section: str) -> dict[str, str]:
    """The first and second cells of a section's tables."""
    return dict(re.findall(r"^\| (.+?) \| (.*?) \|$", SECTIONS[section], re.MULTILINE))


@pytest.mark.parametrize("name", ["Start", "Ready", "Query", "Reply", "End"])
def test_every_field_of_every_message_is_explained(name: str) -> None:
    message = game_pb2.DESCRIPTOR.message_types_by_name[name]
    told = {word for cell in re.findall(r"^\| (.*?) \|", WORDS, re.MULTILINE) for word in re.findall(r"`(\w+)`", cell)}
    assert {field.name for field in message.fields} <= told | {"protocol"}


def test_every_value_of_every_enum_is_explained() -> None:
    values = [name for enum in game_pb2.DESCRIPTOR.enum_types_by_name.values() for name in enum.values_by_name]
    assert [name for name in values if f"`{name}`" not in WORDS and not name.endswith("_UNSPECIFIED")] == []


def test_there_is_no_message_that_the_page_leaves_out() -> None:
    assert set(game_pb2.DESCRIPTOR.message_types_by_name) == (
        {"RefereeMessage", "BotMessage", "Start", "Ready", "Query", "Reply", "End"}
    )


def test_the_limits_are_those_of_the_code() -> None:
    most = rows("Limits")
    assert most["a message of the bot's"] == f"{LONGEST_MESSAGE:,} bytes"
    assert most["headers, and trailers"] == f"{LONGEST_HEADERS:,} bytes"
    sent = most["all that it sends in one game, frames of HTTP/2 included"]
    assert sent.startswith(f"{Limits().sent_bytes:,} bytes")
    assert most["`move`"] == f"{codec.LONGEST_MOVE} characters"
    assert most["`comment`"].startswith(f"{LONGEST_COMMENT} characters")
    limits, mb = Limits(), 1024 * 1024
    told = " ".join(SECTIONS["Limits"].split())
    assert f"{limits.memory_bytes // mb} MB of memory, {limits.pids} processes" in told
    assert f"{limits.nofile} open files and {limits.tmp_bytes // mb} MB in `/tmp`" in told


def test_no_message_of_the_referee_s_is_larger_than_it_says() -> None:
    state = State.deal(MOST_MOVES, MIN_PLAYERS)
    query = codec.query_message(View.of(state, (), limit_ms=CLOCK.move_ms, bank_ms=CLOCK.bank_ms), 0)
    columns = 2 * 6 * MAX_PLAYERS  # a guild and a height for each that may stand there besides
    moves = MAX_PLAYERS * (9 + 2)
    assert query.ByteSize() + columns + moves <= 8 * 1024
    assert "none has more than 8 KiB" in rows("Limits")["the referee's messages"]


def test_the_clock_is_a_league_s() -> None:
    told = " ".join(SECTIONS["Time"].split())
    assert f"with {CLOCK.bank_ms:,} ms, {CLOCK.move_ms:,} ms and {CLOCK.increment_ms:,} ms" in told


def test_the_faults_are_those_that_there_are() -> None:
    assert rows("Faults").keys() - {"kind", "---"} == {f"`{kind}`" for kind in FaultKind}


def test_who_calls_whom_and_where_is_what_the_code_does() -> None:
    connection = SECTIONS["Connection"]
    assert rows("Connection").keys() >= {f"`{SOCKET_VARIABLE}`", f"`{LISTEN_VARIABLE}`"}
    assert f"`{codec.PATH}`" in connection
    assert f"`protocol` | {codec.PROTOCOL}," in WORDS


def test_each_step_of_the_conformance_run_is_told_and_leads_to_a_section() -> None:
    steps = " ".join(rows("Check your bot")).replace("…", "`three seats` `four seats`")
    assert [corner.name for corner in CORNERS if f"`{corner.name}`" not in steps] == []
    assert {corner.section for corner in CORNERS} <= SECTIONS.keys()


def test_the_links_lead_somewhere() -> None:
    for target, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", PAGE):
        assert not target or captured_game.PAGE.parent.joinpath(target).exists()
        assert not anchor or anchor in {section.lower().replace(" ", "-") for section in SECTIONS}


def test_the_game_is_the_one_that_the_code_plays() -> None:
    assert captured_game.of_page(PAGE) == captured_game.text()


def test_the_game_as_it_is_written_down_follows_the_rules() -> None:
    messages = list(captured_game.read(captured_game.of_page(PAGE)))
    assert messages == list(captured_game.capture())
    game = told.read_start(wire.read_referee(messages[0].SerializeToString()))
    state = State.deal(captured_game.DECK, game.players, game.refill)
    history: tuple[Move, ...] = ()
    for query, reply in zip(messages[2:-1:2], messages[3:-1:2], strict=True):
        came = wire.read_referee(query.SerializeToString())
        view = told.read_query(came, game.seat, game.players, game.refill, history)
        for move in view.history[len(history) :]:
            state.play(move)
        assert View.of(state, view.history, limit_ms=view.limit_ms, bank_ms=view.bank_ms) == view
        assert state.parse(codec.read_reply(reply, view.turn).move) in view.legal_moves  # type: ignore[arg-type] # of a union
        history = view.history
    assert view.firefly_out
