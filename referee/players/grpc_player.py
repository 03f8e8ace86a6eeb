"""A bot that speaks treelings.v1: one connection for its process, one stream for each of its games.

While it is not a bot's turn it rests, if its sandbox can hold it: from its answer to the next query, and from when it
can first be reached to its first game.
"""

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from referee.errors import Overloaded, SandboxError
from referee.model import FaultKind
from referee.players import handover
from referee.players.connection import Connection
from referee.players.endings import explain
from referee.players.listening import wait_until_listening
from referee.players.overload import Watch, allowed_ms
from referee.players.paths import without_paths
from referee.players.stream import Broken, Received, Stream
from referee.players.wait import TooLate, Wait
from referee.ports import Answer, Failure, RunningBot
from treelings import GameEnd, GameStart, ProtocolError, View, codec

_FAREWELL_S: Final = 0.1  # for a bot to hear how its last game ended, before its process is ended
_AHEAD_S: Final = 10.0  # as long as a bot may take to start, unless a league says otherwise


class BotLink:
    """The way to one running bot, for all games of its match (ports.Link)."""

    def __init__(
        self,
        bot: RunningBot,
        now: Callable[[], float] = time.monotonic,
        *,
        ahead_s: float = _AHEAD_S,
        patience_ms: int = 0,
    ) -> None:
        """The way to a bot.

        ahead_s      what one that was started ahead may take to listen before it has to rest
        patience_ms  how long it is waited for at least, whatever it is told; what is beyond that costs it nothing
        """
        self._bot = bot
        self._patience_ms = patience_ms
        self._now = now
        self.wait: Final = Wait(Watch(bot.cpu_times, bot.limits.cpus, sent_bytes=self._sent_bytes), now, self.kill)
        self._obstacle = ""  # why the bot cannot be reached as yet
        self._ahead = asyncio.create_task(self._get_ahead(ahead_s))
        self._connection: Connection | None = None
        self._player: GrpcPlayer | None = None
        self._ending: asyncio.Task[bytes] | None = None

    @property
    def offence(self) -> str:
        """Why the bot was cut off for what it sent; empty if it was not."""
        return "" if self._connection is None else self._connection.offence

    def waits_ms(self, limit_ms: int) -> int:
        """How long the bot is waited for that has been told this limit."""
        return max(limit_ms, self._patience_ms)

    async def left_in_order(self, within_ms: int) -> bool:
        """Whether the bot has done with its last game and can play another; true before its first.

        Hangs up and waits for the bot, so long at most. One that breaks down at the end of a game is known by how its
        stream ended, one that did so later by its connection: to ask an engine about it takes four times as long.
        """
        if self._ending is not None:
            return False
        if self._player is None or self._connection is None:
            return True
        in_order = await self._player.leave(within_ms / 1000)
        return in_order and self._connection.ready

    def player(self) -> "GrpcPlayer":
        """The bot in its next game; the game before is hung up if it still hangs on."""
        if self._player is not None:
            self._player.hang_up()
        self._player = GrpcPlayer(self, self._bot)
        return self._player

    async def stream(self, allowance_ms: int) -> Stream | Failure:
        """A stream for one game of a bot that is awake; for the first one, waits until it listens.

        That takes as long as `wait` goes on, which somebody has begun with this allowance. Raises SandboxError.
        """
        try:
            failure = await self._connect()
        except asyncio.CancelledError:
            if not self.wait.cancelled:
                raise
            self.wait.end()
            self.wait.judge(answered=False)
            detail = f"expected the bot to listen on its socket within {allowance_ms:,} ms: {self._obstacle}"
            failure = Failure(FaultKind.STARTUP, detail)
        if failure is not None:
            return failure
        assert self._connection is not None
        return Stream(self._connection, codec.PATH, self._tidy, self.wait)

    async def _connect(self) -> Failure | None:
        await self._stop_getting_ahead()
        self.wake()
        if self._connection is None:
            reached = await wait_until_listening(self._bot, self._now, self._cannot_be_reached)
            if isinstance(reached, Failure):
                return reached
            self._connection = Connection(reached, self._bot.limits.sent_bytes)
        return None

    def _sent_bytes(self) -> int:
        return 0 if self._connection is None else self._connection.sent_bytes

    def _cannot_be_reached(self, why: str) -> None:
        self._obstacle = why

    def wake(self) -> None:
        """Let the bot run, unless it is being ended. Raises SandboxError."""
        if self._ending is None:
            self._bot.wake()

    def rest(self) -> None:
        """Hold the bot, unless it is being ended. Raises SandboxError."""
        if self._ending is None:
            self._bot.rest()

    def kill(self) -> None:
        """Begin to end the bot, at once and without waiting; `close` waits for it."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())

    async def close(self) -> bytes:
        """End the bot and remove all that it left; may be called twice. What it logged. Raises SandboxError."""
        try:
            if self._ending is None and self._player is not None:
                await self._player.leave(_FAREWELL_S)
        finally:
            self.kill()
            log = await self._ended()
        return log

    async def _ended(self) -> bytes:
        assert self._ending is not None
        try:
            return await asyncio.shield(self._ending)
        except SandboxError:
            self._ending = None  # to be tried again
            raise

    def _tidy(self, text: str) -> str:
        return without_paths(text, self._bot)

    async def _get_ahead(self, within_s: float) -> None:
        """Let a bot start while another match is played, and have it rest once it has."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                reached = await wait_until_listening(self._bot, self._now)
                if isinstance(reached, socket.socket):
                    handover.hang_up(
                        reached
                    )  # a server may give up a connection that says nothing until the first game
        self.rest()

    async def _stop_getting_ahead(self) -> None:
        """A game waits for itself. Raises what failed on our side till now (SandboxError)."""
        self._ahead.cancel()
        await asyncio.wait([self._ahead])
        if not self._ahead.cancelled():
            self._ahead.result()

    async def _end(self) -> bytes:
        self._ahead.cancel()
        try:
            return await self._bot.stop()
        finally:
            self.wait.put_away()
            # Whether a bot that has been ended could be held has no bearing any more.
            await asyncio.gather(self._ahead, return_exceptions=True)
            if self._connection is not None:
                self._connection.close()


class GrpcPlayer:
    """The bot in one game (ports.Player). Whenever it fails, its process is being ended."""

    def __init__(self, link: BotLink, bot: RunningBot) -> None:
        self._link = link
        self._bot = bot
        self._stream: Stream | None = None
        self._move_ms = 0
        self._lost_ms = 0.0  # what the machine took from the bot's answers so far
        self._told = 0  # moves of the game that the bot knows of

    async def start(self, game: GameStart) -> Failure | None:
        """Tell the bot of the game and wait until it is ready, for `game.clock.startup_ms` at most.

        For the bot's first game that includes its process's own start. Raises SandboxError.
        """
        self._move_ms = game.clock.move_ms
        self._link.wait.begin(self._link.waits_ms(game.clock.startup_ms))
        try:
            failure = await self._get_ready(game)
        finally:
            self._link.wait.end()
        if failure is None:
            self._link.rest()
        else:
            self._link.kill()
        return failure

    async def _get_ready(self, game: GameStart) -> Failure | None:
        allowance_ms = self._link.waits_ms(game.clock.startup_ms)
        with self._named("before it was ready"):
            stream = await self._link.stream(allowance_ms)
            if isinstance(stream, Failure):
                return stream
            self._stream = stream
            stream.say(codec.start_message(game).SerializeToString())
            came = await self._answer(stream.finish())
        if isinstance(came, Received):
            try:
                codec.read_ready(codec.decode_bot(came.data))
            except ProtocolError as error:
                failure = _wrong(error, came)
            else:
                return None
        else:
            failure = await self._broken(came, allowance_ms)
        detail = f"{failure.detail}, before it was ready; the start-up limit is {allowance_ms:,} ms"
        return Failure(FaultKind.STARTUP, detail, failure.ms)

    async def ask(self, view: View) -> Answer | Failure:
        """The bot's answer to this view, within `view.limit_ms` on the wall clock.

        A reply belongs to the turn that it names. So a second reply to one query breaks the protocol at the next
        one, and a reply sent before its query counts for it: that bot has chosen without a view. Raises SandboxError.
        """
        assert self._stream is not None, "asked before the game was started"
        request = codec.query_message(view, self._told).SerializeToString()
        self._told = len(view.history)
        limit_ms = self._link.waits_ms(view.limit_ms)
        stream = self._stream
        before_ms: float | None = None

        def let_go() -> None:
            nonlocal before_ms
            stream.say(request)  # first, so that the bot finds it as it wakes and is not woken twice
            self._link.wake()
            before_ms = self._bot.cpu_used_ms()  # while it wakes, which takes it longer

        with self._named(f"at turn {view.turn}"):
            came = await self._answer(stream.answer(limit_ms, self._earlier_ms(view), let_go))
        if isinstance(came, Received):
            after_ms = self._bot.cpu_used_ms()
            self._lost_ms += came.lost_ms
            try:
                text, comment = codec.read_reply(codec.decode_bot(came.data), view.turn)
            except ProtocolError as error:
                failure = _wrong(error, came)
            else:
                self._link.rest()
                cpu_ms = None if before_ms is None or after_ms is None else round(after_ms - before_ms, 3)
                return Answer(text, min(came.ms, view.limit_ms), cpu_ms, comment)
        else:
            failure = await self._broken(came, limit_ms)
        self._link.kill()
        detail = f"{failure.detail}, at turn {view.turn} (bank {view.bank_ms:,} ms)"
        return Failure(failure.kind, detail, failure.ms)

    def _earlier_ms(self, view: View) -> float:
        """What earlier answers lost, where it is the bank that limits this one; with it no more than a move's limit."""
        if view.limit_ms < view.bank_ms:
            return 0.0
        return min(self._lost_ms, max(0, self._move_ms - view.limit_ms))

    async def _answer(self, answer: Awaitable[Received | TooLate | Broken]) -> Received | TooLate | Broken:
        try:
            return await answer
        except Overloaded:
            if self._link.offence:  # then it was the bot that kept us busy
                return Broken("cut off")
            raise

    @contextmanager
    def _named(self, when: str) -> Iterator[None]:
        """Say whom the machine was unfair to, and when."""
        try:
            yield
        except Overloaded as error:
            raise Overloaded(f"{self._bot.submission.name}, {when}: {error}") from error

    async def end(self, result: GameEnd) -> None:
        """Tell the bot the result and hang up; waits for nothing. Raises SandboxError."""
        if self._stream is not None:
            self._link.wake()  # and it stays awake till its next game, to do what it does at the end of one
            self._stream.leave(codec.end_message(result).SerializeToString())

    def hang_up(self) -> None:
        """Leave the game without a word, if it has not been left; waits for nothing. Raises SandboxError."""
        if self._stream is not None:
            self._link.wake()
            self._stream.leave()

    async def leave(self, within_s: float) -> bool:
        """Hang up and wait for the bot to do so too, for so long at most; whether it has, in order."""
        if self._stream is None:
            return True
        self.hang_up()
        return await self._stream.left(within_s)

    async def _broken(self, came: TooLate | Broken, limit_ms: int) -> Failure:
        """What became of a bot that sent no message."""
        if self._link.offence:
            return Failure(FaultKind.PROTOCOL, self._link.offence)
        if isinstance(came, TooLate):
            detail = f"no answer within {limit_ms:,} ms"
            if allowed_ms(limit_ms, came.lost) > limit_ms:
                detail += f", nor within {came.ms - limit_ms:,.0f} ms more, while {came.lost}"
            return Failure(FaultKind.TIMEOUT, detail, came.ms)
        kind, detail = await explain(self._bot, f"the bot left the game ({came.status}), though its process went on")
        return Failure(kind, detail)


def _wrong(error: ProtocolError, came: Received) -> Failure:
    return Failure(FaultKind.PROTOCOL, f"{error}, after {came.ms:.1f} ms", came.ms)
