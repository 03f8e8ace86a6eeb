"""The `treelings` command line: the tree of its commands and what its exit codes mean.

Exit codes: 0 done, 1 it failed, 2 wrong use. Services are imported inside the commands that use them, so that
`--help` and completion answer at once.
"""

import sys

import typer

from referee.cli import doctor, image, league, match, replay, verify
from referee.cli.show import err
from referee.errors import RefereeError, UsageError
from treelings.errors import TreelingsError

_WRONG_USE: tuple[type[Exception], ...] = (typer.BadParameter.__mro__[1],)
"""What typer raises for wrong use; it has no public name for it."""

app = typer.Typer(
    name="treelings",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Tournaments for bots that play Treelings.

**First steps**

- `treelings match random greedy`: two sample bots play ten deals

- `treelings league init night`, `treelings league add night BOT…`, `treelings league run night`: a league

- `treelings verify night/site`: check a published leaderboard yourself

- `treelings doctor`: what this machine has for running strangers' bots safely

Exit codes: 0 done, 1 it failed, 2 wrong use.""",
)
app.add_typer(league.app, name="league")
app.add_typer(image.app, name="image")
app.command("match")(match.match)
app.command("verify")(verify.verify)
app.command("replay")(replay.replay)
app.command("doctor")(doctor.doctor)


def main() -> None:
    """Run the command line; every error that is ours or the user's ends in one or two lines and an exit code."""
    try:
        code = app(standalone_mode=False)
    except _WRONG_USE as error:
        _explain(error)
        sys.exit(2)
    except (UsageError, TreelingsError) as error:
        fail(error, 2)
    except (RefereeError, OSError) as error:
        fail(error, 1)
    except (KeyboardInterrupt, typer.Abort):
        err.print("Interrupted.")
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


def _explain(error: Exception) -> None:
    """Wrong use in two lines, rather than in typer's box of five."""
    message, context = str(error.format_message()), error.ctx  # type: ignore[attr-defined] # every such error has both
    if context is None or len(message.splitlines()) > 1:  # no arguments at all: the help is the answer
        error.show()  # type: ignore[attr-defined] # likewise
        return
    err.print("error:", style="bold red", end=" ")
    err.print(message, markup=False, soft_wrap=True)
    err.print(f"Help: {context.command_path} --help", style="dim", markup=False)


def fail(error: Exception, code: int) -> None:
    """Print an error and leave."""
    err.print("error:", style="bold red", end=" ")
    err.print(str(error), markup=False, soft_wrap=True)
    sys.exit(code)
