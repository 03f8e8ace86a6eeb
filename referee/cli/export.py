"""`treelings league export`: a league's games and standings as files for other programs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from referee.cli import options
from referee.cli.show import out

if TYPE_CHECKING:
    from collections.abc import Callable


def export(
    folder: options.LeagueFolder,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", dir_okay=False, help="A row for each seat of each game.")
    ] = None,
    parquet: Annotated[
        Path | None, typer.Option("--parquet", metavar="FILE", dir_okay=False, help="The same rows; needs pyarrow.")
    ] = None,
    jsonl: Annotated[
        Path | None, typer.Option("--jsonl", metavar="FILE", dir_okay=False, help="The records, one a line.")
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", dir_okay=False, help="Standings and ratings, as in standings.json."),
    ] = None,
    night: options.Night = None,
) -> None:
    """Write games and standings to files, for spreadsheets and data frames.

    The published site has standings.csv, standings.json and records/*.jsonl already.
    """
    from referee import exports
    from referee.league import League

    with League.open(folder) as league:
        wanted: list[tuple[Path | None, Callable[[Path], object]]] = [
            (csv, lambda path: exports.write_csv(path, league.records(night))),
            (parquet, lambda path: exports.write_parquet(path, league.records(night))),
            (jsonl, lambda path: exports.write_jsonl(path, league.records(night))),
            (json, lambda path: path.write_text(league.standings_json(night), encoding="utf-8")),
        ]
        if all(path is None for path, _ in wanted):
            raise typer.BadParameter("expected a file to write to: --csv, --parquet, --jsonl or --json")
        for path, write in wanted:
            if path is not None:
                write(path)
                out.print(f"Written: {path}", markup=False, soft_wrap=True)
