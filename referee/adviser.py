"""One bot at one seat of one game, asked about position after position and begun afresh whenever it fails."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from referee.clock import SeatClock
from referee.errors import EngineGone, SandboxError
from referee.game import LONGEST_DETAIL
from referee.model import FaultKind, Submission
from referee.ports import Answer, Connect, Failure, Link, Player, Sandbox
from referee.text import printable
from treelings import Clock, GameEnd, GameStart, IllegalMove, Move, NotationError, State, View
from treelings.bot import LONGEST_COMMENT

_ATTEMPTS: Final = 3  # at one question, where our own side failed
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Advice:
    """A legal move that a bot would play; the time it took, and what it says about it, bounded and printable."""

    move: Move
    ms: float
    comment: str


class Adviser:
    """A bot in one game (ports.Player), with a process of its own.

    A bot whose process has failed is started again with the next question, told of the same game, and learns from the
    view what has been played. So is one that our side was unfair to; that question is asked again, three times at
    most.
    """

    def __init__(self, bot: Submission, match: str, sandbox: Sandbox, connect: Connect) -> None:
        """`sandbox` is open, and stays so; `match` names in it what the bot is run for."""
        self._bot = bot
        self._match = match
        self._sandbox = sandbox
        self._connect = connect
        self._game: GameStart | None = None
        self._link: Link | None = None
        self._player: Player | None = None
        self.log = b""
        """What its last process that has ended wrote to stdout and stderr; hostile."""

    async def start(self, game: GameStart) -> Failure | None:
        """Start the bot for this game, within `game.clock.startup_ms`. Raises SandboxError and OSError."""
        self._game = game
        return await self._patiently(self._begin)

    async def ask(self, view: View) -> Answer | Failure:
        """The bot's answer to this view, within `view.limit_ms`; FaultKind.STARTUP: it could not be started again.

        Views may be left out, or be none that the bot's own moves led to. Raises SandboxError and OSError.
        """
        return await self._patiently(lambda: self._ask(view))

    async def end(self, result: GameEnd) -> None:
        """Tell the bot the result, if it lives. Raises SandboxError."""
        if self._player is not None:
            await self._player.end(result)

    async def close(self) -> None:
        """End the bot; may be called at any time, and twice. Raises SandboxError."""
        self._player = None
        if self._link is not None:
            self.log = await self._link.close()
            self._link = None

    async def _begin(self) -> Failure | None:
        assert self._game is not None, "asked before the game was started"
        self._link = self._connect(await self._sandbox.start(self._bot, self._match))
        player = self._link.player()
        failure = await player.start(self._game)
        if failure is None:
            self._player = player
        else:
            await self.close()
        return failure

    async def _ask(self, view: View) -> Answer | Failure:
        if self._player is None and (failure := await self._begin()) is not None:
            return failure
        assert self._player is not None
        answer = await self._player.ask(view)
        if isinstance(answer, Failure):
            await self.close()
        return answer

    async def _patiently(self, act: Callable[[], Awaitable[T]]) -> T:
        for _ in range(_ATTEMPTS - 1):
            try:
                return await act()
            except EngineGone:
                raise
            except (SandboxError, OSError):
                await self.close()
        return await act()


def judge(view: View, answer: Answer | Failure) -> Advice | Failure:
    """What an answer to this view comes to: a legal move in its canonical form, or what the bot did instead."""
    if isinstance(answer, Failure):
        return answer
    try:
        move = seen(view).parse(answer.text)
    except (IllegalMove, NotationError) as error:
        return Failure(FaultKind.ILLEGAL_MOVE, printable(str(error), LONGEST_DETAIL), answer.ms)
    return Advice(move, answer.ms, printable(answer.comment, LONGEST_COMMENT))


def seen(view: View) -> State:
    """A position in which all that the view shows is so; the cards face down lie in the order of their guilds.

    It tells what a move does to the rows, and nothing of the cards to come.
    """
    return view.sample(_InOrder())


def full_clock(view: View, clock: Clock) -> View:
    """The same view with the time that a seat has at the start of a game."""
    return view._replace(limit_ms=SeatClock(clock).limit_ms, bank_ms=clock.bank_ms)


class _InOrder:
    """No randomness at all: what is shuffled with it stays as it was."""

    def random(self) -> float:
        return 0.0
