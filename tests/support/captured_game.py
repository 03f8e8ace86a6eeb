"""The game in docs/protocol.md, message by message, as the kit's bot and the referee's codec exchange them.

`python -m tests.support.captured_game` writes it anew.
"""

import queue
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from google.protobuf import text_format

import treelings
from referee.clock import SeatClock
from referee.conformance.table import any_move, most_cards
from treelings import codec
from treelings.server import play_game
from treelings.v1.game_pb2 import BotMessage, RefereeMessage

PAGE: Final = Path(__file__).parents[2] / "docs/protocol.md"
DECK: Final = treelings.derive_deck(bytes(32), "demo/0")
PLAYERS: Final = 4
SEAT: Final = 3

_ANSWER_MS: Final = 3.0
_WIDTH: Final = 110
_BLOCK: Final = re.compile(r"(?<=^```textproto\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
_TEXTS: Final = re.compile(r"^ +(\w+): \".*\"\n(?: +\1: \".*\"\n)+", re.MULTILINE)
_TO: Final[dict[type, str]] = {RefereeMessage: "# to the bot", BotMessage: "# from the bot"}

Message = RefereeMessage | BotMessage


class _Bot(treelings.Bot):
    """Takes as much as it can."""

    def choose(self, view: treelings.View) -> treelings.Move:
        state = treelings.State.deal(DECK, PLAYERS)
        for move in view.history:
            state.play(move)
        if view.turn == SEAT:
            self.say("as many as I can get")
        return most_cards(state)


def capture() -> Iterator[Message]:
    """The game's messages in order."""
    asked: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    answers = play_game(_Bot, iter(asked.get_nowait, b""))
    clock = SeatClock(treelings.Clock())
    state, history, told = treelings.State.deal(DECK, PLAYERS), list[treelings.Move](), 0

    def ask(message: RefereeMessage) -> RefereeMessage:
        asked.put(message.SerializeToString())
        return message

    game = treelings.GameStart("night 1/ann-vs-ben-vs-cy-vs-dee/0/r0", SEAT, PLAYERS, "start", treelings.Clock())
    yield ask(codec.start_message(game))
    yield codec.decode_bot(next(answers))
    while not state.over:
        move = any_move(state)
        if state.seat == SEAT:
            view = treelings.View.of(state, tuple(history), limit_ms=clock.limit_ms, bank_ms=int(clock.bank_ms))
            yield ask(codec.query_message(view, told))
            told = len(history)
            answer = codec.decode_bot(next(answers))
            yield answer
            move = state.parse(answer.reply.move)
            clock.charge(_ANSWER_MS)
        history.append(move)
        state.play(move)
    scores = state.scores()
    ranks = tuple(1 + sum(other > own for other in scores) for own in scores)
    yield ask(codec.end_message(treelings.GameEnd("festival", ranks, scores)))
    assert next(answers, None) is None


def shown(message: Message) -> str:
    """A message in protobuf's text format, with its lists in brackets."""
    text = text_format.MessageToString(message, use_short_repeated_primitives=True)
    lines = [line.strip() for line in _TEXTS.sub(_as_list, text).splitlines()]
    body = [
        line
        for inner in lines[1:-1]
        for line in textwrap.wrap(inner, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    ]
    return "\n".join([_TO[type(message)], lines[0], *body, lines[-1]]) + "\n"


def _as_list(found: "re.Match[str]") -> str:
    texts = ", ".join(re.findall(r'"[^"]*"', found[0]))
    return f"{found[1]}: [{texts}]\n"


def text() -> str:
    """The whole game."""
    return "\n".join(map(shown, capture()))


def of_page(page: str) -> str:
    """The game as the page has it."""
    found = _BLOCK.search(page)
    assert found is not None, "expected a block that is fenced as ```textproto"
    return found[0]


def read(game: str) -> Iterator[Message]:
    """The messages that were written down so."""
    for part in re.split(r"^(?=# )", game, flags=re.MULTILINE)[1:]:
        kind = next(kind for kind, heading in _TO.items() if part.startswith(heading + "\n"))
        yield text_format.Parse(part, kind())


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    game = text()
    PAGE.write_text(_BLOCK.sub(lambda _: game, page, count=1), encoding="utf-8")


if __name__ == "__main__":
    main()
