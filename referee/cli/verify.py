"""`treelings verify`: everything that a leaderboard claims, recomputed."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from referee.cli.show import err, out
from referee.text import printable

_SHOWN = 50
_LONGEST_PATH = 300


def _present(text: str) -> Path:
    shown = printable(text, _LONGEST_PATH)
    if "://" in text:
        raise typer.BadParameter(f"{shown}: download the folder first: wget -r -np {shlex.quote(shown)}")
    if not Path(text).exists():
        raise typer.BadParameter(f"{shown}: expected a file of records or the folder of a site, got neither")
    path = Path(text)
    if path.suffix == ".html":
        raise typer.BadParameter(f"{shown}: expected the folder of a site, the one with league.json in it, got a page")
    if (path / "league.toml").is_file() and not (path / "league.json").exists():
        raise typer.BadParameter(
            f"{shown}: expected the folder of a site, got that of a league; its site is {shown}/site, "
            "unless its league.toml says otherwise"
        )
    return path


def verify(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="FILE|SITE", help="Record files, or the folder of a site.", parser=_present),
    ],
    secret: Annotated[
        str | None,
        typer.Option("--secret", metavar="HEX", help="The secret that the decks of plain files come from."),
    ] = None,
) -> None:
    """Check records and published sites with the rules alone.

    Re-plays every game and checks every deck against the revealed secret and the commitment. Of a site it also
    recomputes the plan, the clocks, standings.json and standings.csv. Says what differs; exit code 0 only if nothing
    does. The pages of a site (*.html) are not checked.
    """
    from referee.verify import verify as check

    known = parse_secret(secret) if secret is not None else None
    if known is not None and all(path.is_dir() for path in paths):
        raise typer.BadParameter(
            "--secret: expected a file of records too, since a site tells its own secrets, got none"
        )
    report = check(paths, secret=known)
    for note in report.notes:
        out.print(f"note: {note}", markup=False, soft_wrap=True)
    for difference in report.differences[:_SHOWN]:
        err.print(f"differs: {difference}", markup=False, soft_wrap=True)
    if more := len(report.differences[_SHOWN:]) + report.untold:
        err.print(f"… and {more} more")
    out.print(report.summary, markup=False, soft_wrap=True)
    if report.ok and report.standings:
        out.print("The pages themselves (*.html) are not compared.", style="dim", markup=False)
    if not report.ok:
        raise typer.Exit(1)


def parse_secret(text: str) -> bytes:
    """32 bytes from 64 hex digits; a usage error says what came instead."""
    from treelings.cards import SECRET_BYTES

    try:
        secret = bytes.fromhex(text)
    except ValueError:
        secret = b""
    if len(secret) != SECRET_BYTES:
        raise typer.BadParameter(f"a secret is {2 * SECRET_BYTES} hex digits, got {text[:80]!r}")
    return secret
