"""What --attach says: NAME=HOST:PORT, and nothing else."""

import pytest
import typer

from referee.cli.attach import attached_bots
from referee.players.attached import HostPort, shown


@pytest.mark.parametrize(
    ("text", "name", "address"),
    [
        ("mybot=127.0.0.1:50051", "mybot", ("127.0.0.1", 50051)),
        ("a_b-2=my-laptop.local:1", "a_b-2", ("my-laptop.local", 1)),
        ("x=host.:1", "x", ("host.", 1)),
        ("x=[::1]:65535", "x", ("::1", 65535)),
    ],
)
def test_a_name_and_where_it_listens(text: str, name: str, address: HostPort) -> None:
    assert attached_bots([text]) == {name: address}
    assert text == f"{name}={shown(address)}"


def test_there_may_be_several() -> None:
    assert list(attached_bots(["b=h:1", "a=h:2"])) == ["b", "a"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("127.0.0.1:50051", "NAME=HOST:PORT"),
        ("mybot=127.0.0.1", "NAME=HOST:PORT"),
        ("mybot=:50051", "NAME=HOST:PORT"),
        ("mybot=127.0.0.1:0", "NAME=HOST:PORT"),
        ("mybot=127.0.0.1:65536", "NAME=HOST:PORT"),
        ("mybot=127.0.0.1:٣", "NAME=HOST:PORT"),
        ("mybot=::1:50051", "NAME=HOST:PORT"),
        ("mybot=[nonsense]:50051", "NAME=HOST:PORT"),
        ("mybot=[127.0.0.1]:50051", "NAME=HOST:PORT"),
        ("mybot=/tmp/socket:1", "NAME=HOST:PORT"),
        (f"mybot={'a' * 64}.local:1", "NAME=HOST:PORT"),
        ("mybot=a..b:1", "NAME=HOST:PORT"),
        ("My Bot=127.0.0.1:50051", "a-z 0-9"),
        ("=127.0.0.1:50051", "a-z 0-9"),
        ("a-vs-b=127.0.0.1:50051", "-vs-"),
        ("my\x1bbot=127.0.0.1:50051", r"my\\x1bbot"),
    ],
)
def test_anything_else_is_refused_with_what_was_expected(text: str, words: str) -> None:
    with pytest.raises(typer.BadParameter) as refused:
        attached_bots([text])
    assert words in refused.value.message
    assert refused.value.message.isprintable()


def test_two_of_a_name_are_refused() -> None:
    with pytest.raises(typer.BadParameter, match="got a twice"):
        attached_bots(["a=h:1", "a=h:2"])
