"""The `treelings` command line: the tree of its commands, and what each error of theirs says.

Services are imported inside the commands that use them, so that `--help` and completion answer at once.
"""

from typing import Annotated

import typer

from referee.cli import check, compare, doctor, image, league, match, new, play, replay, verify
from referee.cli.show import err, error_lines
from referee.errors import EngineGone, RefereeError, UsageError
from treelings.errors import TreelingsError

_WRONG_USE: tuple[type[Exception], ...] = (typer.BadParameter.__mro__[1],)
"""What typer raises for wrong use; it has no public name for it."""

_INTERRUPTED = 130
"""What typer makes of Ctrl-C."""

app = typer.Typer(
    name="treelings",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Tournaments for bots that play Treelings.

**First steps**

- `treelings new mybot`, `treelings check mybot`: a bot of your own that plays at once, and what a league tries first

- `treelings match random greedy`: two sample bots play ten deals

- `treelings league init night`, `treelings league add night BOT…`, `treelings league run night`: a league

- `treelings verify night/site`: check a published leaderboard yourself

- `treelings doctor`: what this machine has for running strangers' bots safely

Exit codes: 0 done, 1 it failed, 2 wrong use.""",
)
app.add_typer(league.app, name="league")
app.add_typer(image.app, name="image")
app.command("new")(new.new)
app.command("check")(check.check)
app.command("match")(match.match)
app.command("compare")(compare.compare)
app.command("play")(play.play)
app.command("verify")(verify.verify)
app.command("replay")(replay.replay)
app.command("doctor")(doctor.doctor)


def run() -> int:
    """Run the command line and return its exit code. Raises KeyboardInterrupt."""
    try:
        code = app(standalone_mode=False)
    except _WRONG_USE as error:
        _explain(error)
        return 2
    except (UsageError, TreelingsError) as error:
        return _fail(str(error), 2)
    except EngineGone as error:
        return _fail(f"{error}; `treelings doctor` tells what to do", 1)
    except RefereeError as error:
        return _fail(str(error), 1)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _fail(f"{where}{error.strerror or error}; expected a place that this user may read and write", 1)
    except typer.Abort:
        raise KeyboardInterrupt from None
    if code == _INTERRUPTED:
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def _explain(error: Exception) -> None:
    """Wrong use in two lines, rather than in typer's box of five."""
    message, context = str(error.format_message()), error.ctx  # type: ignore[attr-defined] # every such error has both
    if context is None or not message or len(message.splitlines()) > 1:  # no arguments at all: the help is the answer
        error.show()  # type: ignore[attr-defined] # likewise
        return
    _fail(message, 2)
    err.print(f"Help: {context.command_path} --help", style="dim", markup=False)


def _fail(message: str, code: int) -> int:
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
