"""The server's half of HTTP/2, spoken to by the `h2` library as an honest client and by frames made by hand."""

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
    PREFACE,
    PRIORITY,
    PUSH_PROMISE,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    frame,
    header,
)
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, Event, ResponseReceived, StreamReset, TrailersReceived
from h2.settings import SettingCodes
from hypothesis import given
from hypothesis import strategies as st

from treelings.calls import LONGEST_HEADERS, LONGEST_MESSAGE, MOST_UNREAD, Call, Session

PATH = "/a.Service/Method"
REQUEST = [
    (":method", "POST"),
    (":scheme", "http"),
    (":path", PATH),
    (":authority", "localhost"),
    ("te", "trailers"),
    ("content-type", "application/grpc"),
]
POST_HTTP = b"\x83\x86"  # from the table that all have
BLOCK = POST_HTTP + header(b":path", PATH.encode()) + header(b"content-type", b"application/grpc+proto")
GREETING = PREFACE + frame(SETTINGS)
CALLED = GREETING + frame(HEADERS, BLOCK, flags=END_HEADERS, stream=1)


def message(text: bytes) -> bytes:
    return b"\0" + len(text).to_bytes(4, "big") + text


def data(text: bytes, flags: int = 0, stream: int = 1) -> bytes:
    return frame(DATA, text, flags=flags, stream=stream)


class Served:
    """A session, the calls that have come, and all that it has sent."""

    def __init__(self, *frames: bytes) -> None:
        self.sent = bytearray()
        self.calls: list[Call] = []
        self.session = Session(PATH, self.sent.extend, self.calls.append)
        assert self.came(*frames)

    def came(self, *frames: bytes) -> bool:
        """Whether the peer is still one to talk to, after it has sent these."""
        return all(self.session.receive(each) for each in frames)

    def answered(self) -> bytes:
        """What was sent since this was asked last."""
        sent = bytes(self.sent)
        self.sent.clear()
        return sent


class Client:
    """The `h2` library at the other end."""

    def __init__(self) -> None:
        self.served = Served()
        self.h2 = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
        self.h2.initiate_connection()

    def turn(self) -> list[Event]:
        """Let each side hear what the other has said."""
        events: list[Event] = []
        while (to_it := self.h2.data_to_send()) or self.served.sent:
            if to_it:
                assert self.served.came(to_it)
            events += self.h2.receive_data(self.served.answered())
        return events

    def call(self, headers: list[tuple[str, str]] = REQUEST) -> list[Event]:
        self.h2.send_headers(self.h2.get_next_available_stream_id(), headers)
        return self.turn()


def fields(events: list[Event], kind: type[ResponseReceived] | type[TrailersReceived]) -> dict[str, str]:
    (event,) = [event for event in events if isinstance(event, kind)]
    assert event.headers is not None
    return {str(name): str(value) for name, value in event.headers}


def text(events: list[Event]) -> bytes:
    return b"".join(event.data or b"" for event in events if isinstance(event, DataReceived))


def test_a_call_as_an_honest_client_sees_it() -> None:
    client = Client()
    client.call()
    (call,) = client.served.calls
    client.h2.send_data(1, message(b"one") + message(b"two"))
    client.turn()
    assert [call.read(), call.read()] == [b"one", b"two"]
    call.say(b"three")
    call.say(b"")
    told = client.turn()
    assert fields(told, ResponseReceived) == {":status": "200", "content-type": "application/grpc"}
    assert text(told) == message(b"three") + message(b"")
    assert not call.left
    client.h2.end_stream(1)
    client.turn()
    assert call.left
    call.end("OK", "")
    told = client.turn()
    assert fields(told, TrailersReceived) == {"grpc-status": "0"}
    assert call.told
    assert not [event for event in told if isinstance(event, StreamReset)]


def test_a_call_that_is_ended_before_the_client_has_left_is_closed_on_both_sides() -> None:
    client = Client()
    client.call()
    (call,) = client.served.calls
    call.say(b"one")
    call.end("UNKNOWN", "lost: 100 %\nüber")
    call.end("OK", "")
    told = client.turn()
    assert fields(told, TrailersReceived) == {"grpc-status": "2", "grpc-message": "lost: 100 %25%0A%C3%BCber"}
    (reset,) = [event for event in told if isinstance(event, StreamReset)]
    assert reset.error_code == 0
    client.h2.ping(b"treeling")
    assert client.turn()


def test_calls_may_come_one_after_the_other_and_side_by_side() -> None:
    client = Client()
    for _ in range(3):
        client.call()
    one, two, three = client.served.calls
    client.h2.send_data(3, message(b"two"))
    client.h2.send_data(1, message(b"one"))
    client.turn()
    assert (one.read(), two.read(), len(three.messages)) == (b"one", b"two", 0)
    two.end("OK", "")
    client.turn()
    client.call()
    assert len(client.served.calls) == 4


def test_what_the_service_does_not_have_is_unimplemented() -> None:
    client = Client()
    other = [(name, "/a.Service/Other" if name == ":path" else value) for name, value in REQUEST]
    told = client.call(other)
    assert fields(told, ResponseReceived) | {"grpc-message": ""} == {
        ":status": "200", "content-type": "application/grpc", "grpc-status": "12", "grpc-message": "",
    }  # fmt: skip
    assert client.served.calls == []


@pytest.mark.parametrize(("name", "value"), [(":method", "GET"), ("content-type", "application/json")])
def test_what_is_no_grpc_is_told_so_in_http(name: str, value: str) -> None:
    client = Client()
    told = client.call([(each, value if each == name else its) for each, its in REQUEST])
    assert fields(told, ResponseReceived) == {":status": "415"}
    assert client.served.calls == []


def test_answers_go_in_pieces_as_the_windows_open_and_the_status_after_them() -> None:
    client = Client()
    client.h2.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: 10})
    client.call()
    (call,) = client.served.calls
    call.say(bytes(25))
    call.end("OK", "")
    told = client.turn()
    assert len(text(told)) == 10
    while not call.told:
        client.h2.increment_flow_control_window(8, 1)
        assert not [event for event in told if isinstance(event, TrailersReceived)]
        told += client.turn()
    assert text(told) == message(bytes(25))
    assert fields(told, TrailersReceived) == {"grpc-status": "0"}


def test_a_client_may_say_more_than_any_window_has_at_first() -> None:
    client = Client()
    for number in range(10):
        client.call()
        for _ in range(3):
            client.h2.send_data(2 * number + 1, message(bytes(16_000)))
            client.turn()
            client.served.calls[-1].read()
        client.served.calls[-1].end("OK", "")
        client.turn()


def test_pings_and_settings_are_answered_and_answers_are_not() -> None:
    served = Served(GREETING)
    assert served.answered().endswith(frame(SETTINGS, flags=ACK))
    assert served.came(frame(PING, b"12345678"), frame(PING, b"87654321", flags=ACK), frame(SETTINGS, flags=ACK))
    assert served.answered() == frame(PING, b"12345678", flags=ACK)


def test_headers_that_go_on_padding_priorities_and_frames_of_later_days_are_understood() -> None:
    served = Served(
        GREETING,
        frame(0x1F, b"later"),
        frame(HEADERS, b"\x03" + bytes(5) + BLOCK[:10] + bytes(3), flags=PADDED | 0x20, stream=1),
        frame(CONTINUATION, BLOCK[10:20], stream=1),
        frame(CONTINUATION, BLOCK[20:], flags=END_HEADERS, stream=1),
        frame(PRIORITY, bytes(5), stream=1),
        data(b"\x04" + message(b"padded") + bytes(4), PADDED),
        data(message(b"last"), END_STREAM),
    )
    (call,) = served.calls
    assert [call.read(), call.read()] == [b"padded", b"last"]
    assert call.left


def test_it_understands_whatever_comes_in_single_bytes() -> None:
    served = Served()
    for byte in CALLED + data(message(b"one")):
        assert served.came(bytes((byte,)))
    assert served.calls[0].read() == b"one"


def test_a_reset_gives_up_the_call_and_nothing_more_is_said_in_it() -> None:
    served = Served(CALLED, data(message(b"one")), frame(RST_STREAM, (8).to_bytes(4, "big"), stream=1))
    (call,) = served.calls
    served.answered()
    call.say(b"too late")
    call.end("OK", "")
    assert call.gone
    assert call.told
    assert served.answered() == b""
    assert served.came(data(message(b"two")), frame(HEADERS, BLOCK, flags=END_HEADERS, stream=3))
    assert len(served.calls) == 2


def test_a_lost_connection_gives_up_all_calls() -> None:
    served = Served(CALLED, frame(HEADERS, BLOCK, flags=END_HEADERS, stream=3))
    served.session.lose()
    assert [call.gone for call in served.calls] == [True, True]


@pytest.mark.parametrize(
    ("came", "status", "says"),
    [
        (b"\1" + message(b"packed")[1:], b"12", b"expected messages that are not compressed, got one that is"),
        (b"\0" + (LONGEST_MESSAGE + 1).to_bytes(4, "big"), b"8", b"expected messages of at most 65,536 bytes, got one"),
        (message(bytes(1_000)) * (MOST_UNREAD // 1_000), b"8", b"expected at most 262,144 bytes ahead, got more"),
    ],
)
def test_a_message_that_may_not_be_ends_its_call_and_no_other(came: bytes, status: bytes, says: bytes) -> None:
    served = Served(CALLED)
    served.answered()
    pieces = [came[at : at + 16_000] for at in range(0, len(came), 16_000)]
    assert served.came(*map(data, pieces), data(b"and more"))
    sent = served.answered()
    assert header(b"grpc-status", status) in sent
    assert says in sent
    assert served.came(frame(HEADERS, BLOCK, flags=END_HEADERS, stream=3), data(message(b"two"), stream=3))
    assert served.calls[1].read() == b"two"


def test_a_message_as_long_as_one_may_be_is_read() -> None:
    longest = message(bytes(LONGEST_MESSAGE))
    served = Served(CALLED, *(data(longest[at : at + 16_000]) for at in range(0, len(longest), 16_000)))
    assert len(served.calls[0].read()) == LONGEST_MESSAGE


def test_more_calls_at_once_than_anybody_needs_are_refused() -> None:
    served = Served(GREETING, *(frame(HEADERS, BLOCK, flags=END_HEADERS, stream=2 * n + 1) for n in range(64)))
    served.answered()
    assert served.came(frame(HEADERS, BLOCK, flags=END_HEADERS, stream=129))
    assert served.answered() == frame(RST_STREAM, (7).to_bytes(4, "big"), stream=129)
    assert len(served.calls) == 64


@pytest.mark.parametrize(
    "came",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        PREFACE[:-1] + b"x",
        PREFACE + frame(PING, bytes(8)),
        PREFACE + frame(SETTINGS, flags=ACK),
        GREETING + frame(SETTINGS, b"12345"),
        GREETING + frame(SETTINGS, b"\0\4\xff\xff\xff\xff"),
        GREETING + frame(PING, b"short"),
        GREETING + frame(PUSH_PROMISE, bytes(4), stream=1),
        GREETING + frame(GOAWAY, b"short"),
        GREETING + data(b"nobody asked"),
        GREETING + frame(HEADERS, BLOCK, flags=END_HEADERS, stream=2),
        GREETING + frame(HEADERS, BLOCK, flags=END_HEADERS, stream=0),
        GREETING + frame(HEADERS, b"\xff\xff\xff\xff\xff", flags=END_HEADERS, stream=1),
        GREETING + frame(HEADERS, BLOCK, stream=1) + frame(PING, bytes(8)),
        GREETING + frame(CONTINUATION, BLOCK, flags=END_HEADERS, stream=1),
        GREETING + frame(WINDOW_UPDATE, bytes(4)),
        GREETING + frame(WINDOW_UPDATE, b"\x7f\xff\xff\xff"),
        GREETING + bytes((0, 0x40, 1)) + bytes(6),
        CALLED + data(b"\x05pad", PADDED),
        CALLED + frame(HEADERS, BLOCK, flags=END_HEADERS, stream=1),
        CALLED + frame(RST_STREAM, b"odd", stream=1),
        GREETING + frame(HEADERS, BLOCK + header(b"x", bytes(LONGEST_HEADERS - 200)), stream=1)[:-1],
    ],
)
def test_what_http2_forbids_is_answered_with_a_reason_and_ends_the_conversation(came: bytes) -> None:
    served = Served()
    served.answered()
    if came.endswith(bytes(100)):
        came += b"\0" + frame(CONTINUATION, header(b"y", bytes(200)), flags=END_HEADERS, stream=1)
    assert not served.came(came)
    assert frame(GOAWAY)[3:9] in served.answered()


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 255), st.integers(0, 5), st.binary(max_size=40))))
def test_no_frames_make_it_fail_or_say_much(came: list[tuple[int, int, int, bytes]]) -> None:
    served = Served(CALLED)
    served.answered()
    for kind, flags, stream, payload in came:
        if not served.came(frame(kind, payload, flags=flags, stream=stream)):
            break
    assert len(served.sent) <= 200 * (len(came) + 1)


@given(st.binary(max_size=200))
def test_no_bytes_make_it_fail_or_say_much(came: bytes) -> None:
    served = Served(GREETING)
    served.answered()
    served.came(came)
    assert len(served.sent) <= 400
