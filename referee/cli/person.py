"""A person at a seat: shown the table, asked for a move, and told what the others do."""

from collections.abc import Callable, Sequence

from rich.text import Text

from referee.adviser import Adviser, full_clock, judge, seen
from referee.cli.keyboard import Keyboard
from referee.cli.seated import HELP, board, cards, choices, steps
from referee.cli.show import comment, out, print_whole, say
from referee.errors import EngineGone, RefereeError, SandboxError
from referee.game import LONGEST_DETAIL
from referee.ports import Answer, Failure, Player
from referee.text import printable
from treelings import GUILDS, Clock, GameEnd, GameStart, Move, View
from treelings.errors import TreelingsError
from treelings.moves import SINGLES_TAKE

_SECOND_MS = 1_000

Entry = tuple[str, tuple[Move, ...]]


class Left(RefereeError):
    """The person has left the game; `asked`: by the key for it, else since the input has ended."""

    def __init__(self, *, asked: bool) -> None:
        super().__init__(
            "You left: the game is abandoned, nothing of it is kept."
            if asked
            else "the input ended before the game did: it is abandoned, nothing of it is kept"
        )
        self.asked = asked


class Hints:
    """What another bot would do in the person's place, with a full clock of its own for each question."""

    def __init__(self, name: str, adviser: Adviser, clock: Clock) -> None:
        self._name = name
        self._adviser = adviser
        self._clock = clock

    async def start(self, game: GameStart) -> None:
        """Start the bot; whatever is wrong with it is told when it is asked. Raises SandboxError."""
        await self._adviser.start(game)

    async def tell(self, view: View) -> None:
        """Print what the bot would do before this view, or why that cannot be told. Raises EngineGone."""
        try:
            answer = await self._adviser.ask(full_clock(view, self._clock))
        except EngineGone:
            raise
        except (SandboxError, OSError) as error:
            self._none(printable(str(error), LONGEST_DETAIL))
            return
        advice = judge(view, answer)
        if isinstance(advice, Failure):
            self._none(told(advice))
            return
        line = Text(f"{self._name} would play ").append(advice.move.notation, style="bold")
        line.append("  ").append_text(cards(seen(view), advice.move)).append(f"  {duration(advice.ms)}", style="dim")
        out.print(line, soft_wrap=True)
        comment(advice.comment, 2)

    def _none(self, why: str) -> None:
        say(f"{self._name} has no hint: {why}", style="yellow")


class Person:
    """The player of a seat that a person holds (ports.Player); has as much time as it takes."""

    def __init__(
        self, names: Sequence[str], keyboard: Keyboard, now: Callable[[], float], hints: Hints | None = None
    ) -> None:
        """`names` of all seats; `now` gives seconds."""
        self._names = names
        self._keyboard = keyboard
        self._now = now
        self._hints = hints

    async def start(self, game: GameStart) -> Failure | None:
        """Start whoever gives hints; a person is ready. Raises SandboxError."""
        if self._hints is not None:
            await self._hints.start(game)
        return None

    async def ask(self, view: View) -> Answer:
        """The move that the person chooses. Raises Left where there is none to come."""
        began = self._now()
        move = await self._choose(view)
        return Answer(move.notation, (self._now() - began) * _SECOND_MS)

    async def end(self, result: GameEnd) -> None:
        """Nothing: the screen shows more than a bot is told."""

    async def _choose(self, view: View) -> Move:
        entries = self._top(view)
        placed = ""
        while True:
            text = (
                await self._line(f"Your move (1-{len(entries)}, notation, ?, {'h, ' if self._hints else ''}q): ")
            ).strip()
            chosen: Entry | None = None
            match text.lower():
                case "?":
                    out.print(HELP, markup=False)
                case "q":
                    await self._leave()
                case "h" if self._hints is not None:
                    await self._hints.tell(view)
                case "h":
                    out.print("No bot gives hints: start with --hint BOT.", style="yellow", markup=False)
                case "":
                    entries, placed = self._top(view), ""
                case _:
                    chosen = _meant(view, entries, text)
            if chosen is not None:
                step, moves = chosen
                if len(moves) == 1:
                    return moves[0]
                placed = placed + step if step[0] in "<>" else step
                entries = steps(moves, placed.count("<"), placed.count(">"))
                print_whole(choices(view, entries))
                out.print("Enter goes back.", style="dim")

    def _top(self, view: View) -> list[Entry]:
        out.print()
        for line in board(view, self._names):
            out.print(line, soft_wrap=True)
        out.print()
        entries = steps(view.legal_moves)
        print_whole(choices(view, entries))
        return entries

    async def _leave(self) -> None:
        answer = await self._line("Leave the game? It is abandoned, and nothing of it is kept. (y/N) ")
        if answer.strip().lower() in ("y", "yes"):
            raise Left(asked=True)

    async def _line(self, prompt: str) -> str:
        out.print(prompt, end="", style="bold", markup=False, soft_wrap=True)
        out.file.flush()
        line = await self._keyboard.line()
        if line is None or not out.is_terminal:
            out.print()
        if line is None:
            raise Left(asked=False)
        return line


def _meant(view: View, entries: list[Entry], text: str) -> Entry | None:
    """The entry that a text means, or the move that it writes down; says what was expected where it is neither."""
    if text.isascii() and text.isdigit():
        if 1 <= int(text) <= len(entries):
            return entries[int(text) - 1]
        out.print(f"{text[:9]}: expected a number from 1 to {len(entries)}", style="yellow", markup=False)
        return None
    text = text.upper()
    if moves := dict(entries).get(text):
        return text, moves
    take, *others = dict.fromkeys(move.take for _, moves in entries for move in moves)
    notation = take + text if text[0] in "<>" and not others else text
    try:
        move = seen(view).parse(notation)
    except TreelingsError as error:
        # Half of a move, the take: a lone single goes by its letter (rules.md, Notation of moves).
        take = GUILDS[view.market.index(1)] if text == SINGLES_TAKE and view.market.count(1) == 1 else text
        if moves := tuple(move for move in view.legal_moves if move.take == take):
            return take, moves
        say(str(error), style="yellow")
        return None
    return move.notation, (move,)


class Narrator:
    """Tells the person what each seat does, once the game goes on from it."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._width = max(map(len, names))
        self._heard: dict[int, tuple[View, Answer | Failure]] = {}
        self._told = 0

    def hearing(self, player: Player) -> Player:
        """The same player, but what it answers is heard here."""
        return _Heard(player, self)

    def up_to(self, history: Sequence[Move]) -> None:
        """Tell of the moves of a game that have not been told yet; `history` holds all of them so far."""
        for turn in range(self._told, len(history)):
            self._tell(turn, history[turn])
        self._told = max(self._told, len(history))

    def note(self, view: View, answer: Answer | Failure) -> None:
        """What the seat on turn has answered to this view."""
        self._heard[view.turn] = (view, answer)

    def no_start(self, game: GameStart, failure: Failure) -> None:
        """Tell of a seat whose bot did not start."""
        self._forfeit(self._names[game.seat], failure)

    def _forfeit(self, name: str, failure: Failure) -> None:
        say(f"{name} forfeits: {told(failure)}", 2, "yellow")

    def _tell(self, turn: int, move: Move) -> None:
        name = self._names[turn % len(self._names)]
        line = Text(f"  {name:<{self._width}}  ", style="bold").append(f"{move.notation:<9} ", style="bold")
        heard = self._heard.pop(turn, None)
        if heard is None:
            out.print(line.append("moved by the referee", style="dim"), soft_wrap=True)
            return
        view, answer = heard
        advice = judge(view, answer)
        if isinstance(advice, Failure):
            self._forfeit(name, advice)
            out.print(line.append("moved by the referee, as from now on", style="dim"), soft_wrap=True)
            return
        line.append_text(cards(seen(view), move)).append(f"  {duration(advice.ms)}", style="dim")
        out.print(line, soft_wrap=True)
        comment(advice.comment, self._width + 4)


class _Heard:
    """A player with somebody who hears its answers, and is told how far the game is before each."""

    def __init__(self, player: Player, narrator: Narrator) -> None:
        self._player = player
        self._narrator = narrator

    async def start(self, game: GameStart) -> Failure | None:
        failure = await self._player.start(game)
        if failure is not None:
            self._narrator.no_start(game, failure)
        return failure

    async def ask(self, view: View) -> Answer | Failure:
        self._narrator.up_to(view.history)
        answer = await self._player.ask(view)
        self._narrator.note(view, answer)
        return answer

    async def end(self, result: GameEnd) -> None:
        await self._player.end(result)


def told(failure: Failure) -> str:
    """A bot's failure in one bounded line."""
    return f"{failure.kind}: {printable(failure.detail, LONGEST_DETAIL)}"


def duration(ms: float) -> str:
    """A time in the unit that fits it."""
    return f"{ms:.1f} ms" if ms < _SECOND_MS else f"{ms / _SECOND_MS:.1f} s"
