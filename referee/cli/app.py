"""The `treelings` command line: the tree of its commands and what its exit codes mean.

Exit codes: 0 done, 1 it failed, 2 wrong use. Services are imported inside the commands that use them, so that
`--help` and completion answer at once.
"""

import sys

import click
import typer

from referee.cli import doctor, image, league, match, replay, verify
from referee.cli.show import err
from referee.errors import RefereeError, UsageError
from treelings.errors import TreelingsError

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
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (UsageError, TreelingsError) as error:
        fail(error, 2)
    except RefereeError as error:
        fail(error, 1)
    except OSError as error:
        fail(error, 1)
    except (KeyboardInterrupt, click.Abort):
        err.print("Interrupted.")
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


def fail(error: Exception, code: int) -> None:
    """Print an error and leave."""
    err.print("error:", style="bold red", end=" ")
    err.print(str(error), markup=False, soft_wrap=True)
    sys.exit(code)
