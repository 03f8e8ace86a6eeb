"""`treelings check`: what a league and a match do to a bot, step by step, for whoever writes it."""

import json
import secrets
import shlex
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from referee.cli import options
from referee.cli.show import err, out
from referee.text import printable
from treelings.cards import MAX_PLAYERS, MIN_PLAYERS, SECRET_BYTES

if TYPE_CHECKING:
    from referee.checkup import Step
    from referee.config import LeagueConfig
    from referee.model import Submission
    from referee.ports import Sandbox

_COPIES = "treelings-check-"
_FORMAT = "treelings-check/1"
_LONGEST_PATH = 1_000
_MARKS = {
    "passed": ("✓", "green"),
    "warning": ("!", "yellow"),
    "failed": ("✗", "bold red"),
    "unknown": ("?", "yellow"),
    "not reached": ("–", "dim"),
}
_GOOD, _BAD, _UNKNOWN = "good", "bad", "unknown"


def check(
    bot: Annotated[
        str | None,
        typer.Argument(
            metavar="BOT", help="A bot's folder, its .zip or .tar.gz, or the name of a sample bot.", show_default=False
        ),
    ] = None,
    league: Annotated[
        Path | None,
        typer.Option("--league", metavar="DIR", help="Check for this league: its table sizes, clock and limits."),
    ] = None,
    seats: Annotated[
        list[int] | None,
        typer.Option(
            "--seats", metavar="N", min=MIN_PLAYERS, max=MAX_PLAYERS,
            help="Size of a table to play at, may be given again; the league's, or else 2 and 5.",
        ),
    ] = None,
    sandbox: options.Sandbox = options.SandboxWish.AUTO,
    protocol: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Instead of BOT: drive a bot that you run yourself, and that listens there, through every corner of "
            "the protocol.",
        ),
    ] = None,
    *,
    trust_bots: options.TrustBots = False,
    as_json: Annotated[bool, typer.Option("--json", help="As one JSON object, for programs.")] = False,
) -> None:  # fmt: skip
    """Do to a bot what a league does before it may play, step by step, and say what is wrong with it.

    ✓ is good, ! is good but look at it, ✗ failed, – was not reached, ? could not be tried, through no fault of the
    bot's. Exit code 0: the bot is ready; 1: a step failed, or could not be tried; 2: there is no such bot. Example:
    `treelings check mybot`.

    A bot in a language without a kit: start it so that it listens on a port, then `treelings check --protocol
    127.0.0.1:50051` says what of docs/protocol.md it gets wrong.
    """
    if protocol is not None:
        if bot is not None or league is not None or seats:
            raise typer.BadParameter(
                "--protocol checks the bot that listens there; leave out BOT, --league and --seats"
            )
        from referee.cli.conformance import check_protocol

        check_protocol(protocol, as_json=as_json)
        return
    if bot is None:
        raise typer.BadParameter("expected BOT, such as mybot, or --protocol HOST:PORT")
    from referee.checkup import step_names
    from referee.loop import run
    from referee.submissions import find_bot
    from referee.work_folder import work_folder

    config = _config(league, seats)
    source = find_bot(bot)

    def box(submission: "Submission") -> "Sandbox":
        from referee.cli.sandboxes import sandbox_for  # once there is something to run: before that come its files

        return sandbox_for(
            sandbox, [submission], "check", trust=trust_bots, limits=config.limits(), at_once=max(config.seats)
        )

    typed = options.as_typed(sandbox, trust=trust_bots)
    board = _Board(step_names(config), bot, config, typed, silent=as_json)
    with work_folder(Path(gettempdir()), _COPIES) as copies:
        steps = run(board.follow(source, copies, box))
    verdict = _verdict(steps)
    if as_json:
        # In ASCII: JSON is UTF-8, and what a terminal's encoding makes of other characters need not be.
        typer.echo(json.dumps(_as_json(bot, steps, config, typed), indent=1))
    else:
        _conclude(bot, steps, league, typed)
    if verdict != _GOOD:
        raise typer.Exit(1)


def _config(league: Path | None, seats: Sequence[int] | None) -> "LeagueConfig":
    from referee.config import LeagueConfig, read_config

    # Without a league, the smallest and the largest table: most that goes wrong at others goes wrong at one of these.
    config = read_config(league) if league else LeagueConfig(name="check", seats=(MIN_PLAYERS, MAX_PLAYERS))
    return config.model_copy(update={"seats": tuple(sorted(set(seats)))}) if seats else config


class _Board:
    """Shows each step when it is done, and meanwhile, on a terminal, which one is at work."""

    def __init__(self, names: Sequence[str], bot: str, config: "LeagueConfig", typed: str, *, silent: bool) -> None:
        self._names = names
        self._bot = bot
        self._config = config
        self._typed = typed
        self._silent = silent
        self._width = max(map(len, names))
        self._done = 0
        self._at_work = err.status("")

    async def follow(self, source: Path, copies: Path, box: "Callable[[Submission], Sandbox]") -> "list[Step]":
        from referee.checkup import checkup
        from referee.players import connect

        steps = checkup(
            source, copies, self._config, sandbox_for=box, connect=connect,
            new_secret=lambda: secrets.token_bytes(SECRET_BYTES), progress=self._game_done,
        )  # fmt: skip
        done: list[Step] = []
        async with aclosing(steps):
            while len(done) < len(self._names):
                self._at_work.update(Text(f"{self._names[len(done)]} …", style="dim"))
                # Off while a step is printed: that goes to another stream of the same terminal.
                with self._at_work:
                    done.append(await anext(steps))
                if not self._silent:
                    self._show(len(done), done[-1])
        return done

    def _game_done(self, played: int, games: int) -> None:
        self._at_work.update(Text(f"games: {played} of {games} …", style="dim"))

    def _show(self, number: int, step: "Step") -> None:
        from referee.cli.fault import print_hanging, print_row, told

        mark, style = _MARKS[step.outcome]
        if step.outcome == "not reached":
            out.print(Text(f"{mark} {number} {step.name}", style="dim"))
            return
        lead = Text.assemble((mark, style), f" {number} {step.name:<{self._width}}  ")
        # What is wrong with files may be told in several lines.
        for line in (*step.fact.splitlines(), *(f"→ {advice}" for advice in step.advice)):
            print_hanging(out, lead, line)
            lead = Text(" " * lead.cell_len)
        if step.trial is not None:
            report = told(step.trial, self._bot, self._config.limits(), self._config.settings().clock, self._typed)
            for name, text in report.rows():
                print_row(out, name, text)


def _verdict(steps: "Sequence[Step]") -> str:
    outcomes = {step.outcome.value for step in steps}
    return _BAD if "failed" in outcomes else _UNKNOWN if "unknown" in outcomes else _GOOD


def _conclude(bot: str, steps: "Sequence[Step]", league: Path | None, typed: str) -> None:
    """The verdict, in one line, and what to do next; `typed` are the options that chose the sandbox."""
    shown = printable(shlex.quote(bot), _LONGEST_PATH)
    name = next((step.bot.name for step in steps if step.bot), shown)
    where = "LEAGUE" if league is None else printable(shlex.quote(str(league)), _LONGEST_PATH)
    again = f"treelings check {shown}{f' --league {where}' if league else ''}{typed}"
    out.print()
    match _verdict(steps):
        case "good":
            warnings = sum(len(step.advice) for step in steps)
            seen = "" if not warnings else f", with {warnings} {'thing' if warnings == 1 else 'things'} to look at (!)"
            out.print(Text.assemble((f"{name} is ready to play", "bold green"), seen, "."), soft_wrap=True)
            out.print(f"Next: treelings match {shown} greedy{typed}, or treelings league add {where} {shown}{typed}",
                      markup=False, soft_wrap=True)  # fmt: skip
        case "bad":
            number, failed = next((at, step) for at, step in enumerate(steps, 1) if step.outcome == "failed")
            out.print(
                Text.assemble((f"{name} is not ready to play", "bold red"), f": step {number} ({failed.name}) failed."),
                soft_wrap=True,
            )
            out.print(f"Next: mend that, then {again}", markup=False, soft_wrap=True)
        case _:
            out.print(
                Text.assemble((f"{name} could not be checked to the end", "bold yellow"), ", by no fault of its own."),
                soft_wrap=True,
            )
            out.print(f"Next: {again} when the machine is less busy; treelings doctor tells if it lacks something",
                      markup=False, soft_wrap=True)  # fmt: skip


def _as_json(bot: str, steps: "Sequence[Step]", config: "LeagueConfig", typed: str) -> dict[str, object]:
    """The checkup in JSON's types (docs/spec/check.md)."""
    from referee.cli.fault import told

    told_of = {
        step.name: told(step.trial, bot, config.limits(), config.settings().clock, typed).as_json()
        for step in steps
        if step.trial
    }
    return {
        "format": _FORMAT,
        "bot": printable(bot, _LONGEST_PATH),
        "verdict": _verdict(steps),
        "steps": [
            {
                "number": number,
                "name": step.name,
                "outcome": step.outcome,
                "fact": step.fact,
                "figures": dict(step.figures),
                "advice": list(step.advice),
                "problem": told_of.get(step.name),
            }
            for number, step in enumerate(steps, 1)
        ],
    }
