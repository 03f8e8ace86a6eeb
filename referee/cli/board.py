"""The game that is played at one table, drawn in the terminal while a match goes on."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.control import Control
from rich.live import Live
from rich.text import Text

from referee.cli.progress import GameProgress
from referee.cli.show import err, market, redraws, row
from referee.game import Watch
from referee.model import GameRecord, GameSpec, PlayedMove
from referee.standings import points
from treelings import State

_DRAWN_A_SECOND = 5
_NARROWEST = 72
_ROW = 38  # of a seat's columns: six, two of them with heights of two digits
_SHORTEST_NAME = 8
_BESIDE_NAME = 26 + _ROW
_MOVES = 8
_LINES_BESIDE = 8  # of all that is neither a seat nor a move: title, market, head, blanks, bar, the terminal's last


@dataclass(frozen=True, slots=True)
class Scene:
    """A position as it was, and the moves that led to it, each with its turn, the newest last."""

    game: GameSpec
    state: State
    moves: tuple[tuple[int, PlayedMove], ...]


class MatchBoard(GameProgress):
    """The bar of a match, and above it one of its games where the terminal has room for that."""

    def __init__(self, title: str, console: Console = err) -> None:
        super().__init__(title)
        self._console = console
        self.scene: Scene | None = None
        self._width = console.width
        self._results: dict[str, tuple[int, float]] = {}  # games and points of each bot
        self._live = Live(
            get_renderable=self._screen, console=console, refresh_per_second=_DRAWN_A_SECOND, transient=True
        )  # fmt: skip

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def watch(self, game: GameSpec, state: State, move: PlayedMove | None) -> None:
        """A position of the game that is shown (game.Watch); it is drawn when its time has come, or never."""
        if move is None or self.scene is None:
            moves: tuple[tuple[int, PlayedMove], ...] = ()
        else:
            moves = (*self.scene.moves[1 - _MOVES :], (state.turn - 1, move))
        self.scene = Scene(game, state.copy(), moves)

    def game_done(self, record: GameRecord) -> None:
        """A game has been played."""
        super().game_done(record)
        for seat, gained in zip(record.seats, points(record.ranks), strict=True):
            games, sum_ = self._results.get(seat.bot, (0, 0.0))
            self._results[seat.bot] = games + 1, sum_ + float(gained)

    def _screen(self) -> RenderableType:
        # In the thread that draws: a scene is never changed, only replaced.
        width, height = self._console.size
        if width < self._width:  # the terminal has broken the lines that were there, so that they are not found
            self._console.control(Control.clear(), Control.home())
        self._width = width
        bar = self._bar.get_renderable()
        scene = self.scene
        if scene is None:
            return bar
        scores = {bot: sum_ / games for bot, (games, sum_) in self._results.copy().items()}
        return Group(*board(scene, scores, width, height), bar)


def progress_for(title: str, *, quiet: bool, console: Console = err) -> tuple[GameProgress, Watch | None]:
    """What is shown while a match of this title is played, and what is to be shown its positions."""
    if quiet or not redraws(console):
        return GameProgress(title, quiet=quiet), None
    shown = MatchBoard(title, console)
    return shown, shown.watch


def board(scene: Scene, scores: Mapping[str, float], width: int, height: int) -> list[Text]:
    """The lines of a board for a terminal of that size, so that one for the bar is left; none where that is too small.

    scores  mean result of each bot in the games before, 0 to 1; one that is not there has none yet
    """
    game, state = scene.game, scene.state
    room = height - _LINES_BESIDE - len(game.bots)
    if width < _NARROWEST or room < 0:
        return []
    name_width = min(max(map(len, game.bots)), max(_SHORTEST_NAME, width - _BESIDE_NAME))
    lines = [
        Text.assemble((f"turn {state.turn}, rotation {game.rotation}", "bold"), f" of {game.deal_id}"),
        _middle(state),
        Text(),
        Text(f"  {'* would score now':<{name_width - 1 + _ROW}}{'points':>6}{'score':>9}", style="dim"),
    ]
    for seat, bot in enumerate(game.bots):
        on_turn = seat == state.seat and not state.over
        line = Text("▸ " if on_turn else "  ", style="bold")
        line.append(_cut(bot, name_width), style="bold" if on_turn else "").append(" ")
        line.append_text(row(state, seat, scoring=True))
        line.pad_right(max(0, name_width + 3 + _ROW - line.cell_len))
        line.append(f"{state.scores()[seat]:>4}")
        line.append(f"{100 * scores[bot]:>7.1f} %" if bot in scores else f"{'–':>9}", style="dim")
        lines.append(line)
    if room > 0:
        lines += [Text(), *_moves(scene, name_width, min(room, _MOVES))]
    lines.append(Text())
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
        line.truncate(width - 1, overflow="ellipsis")
    return lines


def _middle(state: State) -> Text:
    line = Text("market ").append_text(market(state))
    line.append(f"  pile {state.pile}   ")
    if state.firefly_out:
        return line.append("the firefly is out: the last round", style="yellow")
    return line.append(f"{state.above_firefly} cards till the firefly")


def _moves(scene: Scene, name_width: int, count: int) -> list[Text]:
    """As many lines as there is room for, whatever has been played: the board must not jump."""
    lines: list[Text] = []
    for turn, move in scene.moves[-count:]:
        line = Text(f"{turn:>4}  ", style="dim")
        line.append(_cut(scene.game.bots[move.seat], name_width)).append(f" {move.move:<9}", style="bold")
        line.append("   referee  " if move.by_referee else f"{move.ms:>9,.1f} ms", style="dim")
        line.append(f"  {move.comment}", style="italic")
        lines.append(line)
    return lines + [Text()] * (count - len(lines))


def _cut(name: str, width: int) -> str:
    return f"{name:<{width}}" if len(name) <= width else f"{name[: width - 1]}…"
