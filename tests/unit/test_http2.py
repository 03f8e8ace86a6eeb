"""The client's half of HTTP/2, spoken to by the `h2` library as an honest server and by frames made by hand."""

import asyncio
from functools import partial

import pytest
from frames import (
    ACK,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    PADDED,
    PING,
    PRIORITY,
    PUSH_PROMISE,
    RESPONSE,
    RST_STREAM,
    SETTINGS,
    STATUS_OK,
    WINDOW_UPDATE,
    frame,
    header,
)
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, Event, RequestReceived, StreamEnded
from h2.settings import SettingCodes
from hypothesis import given
from hypothesis import strategies as st

from referee.players.http2 import LONGEST_HEADERS, LONGEST_MESSAGE, Call, Session

PATH = "/a.Service/Method"
ANSWER = [(":status", "200"), ("content-type", "application/grpc")]
GREETING = frame(SETTINGS)
BEGUN = GREETING + frame(HEADERS, RESPONSE, flags=END_HEADERS, stream=1)


def message(text: bytes) -> bytes:
    return b"\0" + len(text).to_bytes(4, "big") + text


def data(text: bytes, flags: int = 0, stream: int = 1) -> bytes:
    return frame(DATA, text, flags=flags, stream=stream)


def ended(block: bytes = STATUS_OK, stream: int = 1) -> bytes:
    return frame(HEADERS, block, flags=END_HEADERS | END_STREAM, stream=stream)


class Talk:
    """A session, one call in it, and all that it has sent."""

    def __init__(self) -> None:
        self.sent = bytearray()
        self.session = Session(self.sent.extend)
        self.call = self.session.call(PATH)

    def came(self, *frames: bytes) -> "Talk":
        for each in frames:
            self.session.receive(each)
        return self

    def answered(self) -> bytes:
        """What was sent since this was asked last."""
        sent = bytes(self.sent)
        self.sent.clear()
        return sent


class Server:
    """The `h2` library at the other end."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.h2 = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self.h2.initiate_connection()

    def turn(self) -> list[Event]:
        """Let each side hear what the other has said."""
        events: list[Event] = []
        while (to_us := self.h2.data_to_send()) or self.talk.sent:
            if to_us:
                self.talk.session.receive(to_us)
            events += self.h2.receive_data(self.talk.answered())
        return events


async def all_of(call: Call) -> list[bytes]:
    """Every message until the end of the call, which must have ended."""
    read: list[bytes] = []
    async with asyncio.timeout(10):  # nothing comes any more: a call that has not ended never will
        while (came := await call.read()) is not None:
            read.append(came)
    return read


async def test_a_call_as_an_honest_server_sees_it() -> None:
    talk = Talk()
    server = Server(talk)
    (request,) = [event for event in server.turn() if isinstance(event, RequestReceived)]
    assert request.headers is not None
    assert {str(name): str(value) for name, value in request.headers} == {
        ":method": "POST",
        ":scheme": "http",
        ":authority": "localhost",
        ":path": PATH,
        "te": "trailers",
        "content-type": "application/grpc",
    }
    talk.session.say(talk.call, b"hello")
    talk.session.leave(talk.call)
    told = server.turn()
    assert b"".join(event.data or b"" for event in told if isinstance(event, DataReceived)) == message(b"hello")
    assert any(isinstance(event, StreamEnded) for event in told)
    server.h2.send_headers(1, ANSWER)
    server.h2.send_data(1, message(b"one") + message(b"two"))
    server.h2.send_headers(1, [("grpc-status", "0")], end_stream=True)
    server.turn()
    assert await all_of(talk.call) == [b"one", b"two"]
    assert (talk.call.code, talk.session.over) == ("OK", False)


async def test_calls_follow_one_another_over_one_connection() -> None:
    talk = Talk()
    server = Server(talk)
    for number in range(5):
        server.turn()
        server.h2.send_headers(talk.call.number, ANSWER)
        server.h2.send_data(talk.call.number, message(bytes(1_000)))
        server.h2.send_headers(talk.call.number, [("grpc-status", "0")], end_stream=True)
        server.turn()
        assert talk.call.number == 2 * number + 1
        assert await all_of(talk.call) == [bytes(1_000)]
        talk.call = talk.session.call(PATH)


async def test_no_more_is_sent_than_the_server_lets_us_and_all_of_it_once_it_does() -> None:
    talk = Talk()
    server = Server(talk)
    server.h2.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: 10})
    server.turn()
    talk.session.say(talk.call, bytes(range(200)))
    talk.session.leave(talk.call)
    text, over = b"", False
    for _ in range(30):
        for event in server.turn():
            if isinstance(event, DataReceived):
                assert event.data is not None
                assert event.flow_controlled_length is not None
                text += event.data
                server.h2.acknowledge_received_data(event.flow_controlled_length, 1)
            over = over or isinstance(event, StreamEnded)
    assert text == message(bytes(range(200)))
    assert over


async def test_a_window_that_shrinks_below_nothing_is_waited_for() -> None:
    talk = Talk().came(GREETING)
    talk.session.say(talk.call, bytes(100))
    talk.came(frame(SETTINGS, b"\0\4" + (0).to_bytes(4, "big")))
    talk.answered()
    talk.session.say(talk.call, b"more")
    assert talk.answered() == b""
    talk.came(frame(WINDOW_UPDATE, (105).to_bytes(4, "big"), stream=1))
    assert talk.answered() == b""
    talk.came(frame(WINDOW_UPDATE, (9).to_bytes(4, "big"), stream=1))
    assert talk.answered() == data(message(b"more"))


async def test_what_servers_send_for_themselves_is_answered_and_changes_nothing() -> None:
    talk = Talk()
    talk.answered()
    talk.came(GREETING, frame(PING, b"12345678"), frame(PING, b"12345678", flags=ACK), frame(SETTINGS, flags=ACK))
    assert talk.answered() == frame(SETTINGS, flags=ACK) + frame(PING, b"12345678", flags=ACK)
    talk.came(frame(PRIORITY, bytes(5), stream=1), frame(0x77, b"whatever", flags=0xFF, stream=99))
    padded = frame(DATA, b"\x03" + message(b"yes") + bytes(3), flags=PADDED, stream=1)
    talk.came(frame(HEADERS, RESPONSE[:3], stream=1), frame(CONTINUATION, RESPONSE[3:], flags=END_HEADERS, stream=1))
    talk.came(padded, ended())
    assert await all_of(talk.call) == [b"yes"]
    assert (talk.answered(), talk.call.code) == (b"", "OK")


@given(st.lists(st.integers(1, 60), max_size=8))
async def test_it_does_not_matter_in_what_pieces_bytes_come(cuts: list[int]) -> None:
    text = BEGUN + data(message(b"one")[:4]) + data(message(b"one")[4:] + message(b"two")) + ended()
    talk = Talk()
    for cut in cuts:
        talk.came(text[:cut])
        text = text[cut:]
    talk.came(text)
    assert await all_of(talk.call) == [b"one", b"two"]
    assert talk.call.code == "OK"


STATUSES = {
    "RESOURCE_EXHAUSTED: no é": BEGUN + ended(header(b"grpc-status", b"8") + header(b"grpc-message", b"no%20%C3%A9")),
    "UNKNOWN: 17": BEGUN + ended(header(b"grpc-status", b"17") + header(b"grpc-message", b"17")),
    "UNKNOWN: ": BEGUN + ended(header(b"grpc-status", b"0" * 40)),
    "UNKNOWN: it ended without a status": BEGUN + ended(header(b"x", b"y")),
    "INTERNAL: it ended within a message": BEGUN + data(message(b"one")[:-1]) + ended(),
    "OK: ": GREETING + ended(RESPONSE + STATUS_OK),
    "UNIMPLEMENTED: expected HTTP status 200, got 404": GREETING + ended(b"\x8d"),
    "UNKNOWN: expected an answer of content-type application/grpc": (
        GREETING + ended(b"\x88" + header(b"content-type", b"text/html"))
    ),
    "CANCELLED: it reset the stream (RST_STREAM, code 8)": BEGUN + frame(RST_STREAM, b"\0\0\0\x08", stream=1),
    "UNIMPLEMENTED: expected messages that are not compressed, got one that is": BEGUN + data(b"\1" + bytes(4)),
    "RESOURCE_EXHAUSTED: expected messages of at most 16,384 bytes, got one of 16,385": (
        BEGUN + data(b"\0" + (LONGEST_MESSAGE + 1).to_bytes(4, "big"))
    ),
    "UNAVAILABLE: GOAWAY received (code 2) too \x1b much": BEGUN + frame(GOAWAY, bytes(7) + b"\x02too \x1b much"),
}


@pytest.mark.parametrize("told", STATUSES)
async def test_how_a_call_ended_is_told(told: str) -> None:
    call = Talk().came(STATUSES[told]).call
    assert await all_of(call) == []
    assert f"{call.code}: {call.details}" == told


async def test_a_stream_that_ends_without_headers_at_its_end_has_no_status() -> None:
    call = Talk().came(BEGUN, data(b"", END_STREAM)).call
    assert await all_of(call) == []
    assert f"{call.code}: {call.details}" == "UNKNOWN: it ended without a status"


FORBIDDEN = {
    "no settings": data(b""),
    "an acknowledgement first": frame(SETTINGS, flags=ACK),
    "a long frame": GREETING + b"\x00\x40\x01\x00\0\0\0\0\1",
    "half a setting": frame(SETTINGS, bytes(5)),
    "settings on a stream": frame(SETTINGS, stream=1),
    "a window beyond numbers": frame(SETTINGS, b"\0\4\x80\0\0\0"),
    "a ping of 7 bytes": GREETING + frame(PING, bytes(7)),
    "a ping on a stream": GREETING + frame(PING, bytes(8), stream=1),
    "data on stream 0": GREETING + data(b"", stream=0),
    "data on a stream of its own": GREETING + data(b"", stream=2),
    "data on a stream to come": GREETING + data(b"", stream=3),
    "data before headers": GREETING + data(b""),
    "headers on a stream to come": GREETING + ended(stream=3),
    "a reset of what never was": GREETING + frame(RST_STREAM, bytes(4), stream=3),
    "a reset of 3 bytes": GREETING + frame(RST_STREAM, bytes(3), stream=1),
    "a window opened by nothing": GREETING + frame(WINDOW_UPDATE, bytes(4)),
    "a window opened too wide": GREETING + frame(WINDOW_UPDATE, b"\x7f\xff\xff\xff"),
    "a call's window opened too wide": GREETING + frame(WINDOW_UPDATE, b"\x7f\xff\xff\xff", stream=1),
    "a short GOAWAY": GREETING + frame(GOAWAY, bytes(7)),
    "a promise": GREETING + frame(PUSH_PROMISE, b"\0\0\0\2" + RESPONSE, flags=END_HEADERS, stream=1),
    "padding alone": BEGUN + frame(DATA, b"\x01", flags=PADDED, stream=1),
    "padding without a length": BEGUN + frame(DATA, b"", flags=PADDED, stream=1),
    "headers that go on after nothing": GREETING + frame(CONTINUATION, RESPONSE, flags=END_HEADERS, stream=1),
    "headers that something breaks into": GREETING + frame(HEADERS, RESPONSE, stream=1) + frame(PING, bytes(8)),
    "headers in the midst": BEGUN + frame(HEADERS, RESPONSE, flags=END_HEADERS, stream=1),
    "headers that are no HPACK": GREETING + ended(b"\xff" * 20),
    "headers of another table": GREETING + ended(b"\xbe"),
    "long headers": GREETING + frame(HEADERS, bytes(LONGEST_HEADERS + 1), stream=1),
    "headers that swell": GREETING + ended(b"\x40\x01x\x7f\xe1\x0f" + b"y" * 2_144 + b"\xbe" * 100),
}


@pytest.mark.parametrize("what", FORBIDDEN)
async def test_what_is_forbidden_ends_everything_with_words_for_it(what: str) -> None:
    talk = Talk().came(FORBIDDEN[what])
    assert await all_of(talk.call) == []
    assert talk.call.code in ("INTERNAL", "UNAVAILABLE", "RESOURCE_EXHAUSTED")
    assert "expected" in talk.call.details
    assert talk.session.done
    assert talk.session.call(PATH).code == "UNAVAILABLE"


async def test_a_call_that_was_taken_before_a_goaway_goes_on_and_is_the_last() -> None:
    talk = Talk().came(BEGUN, frame(GOAWAY, b"\0\0\0\1" + bytes(4)))
    assert not talk.session.done
    talk.came(data(message(b"one")), ended())
    assert await all_of(talk.call) == [b"one"]
    assert talk.call.code == "OK"
    assert talk.session.call(PATH).code == "UNAVAILABLE"


async def test_what_comes_for_a_call_that_has_ended_is_thrown_away() -> None:
    talk = Talk().came(BEGUN, ended(), data(message(b"late")), frame(RST_STREAM, bytes(4), stream=1))
    talk.came(frame(WINDOW_UPDATE, b"\0\0\0\1", stream=1))
    assert await all_of(talk.call) == []
    assert (talk.call.code, talk.session.over) == ("OK", False)


async def test_headers_for_a_call_that_has_ended_are_not_unpacked_but_end_everything() -> None:
    talk = Talk().came(BEGUN, ended())
    next_call = talk.session.call(PATH)
    talk.came(ended(block=b"\xff" * 20))  # no HPACK
    assert (talk.call.code, next_call.code) == ("OK", "INTERNAL")
    assert next_call.details == "expected no headers on a stream that has ended, got some on stream 1"


async def test_nothing_is_said_to_who_has_ended_the_call() -> None:
    talk = Talk().came(BEGUN, ended())
    talk.answered()
    talk.session.say(talk.call, b"a query")
    talk.session.leave(talk.call)
    assert talk.answered() == b""


@given(st.binary(max_size=300), st.booleans())
async def test_any_bytes_are_messages_or_the_end_of_everything(noise: bytes, greeted: bool) -> None:
    talk = Talk().came(BEGUN if greeted else b"", noise)
    talk.session.lose("it hung up")
    for read in await all_of(talk.call):
        assert len(read) <= LONGEST_MESSAGE
    assert talk.call.code


WINDOWS = st.sampled_from([0, 1, 10, 65_535, 2**31 - 1, 2**31])
SETTING = st.builds(lambda name, value: name.to_bytes(2, "big") + value.to_bytes(4, "big"), st.integers(1, 6), WINDOWS)
STREAMS = st.sampled_from([0, 1, 1, 3, 3, 2, 2**31 - 1, 2**32 - 1])
FLAGS = st.sampled_from([0, 0, END_STREAM, END_HEADERS, END_HEADERS | END_STREAM, PADDED])
FRAMES = st.one_of(
    st.builds(data, st.sampled_from([b"", message(b""), message(b"abc"), message(b"abc")[:-1]]), FLAGS, STREAMS),
    st.builds(partial(frame, HEADERS), st.sampled_from([RESPONSE, STATUS_OK, b""]), flags=FLAGS, stream=STREAMS),
    st.builds(partial(frame, CONTINUATION), st.sampled_from([RESPONSE, STATUS_OK, b""]), flags=FLAGS, stream=STREAMS),
    st.builds(lambda values: frame(SETTINGS, b"".join(values)), st.lists(SETTING, max_size=4)),
    st.builds(lambda by, stream: frame(WINDOW_UPDATE, by.to_bytes(4, "big"), stream=stream), WINDOWS, STREAMS),
    st.sampled_from([frame(PING, bytes(8)), frame(GOAWAY, bytes(8)), frame(GOAWAY, b"\0\0\0\3" + bytes(4))]),
    st.builds(lambda stream: frame(RST_STREAM, bytes(4), stream=stream), STREAMS),
)


@given(st.lists(st.one_of(FRAMES, st.sampled_from(["say", "leave", "call"])), max_size=30))
async def test_any_frames_are_answered_at_no_greater_length_than_they_came_and_end_each_call_once(
    happens: list[bytes | str],
) -> None:
    talk = Talk().came(GREETING)
    calls, ended_as = [talk.call], dict[int, tuple[str, str]]()
    greeted, came = len(talk.sent), 0
    for what in happens:
        if isinstance(what, bytes):
            came += len(what)
            talk.came(what)
        elif what == "say":
            talk.session.say(calls[-1], bytes(20))
        elif what == "leave":
            talk.session.leave(calls[-1])
        else:
            calls.append(talk.session.call(PATH))
        for at, call in enumerate(calls):
            if call.code:
                assert ended_as.setdefault(at, (call.code, call.details)) == (call.code, call.details)
    # Of our own accord we say: a request and a reset for each call, and messages, at worst byte by byte.
    own = 150 * (len(calls) - 1) + 13 * len(calls) + 10 * (5 + 20) * happens.count("say") + 9 * happens.count("leave")
    assert len(talk.sent) <= greeted + came + own
    talk.session.lose("it hung up")
    for call in calls:
        await all_of(call)
        assert call.code


@given(st.binary(max_size=200))
async def test_any_headers_are_a_status_or_the_end_of_everything(block: bytes) -> None:
    talk = Talk().came(BEGUN, ended(block))
    assert await all_of(talk.call) == []
    assert talk.call.code
