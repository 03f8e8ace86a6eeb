"""Bots, links and sandboxes that do as they are told, for tests of games and matches."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from referee.errors import SandboxError
from referee.limits import Limits
from referee.model import Submission
from referee.ports import Address, Answer, BotState, CpuTimes, Failure, RunningBot
from treelings import GameEnd, GameStart, View

Act = str | float | Answer | Failure | Exception
"""What a bot does on one of its turns: a move's text, the first legal move after so many ms, a whole answer (its text
"" is the first legal move), a failure of the bot, or an error of our own side."""


class FakePlayer:
    """Does what its script says, turn by turn, then plays the first legal move in 1 ms; keeps what it saw."""

    def __init__(
        self,
        script: Iterable[Act] = (),
        *,
        start: Failure | Exception | None = None,
        leaves_in_order: bool | SandboxError = True,
    ) -> None:
        self._script = list(script)
        self._start = start
        self.leaves_in_order = leaves_in_order
        self.started: list[GameStart] = []
        self.views: list[View] = []
        self.ends: list[GameEnd] = []

    async def start(self, game: GameStart) -> Failure | None:
        self.started.append(game)
        if isinstance(self._start, Exception):
            raise self._start
        return self._start

    async def ask(self, view: View) -> Answer | Failure:
        self.views.append(view)
        act = self._script.pop(0) if self._script else 1.0
        if isinstance(act, Exception):
            raise act
        if isinstance(act, Failure):
            return act
        if isinstance(act, Answer):
            return act if act.text else replace(act, text=view.legal_moves[0].notation)
        if isinstance(act, str):
            return Answer(act, 1.0)
        return Answer(view.legal_moves[0].notation, act)

    async def end(self, result: GameEnd) -> None:
        self.ends.append(result)


class FakeBot:
    """A running bot; nothing is behind it."""

    def __init__(self, submission: Submission) -> None:
        self.submission = submission
        self.limits = Limits()
        self.address: Address = Path("/nowhere/bot.sock")
        self.running = True

    def owns(self, pid: int) -> bool:
        return True

    def wake(self) -> None:
        pass

    def rest(self) -> None:
        pass

    def cpu_used_ms(self) -> float | None:
        return None

    def cpu_times(self) -> CpuTimes | None:
        return None

    async def state(self) -> BotState:
        return BotState(self.running, None if self.running else 0)

    async def log_tail(self) -> str:
        return ""

    async def stop(self) -> bytes:
        self.running = False
        return b"log of " + self.submission.name.encode()


class FakeSandbox:
    """Starts FakeBots, or fails as often as it is told, per call of `start`."""

    name = "fake"

    def __init__(self, failures: Sequence[SandboxError | OSError | None] = ()) -> None:
        self._failures = list(failures)
        self.started: list[FakeBot] = []

    async def open(self) -> None:
        pass

    async def start(self, submission: Submission, match: str) -> FakeBot:
        failure = self._failures.pop(0) if self._failures else None
        if failure is not None:
            raise failure
        bot = FakeBot(submission)
        self.started.append(bot)
        return bot

    async def close(self) -> None:
        pass

    def running(self) -> list[str]:
        """Names of the bots that run, in the order of their starts."""
        return [bot.submission.name for bot in self.started if bot.running]


class FakeLink:
    """A link whose players come from a function of the bot's name."""

    def __init__(self, bot: RunningBot, player: Callable[[str], FakePlayer]) -> None:
        self._bot = bot
        self._player = player
        self._last: FakePlayer | None = None

    async def left_in_order(self, within_ms: int) -> bool:
        in_order = self._last is None or self._last.leaves_in_order
        if isinstance(in_order, SandboxError):
            raise in_order
        return in_order

    def player(self) -> FakePlayer:
        self._last = self._player(self._bot.submission.name)
        return self._last

    async def close(self) -> bytes:
        return await self._bot.stop()
