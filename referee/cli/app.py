"""The `treelings` command line: the tree of its commands, and what each error of theirs says.

A command's module is imported when the command is called, and services inside the commands that use them, so that
`--help` and completion answer at once.
"""

import errno
import sys
from typing import Annotated, Final

import typer

from referee.cli.later import Later, group_of
from referee.errors import NO_ROOM, EngineGone, RefereeError, UsageError

_WRONG_USE: tuple[type[Exception], ...] = (typer.BadParameter.__mro__[1],)
"""What typer raises for wrong use; it has no public name for it."""

_INTERRUPTED = 130
"""What typer makes of Ctrl-C."""

_NAMED: Final = 60
"""Characters that are shown of a path that can be none."""

COMMANDS: Final = (
    Later(
        "new",
        "referee.cli.new:new",
        "Make the folder of a new bot: it plays, and has one method to write and a README.",
    ),
    Later(
        "check",
        "referee.cli.check:check",
        "Do to a bot what a league does before it may play, step by step, and say what is wrong with it.",
    ),
    Later(
        "pack",
        "referee.cli.pack:pack",
        "Make an archive of a bot with all that it needs: a container has no network to fetch anything from.",
    ),
    Later("match", "referee.cli.match:match", "Let bots play each other now, outside any league."),
    Later("compare", "referee.cli.compare:compare", "Is NEW better than OLD? Plays deals until it knows."),
    Later("play", "referee.cli.play:play", "Play against bots yourself, here in the terminal."),
    Later("verify", "referee.cli.verify:verify", "Check records and published sites with the rules alone."),
    Later(
        "replay",
        "referee.cli.replay:replay",
        "Show a recorded game turn by turn, or where a bot would have played otherwise.",
    ),
    Later(
        "doctor", "referee.cli.doctor:doctor", "Tell what this machine has and lacks for running bots in containers."
    ),
    Later("league", "referee.cli.league:app", "Run a league: nights of round-robin matches between submitted bots."),
    Later("image", "referee.cli.image:app", "Build the images that bots run in, or remove old ones."),
)
"""In the order in which `--help` lists them."""

app = typer.Typer(
    name="treelings",
    cls=group_of(COMMANDS),
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help: what draws boxes takes longer to import than all else together
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="""Tournaments for bots that play Treelings.

First steps:

\b
  treelings new mybot                 a bot of your own, which plays at once
  treelings check mybot               what a league tries before it lets it in
  treelings match random greedy       two sample bots play ten deals
  treelings league init thursday      a league, as a folder of that name
  treelings league add thursday BOT…  lets bots into it
  treelings league run thursday       plays a night of it to its end
  treelings league publish thursday   writes its leaderboard, thursday/site
  treelings verify thursday/site      checks a published leaderboard
  treelings doctor                    whether strangers' bots can run here

Exit codes: 0 done, 1 it failed, 2 wrong use.""",
)


def run() -> int:
    """Run the command line and return its exit code. Raises KeyboardInterrupt."""
    try:
        code = app(standalone_mode=False)
    except _WRONG_USE as error:
        _explain(error)
        return 2
    except UsageError as error:
        return _fail(str(error), 2)
    except EngineGone as error:
        return _fail(f"{error}; `treelings doctor` tells what to do", 1)
    except RefereeError as error:
        return _fail(str(error), 1)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return _fail(f"{str(error.filename)[:_NAMED]}…: expected a path, got a name too long to be one", 2)
        where = f"{error.filename}: " if error.filename else ""
        wanted = "make room there" if error.errno in NO_ROOM else "expected a place that this user may read and write"
        return _fail(f"{where}{error.strerror or error}; {wanted}", 1)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except Exception as error:
        kit = sys.modules.get("treelings.errors")  # whoever raised one of its errors has imported them
        if kit is None or not isinstance(error, kit.TreelingsError):
            raise
        return _fail(str(error), 2)
    if code == _INTERRUPTED:
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def _explain(error: Exception) -> None:
    """Wrong use in two lines, rather than in typer's box of five."""
    message, context = str(error.format_message()), error.ctx  # type: ignore[attr-defined] # every such error has both
    message = message.replace(": Value error, ", ": ", 1)  # what a choice that is none begins with
    message = message.removeprefix("Invalid value: ")  # of no option: what is told is a sentence of ours
    if context is not None and message == context.get_help():  # no arguments at all: the help is the answer
        typer.echo(message)
        return
    if len(message.splitlines()) > 1:
        error.show()  # type: ignore[attr-defined] # likewise
        return
    _fail(message, 2)
    if context is not None:  # an option without its value comes without
        from referee.cli.show import err

        err.print(f"Help: {context.command_path} --help", style="dim", markup=False)


def _fail(message: str, code: int) -> int:
    from referee.cli.show import error_lines

    error_lines(message)
    return code


def _version(shown: bool) -> None:  # noqa: FBT001 - typer's way
    if shown:
        from importlib.metadata import version

        typer.echo(f"treelings-referee {version('treelings-referee')}, treelings {version('treelings')}")
        raise typer.Exit


@app.callback()
def treelings(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the versions and exit.")
    ] = False,
) -> None:
    """Tournaments for bots that play Treelings."""
