"""The board of a match: what it shows, and that it fits."""

import io
import re
from random import Random

import pytest
from rich.cells import cell_len

from referee.cli.board import MatchBoard, Scene, board, progress_for
from referee.cli.progress import GameProgress
from referee.cli.show import SafeConsole
from referee.game import Watch
from referee.model import GameSpec, PlayedMove
from referee.schedule import plan_match
from tests.support.records import BOTS, SECRET
from treelings import State, derive_deck

LONG = ("a" * 32, "b" * 32, "c" * 32, "d" * 32, "e" * 32)


def game_of(bots: tuple[str, ...]) -> GameSpec:
    return plan_match(league="", night=None, bots=bots, deals=1, refill="start").games[0]


def watched(game: GameSpec, watch: Watch, turns: int = 1_000, comment: str = "") -> State:
    """Show a game's first turns, in random moves; where it stands then."""
    assert game.deal_id is not None
    state = State.deal(derive_deck(SECRET, game.deal_id), len(game.bots), game.refill)
    watch(game, state, None)
    rng = Random(1)
    while not state.over and state.turn < turns:
        move = PlayedMove(state.seat, rng.choice(state.legal_moves()).notation, 1.5, comment=comment)
        state.play(state.parse(move.move))
        watch(game, state, move)
    return state


def scene(bots: tuple[str, ...], turns: int = 1_000, comment: str = "") -> Scene:
    shown = MatchBoard("a match")
    watched(game_of(bots), shown.watch, turns, comment)
    assert shown.scene is not None
    return shown.scene


def screen(file: io.StringIO, *, terminal: bool = True) -> SafeConsole:
    return SafeConsole(
        file=file, force_terminal=terminal, force_interactive=terminal, width=80, height=24, color_system=None
    )


def lines(shown: Scene, width: int = 80, height: int = 24) -> list[str]:
    return [line.plain for line in board(shown, {}, width, height)]


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize(("width", "height"), [(72, 24), (80, 24), (80, 14), (200, 60)])
@pytest.mark.parametrize("turns", [0, 7, 1_000])
def test_it_fits_with_a_line_for_the_bar_and_is_as_tall_whatever_has_been_played(
    players: int, width: int, height: int, turns: int
) -> None:
    shown = lines(scene(LONG[:players], turns, "c" * 200), width, height)
    assert len(shown) < height - 1
    assert all(cell_len(line) < width for line in shown)
    assert len(shown) == len(lines(scene(LONG[:players], 3), width, height))


@pytest.mark.parametrize(("width", "height"), [(71, 24), (40, 24), (80, 12), (1, 1)])
def test_where_there_is_no_room_for_it_there_is_none(width: int, height: int) -> None:
    assert lines(scene(LONG), width, height) == []


def test_it_shows_every_row_with_its_columns_and_what_would_score_now() -> None:
    shown = scene(BOTS[:3], turns=13)
    text = lines(shown)
    for seat, bot in enumerate(shown.game.bots):
        line = text[4 + seat]
        assert line[2:].startswith(bot)
        columns = zip(shown.state.rows[seat], shown.state.heights(seat), shown.state.scoring()[seat], strict=True)
        tiles = [f" {guild}{height} {'*' if scores else ' '} " for guild, height, scores in columns]
        assert "".join(tiles).strip() in line
        assert line.startswith("▸") is (seat == shown.state.seat)
        assert str(shown.state.scores()[seat]) in line.split()
    assert f"pile {shown.state.pile}" in text[1]
    assert f"{shown.state.above_firefly} cards till the firefly" in text[1]


def test_it_shows_the_last_moves_with_time_and_comment() -> None:
    text = lines(scene(BOTS[:2], turns=20, comment="why not?"))
    moves = [line for line in text if "why not?" in line]
    assert [int(line.split()[0]) for line in moves] == list(range(12, 20))
    assert all("1.5 ms" in line for line in moves)


def test_after_the_firefly_it_says_that_the_round_is_the_last() -> None:
    assert "the firefly is out" in lines(scene(BOTS[:2]))[1]


def test_it_keeps_a_position_of_its_own_and_forgets_the_game_before() -> None:
    shown = MatchBoard("a match")
    state = watched(game_of(BOTS[:2]), shown.watch, turns=9)
    assert shown.scene is not None
    state.play(state.legal_moves()[0])
    assert shown.scene.state.turn == 9
    watched(game_of(BOTS[:2]), shown.watch, turns=2)
    assert [turn for turn, _ in shown.scene.moves] == [0, 1]


def test_it_shows_the_score_of_the_games_so_far() -> None:
    assert any("62.5 %" in line.plain for line in board(scene(BOTS[:2]), {BOTS[0]: 0.625}, 80, 24))


@pytest.mark.parametrize(("terminal", "quiet"), [(False, False), (True, True), (False, True)])
def test_elsewhere_than_on_a_terminal_and_where_it_is_not_wanted_there_is_none(terminal: bool, quiet: bool) -> None:
    progress, watch = progress_for("a match", quiet=quiet, console=screen(io.StringIO(), terminal=terminal))
    assert type(progress) is GameProgress
    assert watch is None


@pytest.mark.parametrize(("encoding", "interactive"), [("ascii", True), ("latin-1", True), ("utf-8", False)])
def test_where_lines_cannot_be_drawn_again_there_is_none(encoding: str, interactive: bool) -> None:
    with io.TextIOWrapper(io.BytesIO(), encoding) as file:
        console = SafeConsole(file=file, force_terminal=True, force_interactive=interactive)
        progress, watch = progress_for("a match", quiet=False, console=console)
    assert type(progress) is GameProgress
    assert watch is None


def test_it_is_drawn_on_a_terminal_and_what_a_bot_says_does_nothing_there() -> None:
    file = io.StringIO()
    progress, watch = progress_for("a match", quiet=False, console=screen(file))
    assert watch is not None
    with progress:
        watched(game_of(BOTS[:2]), watch, turns=3, comment="\x1b]0;pwned[bold]x[/nonsense]")
    assert "\x1b]0;" not in file.getvalue()
    assert r"\x1b]0;pwned[bold]x[/nonsense]" in file.getvalue()
    assert "turn 3" in file.getvalue()


def test_the_line_at_the_bottom_leaves_room_for_what_a_terminal_shows_of_ctrl_c(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    file = io.StringIO()
    with MatchBoard("a match", screen(file)) as shown:
        shown.begin(0, 20)
        watched(game_of(BOTS[:2]), shown.watch)
    bars = [line for line in re.split(r"\x1b\[[?0-9;]*[A-Za-z]|[\r\n]", file.getvalue()) if "games" in line]
    assert bars
    assert all(cell_len(bar + "^C") < 80 for bar in bars)
