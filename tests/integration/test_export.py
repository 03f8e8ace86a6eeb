"""`treelings league export` as it is typed."""

import json
from pathlib import Path

from referee.loop import run
from tests.support.command import treelings
from tests.support.league import FakeSandbox, Tables, Told, new_league


def test_a_league_is_exported_to_the_files_that_are_named_and_to_no_other(tmp_path: Path) -> None:
    with new_league(tmp_path) as league:
        run(league.run(FakeSandbox(), progress=Told(), jobs=1, seat=Tables()))
    done = treelings(
        "league", "export", "league", "--csv", "rows.csv", "--jsonl", "games.jsonl", "--json", "table.json",
        "--parquet", "rows.parquet", cwd=tmp_path,
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    assert done.out == "Written: rows.csv\nWritten: rows.parquet\nWritten: games.jsonl\nWritten: table.json\n"
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 1 + 2 * 12
    assert len((tmp_path / "games.jsonl").read_text().splitlines()) == 12
    assert json.loads((tmp_path / "table.json").read_text())["season"][0]["rank"] == 1
    assert (tmp_path / "rows.parquet").read_bytes().startswith(b"PAR1")


def test_an_export_without_a_file_or_of_no_night_is_wrong_use(tmp_path: Path) -> None:
    new_league(tmp_path).close()
    assert treelings("league", "export", "league", cwd=tmp_path).code == 2
    done = treelings("league", "export", "league", "--csv", "rows.csv", "--night", "3", cwd=tmp_path)
    assert done.code == 2
    assert "no night 3; none has been opened yet" in done.err
    assert not (tmp_path / "rows.csv").exists()
