"""Which mistakes of a conformance run pass for the same one."""

import pytest

from referee.conformance.causes import cause

LEFT = "the bot left the game (status UNKNOWN: KeyError: 3), though its process went on"
READING = "status UNKNOWN: TypeError: Cannot read properties of undefined (reading '{}')"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a legal move: R", "illegal move 'B' for seat 0 at turn 0: no B in the market; legal: R"),
         ("a legal move", "illegal move '-' for seat 3 at turn 7: passing is legal only before an empty market")),
        (("a Reply to turn 2", "Reply.turn = 3"), ("a game without fault", "protocol: Reply.turn: expected 1, got 2")),
        (("a Reply to turn 2 within 1,000 ms", "the end of the stream with status UNKNOWN: KeyError: 3"),
         ("Ready within 10,000 ms", "the end of the stream with status UNKNOWN: KeyError: 4")),
        (("a Reply to turn 2 within 1,000 ms", "the end of the stream with status UNKNOWN: KeyError: 3"),
         ("a game without a fault", f"crash: {LEFT}")),
        (("a Reply to turn 2 within 9 ms", f"the end of the stream with {READING.format('move')}"),
         ("a game without a fault", f"crash: the bot left the game ({READING.format('move')}), though it went on")),
        (("a Reply to turn 2 within 100 ms", "nothing after 400 ms"),
         ("a Reply to turn 0 within 1,000 ms, in the next game after one", 'reply { move: "R" } after 1,200 ms')),
        (("a Reply to turn 2 within 8 ms", "an empty message"), ("a Reply to turn 0 within 9 ms", "an empty message")),
    ],
)  # fmt: skip
def test_one_mistake_in_two_corners_is_one(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert cause(*one) == cause(*other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a legal move: R", "illegal move 'B' for seat 0 at turn 0: no B"), ("a legal move: R", "not a move: 'x'")),
        (("Ready", "Ready.protocol = 2"), ("a Reply to turn 2", "Reply.turn = 3")),
        (("a Reply to turn 2 within 9 ms", "the end of the stream with status UNKNOWN: KeyError: 3"),
         ("a Reply to turn 2 within 9 ms", "the end of the stream with status UNKNOWN: IndexError: 3")),
        (("a Reply to turn 2 within 9 ms", f"the end of the stream with {READING.format('move')}"),
         ("a Reply to turn 2 within 9 ms", f"the end of the stream with {READING.format('turn')}")),
        (("Ready within 400 ms", "nothing after 1,000 ms"), ("a Reply to turn 2 within 4 ms", "nothing after 900 ms")),
        (("a Reply to turn 2 within 9 ms", "the end of the stream with status OK"),
         ("a status that is not OK, or silence", "the end of the stream with status OK")),
        (("no message that nobody has asked for", "ready { protocol: 1 }"),
         ("the end of the stream with status OK, and no message", "ready { protocol: 1 }")),
    ],
)  # fmt: skip
def test_two_mistakes_are_two(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert cause(*one) != cause(*other)
