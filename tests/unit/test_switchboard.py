"""Where a bot listens, spoken to over real sockets: any pieces, peers that give up, peers that never read."""

import gc
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from frames import DATA, END_HEADERS, END_STREAM, HEADERS, PING, PREFACE, RST_STREAM, SETTINGS, frame, header
from hypothesis import given, settings
from hypothesis import strategies as st

from treelings.calls import MOST_UNREAD, Call, Session
from treelings.switchboard import Hangup, Switchboard, listen_at, listen_on

PATH = "/a.Service/Method"
BLOCK = b"\x83\x86" + header(b":path", PATH.encode()) + header(b"content-type", b"application/grpc")
GREETING = PREFACE + frame(SETTINGS)
CALL = frame(HEADERS, BLOCK, flags=END_HEADERS, stream=1)
PATIENCE_S = 60.0
MINE, OTHER = "127.1.2.3", "127.1.2.4"  # of the loopback, where no other test listens


def message(text: bytes) -> bytes:
    return b"\0" + len(text).to_bytes(4, "big") + text


def opened(number: int) -> bytes:
    return frame(HEADERS, BLOCK, flags=END_HEADERS, stream=number)


def given_up(number: int) -> bytes:
    return frame(RST_STREAM, (8).to_bytes(4, "big"), stream=number)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "bot.sock")


@pytest.fixture
def switchboard(path: str) -> Iterator[Switchboard]:
    listeners = listen_at(path)
    yield Switchboard(listeners, PATH)
    for listener in listeners:
        listener.close()


def hosts(*addresses: str) -> Callable[..., list[tuple[Any, ...]]]:
    """A name service in which every name stands for these addresses; as libc's does, it may tell one twice."""

    def resolve(_: str, port: int, **__: object) -> list[tuple[Any, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    return resolve


def test_a_name_of_two_addresses_is_listened_to_on_both_at_one_port() -> None:
    listeners = listen_on("mine", 0, hosts(MINE, OTHER, MINE))
    (host, port), (other_host, other_port) = (listener.getsockname() for listener in listeners)
    assert (host, other_host) == (MINE, OTHER)
    assert port == other_port != 0
    for listener in listeners:
        listener.close()


@pytest.mark.parametrize("order", [(MINE, OTHER), (OTHER, MINE)])
def test_a_port_that_is_taken_on_one_of_two_addresses_is_an_error_that_names_it(order: tuple[str, str]) -> None:
    with socket.socket() as taken:
        taken.bind((OTHER, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=rf"Address already in use \({OTHER}\)$"):
            listen_on("mine", port, hosts(*order))
        for listener in listen_on(MINE, port):  # nobody is left listening there
            listener.close()


def test_an_address_that_the_machine_does_not_have_is_passed_over_unless_it_is_the_only_one() -> None:
    for listener in listen_on("mine", 0, hosts("192.0.2.1", "127.0.0.1")):
        assert listener.getsockname()[0] == "127.0.0.1"
        listener.close()
    with pytest.raises(OSError, match=r"Cannot assign requested address \(192\.0\.2\.1\)$"):
        listen_on("mine", 0, hosts("192.0.2.1"))


def peer(path: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(PATIENCE_S)
    connection.connect(path)
    connection.sendall(GREETING)
    return connection


def test_calls_that_were_given_up_are_not_kept_while_a_game_goes_on(switchboard: Switchboard, path: str) -> None:
    earlier = calls_in_memory()
    with peer(path) as player, peer(path) as other:
        player.sendall(CALL)
        game = switchboard.next_call()
        calls = b"".join(opened(number) + given_up(number) for number in range(1, 400, 2))
        other.sendall(calls + opened(401) + frame(PING, b"all came"))
        player.sendall(frame(DATA, message(b"one"), stream=1))
        assert switchboard.read(game) == b"one"
        player.sendall(frame(DATA, message(b"two"), stream=1))
        answering = threading.Thread(target=say_once_heard, args=(other, player))
        answering.start()
        assert [switchboard.read(game), switchboard.read(game)] == [b"two", b"all came"]
        answering.join()
        assert len(calls_in_memory()) - len(earlier) <= 3
    hung_up(switchboard, game)


def calls_in_memory() -> list[Call]:
    """Also those of other tests, which stay as long as this list does."""
    gc.collect()
    return [each for each in gc.get_objects() if type(each) is Call]


def say_once_heard(other: socket.socket, player: socket.socket) -> None:
    """Wait until a ping of the one has been answered, then say so as the player."""
    heard = b""
    while b"all came" not in heard:
        heard += other.recv(65_536)
    player.sendall(frame(DATA, message(b"all came"), stream=1))


def test_a_peer_that_asks_and_never_reads_is_hung_up_on(switchboard: Switchboard, path: str) -> None:
    with peer(path) as player, peer(path) as deaf:
        player.sendall(CALL)
        game = switchboard.next_call()
        flooding = threading.Thread(target=flood, args=(deaf, player))
        flooding.start()
        assert switchboard.read(game) == b"it was hung up on"
        flooding.join()
    hung_up(switchboard, game)


def hung_up(switchboard: Switchboard, game: Call) -> None:
    """Let it find that its peers are gone."""
    with suppress(Hangup):
        while switchboard.read(game) is not None:
            pass


def flood(deaf: socket.socket, player: socket.socket) -> None:
    """Send pings until the other end hangs up, and say so as the player."""
    with suppress(ConnectionError):
        for _ in range(100):  # a few MiB, and no more
            deaf.sendall(frame(PING, b"treeling") * 5_000)
        player.sendall(frame(DATA, message(b"it took everything"), stream=1))
        return
    player.sendall(frame(DATA, message(b"it was hung up on"), stream=1))


def test_a_call_may_bring_any_number_of_messages_that_are_read_as_they_come() -> None:
    calls: list[Call] = []
    session = Session(PATH, lambda _: None, calls.append)
    assert session.receive(GREETING + CALL)
    empty = frame(DATA, message(b"") * 1_000, stream=1)
    for _ in range(MOST_UNREAD // 5_000 + 2):
        assert session.receive(empty)
        for _ in range(1_000):
            assert calls[0].read() == b""
    assert not calls[0].over


CONVERSATION = (
    GREETING
    + CALL
    + frame(DATA, message(b"one") + message(b"two" * 100)[:50], stream=1)
    + frame(PING, b"treeling")
    + frame(DATA, message(b"two" * 100)[50:] + message(b""), stream=1)
    + frame(SETTINGS, b"\0\4" + (20).to_bytes(4, "big"))
    + frame(DATA, message(b"last"), flags=END_STREAM, stream=1)
)


def answers(pieces: list[bytes]) -> tuple[bytes, list[bytes]]:
    """What was sent for this conversation, and what was read, each message being answered as soon as it is there."""
    calls: list[Call] = []
    sent = bytearray()
    session = Session(PATH, sent.extend, calls.append)
    heard: list[bytes] = []
    for piece in pieces:
        assert session.receive(piece)
    (call,) = calls
    while call.messages:
        heard.append(call.read())
        call.say(heard[-1])
    assert call.left
    call.end("OK", "")
    return bytes(sent), heard


@settings(max_examples=60)
@given(st.sets(st.integers(1, len(CONVERSATION) - 1)))
def test_the_same_conversation_in_any_pieces_has_the_same_answers(cuts: set[int]) -> None:
    ends = [0, *sorted(cuts), len(CONVERSATION)]
    whole = answers([CONVERSATION])
    assert answers([CONVERSATION[start:end] for start, end in pairwise(ends)]) == whole
    assert whole[1] == [b"one", b"two" * 100, b"", b"last"]
