"""What a bot says about its moves, from `say` to the wire."""

from collections.abc import Iterator

import pytest

from treelings import Bot, Clock, GameStart, Move, State, View, codec, derive_deck
from treelings.bot import LONGEST_COMMENT
from treelings.server import BotFailed, play_game


def comments(*turns: tuple[str, ...]) -> list[str]:
    """What reaches the referee from a bot that says these texts on its turns, one tuple a turn."""

    class Talker(Bot):
        def __init__(self) -> None:
            self.texts = iter(turns)  # and the base class is never told of the new instance

        def choose(self, view: View) -> Move:
            for text in next(self.texts):
                self.say(text)
            return view.legal_moves[0]

    return said_by(Talker, turns=len(turns))


def said_by(bot: type[Bot], turns: int) -> list[str]:
    """What reaches the referee from a bot in its first turns."""
    state = State.deal(derive_deck(bytes(32), "demo/0"), 2)
    history: list[Move] = []

    def requests() -> Iterator[bytes]:
        yield codec.start_message(GameStart("demo/0/r0", 0, 2, "start", Clock())).SerializeToString()
        for _ in range(turns):
            since = max(0, len(history) - 2)
            yield codec.query_message(View.of(state, tuple(history)), since).SerializeToString()
            for _ in range(2):
                history.append(state.legal_moves()[0])
                state.play(history[-1])

    messages = map(codec.decode_bot, play_game(bot, requests()))
    codec.read_ready(next(messages))
    return [codec.read_reply(message, 2 * number).comment for number, message in enumerate(messages)]


def test_what_a_bot_says_goes_with_the_move_that_it_is_choosing_and_with_no_other() -> None:
    assert comments((), ("here",), ()) == ["", "here", ""]


def test_the_last_word_counts() -> None:
    assert comments(("one", "two"), ("one", "")) == ["two", ""]


@pytest.mark.parametrize(
    ("text", "comment"),
    [
        ("  two\n lines\t", "two lines"),
        ("x" * 999, "x" * LONGEST_COMMENT),
        ("\U0001f409" * 999, "\U0001f409" * LONGEST_COMMENT),
        ("half \ud800 of a pair", "half ? of a pair"),
        ("\x1b[31m", "\x1b[31m"),
    ],
)
def test_a_comment_is_one_line_of_200_characters_that_can_be_sent(text: str, comment: str) -> None:
    assert comments((text,)) == [comment]


def test_a_bot_may_have_members_of_any_usual_name() -> None:
    class Own(Bot):
        def __init__(self) -> None:
            self._text = 3

        def _comment(self) -> str:
            return f"number {self._text}"

        def choose(self, view: View) -> Move:
            self.say(self._comment())
            return view.legal_moves[0]

    assert said_by(Own, turns=2) == ["number 3", "number 3"]


def test_what_is_no_text_cannot_be_said() -> None:
    with pytest.raises(BotFailed, match="say: expected text, got float"):
        comments((0.5,))  # type: ignore[arg-type]  # on purpose
