"""Whatever a file holds: its reader gives a value that can be written again, or the project's own error in words."""

import json
from functools import cache
from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from referee.config import LeagueConfig, template
from referee.errors import ConfigError, RecordError, SubmissionError, UsageError
from referee.leaderboard import leaderboard, standings_csv, standings_json
from referee.model import GameRecord
from referee.records import MAX_RECORD_BYTES, from_json, problems, read_records, states, to_json
from referee.schedule import plan_match
from referee.sitefile import read_site_json, site_json
from referee.submissions import BotFile
from referee.text import printable
from referee.tomlfile import MAX_TOML_BYTES, M, parse_toml
from referee.verify import verify
from tests.support.fuzz import (
    NOISE,
    bounded,
    is_line,
    made,
    mutated_bytes,
    mutated_json,
    mutated_text,
    mutated_toml,
    value_of,
)
from tests.support.records import BOTS, random_league, random_record
from tests.support.sites import write_site
from treelings import TreelingsError

LEAGUE = "a league"
BOT_TOML = 'name = "larch"\nauthor = "An Author"\ncommand = ["python", "-m", "bot"]\nruntime = "python"\n'
LEAGUE_TOML = "\n".join(
    line.removeprefix("# ") if " = " in line else line for line in template(LEAGUE).splitlines()
)  # with the lines that only show a default


@cache
def game(seed: int) -> dict[str, object]:
    """A right record as an object of JSON; some have faults, some unknown keys, some three seats."""
    match = plan_match(league=LEAGUE, night=1, bots=BOTS[: 2 + seed % 3], deals=1, refill="start")
    record = random_record(match.games[-1], bytes(32), Random(seed), fault_chance=0.02)
    value: dict[str, object] = json.loads(to_json(record))
    return value | {"comment": {"by": ["somebody", 1.5, None]}} if seed % 2 else value


@cache
def site() -> dict[str, object]:
    """A right league.json as an object of JSON."""
    nights, _ = random_league(Random(5), league=LEAGUE, bots=BOTS[:3], deals=1)
    value: dict[str, object] = json.loads(site_json(LEAGUE, nights))
    return value


def a_game(rng: Random) -> dict[str, object]:
    return game(rng.randrange(12))


RECORDS = (
    st.text()
    | made(lambda rng: mutated_json(rng, a_game(rng)))
    | made(lambda rng: mutated_text(rng, json.dumps(a_game(rng))))
)
SITES = (
    st.text() | made(lambda rng: mutated_json(rng, site())) | made(lambda rng: mutated_text(rng, json.dumps(site())))
)


def toml(raw: bytes, model: type[M], error: type[UsageError]) -> M | None:
    """What the file holds; None if it was refused in words."""
    return value_of(lambda: parse_toml(raw, Path("a.toml"), model, error), error, lines=2)


@bounded(300)
@given(made(lambda rng: mutated_toml(rng, LEAGUE_TOML).encode(errors="surrogatepass")))
def test_a_league_toml_is_settings_or_refused(raw: bytes) -> None:
    config = toml(raw, LeagueConfig, ConfigError)
    if config is not None:
        assert len(raw) <= MAX_TOML_BYTES
        assert LeagueConfig.model_validate(dict(config)) == config
        assert config.limits().memory_bytes > 0
        assert config.settings().deals == config.deals
        assert (config.name + config.site + (config.sandbox.cpuset or "")).isprintable()


@bounded(300)
@given(made(lambda rng: mutated_toml(rng, BOT_TOML).encode(errors="surrogatepass")))
def test_a_bot_toml_is_a_bot_or_refused(raw: bytes) -> None:
    bot = toml(raw, BotFile, SubmissionError)
    if bot is not None:
        assert bot.name.isascii()
        assert bot.author.isprintable()
        assert all(word.isprintable() for word in bot.command)


@bounded(300)
@given(
    st.binary(max_size=300)
    | st.text(max_size=100).map(lambda text: text.encode())
    | made(lambda rng: mutated_bytes(rng, rng.choice((LEAGUE_TOML, BOT_TOML)).encode()))
    | st.integers(MAX_TOML_BYTES, MAX_TOML_BYTES + 2).map(lambda size: b"#" * size)
)
def test_bytes_are_toml_of_ours_or_refused(raw: bytes) -> None:
    toml(raw, LeagueConfig, ConfigError)
    toml(raw, BotFile, SubmissionError)


@bounded(200)
@given(st.text(min_size=1, max_size=64))
def test_the_name_of_a_league_survives_its_template(name: str) -> None:
    text = value_of(lambda: template(name), ConfigError)
    if text is not None:
        assert parse_toml(text.encode(), Path("a.toml"), LeagueConfig, ConfigError).name == name


def record(line: str) -> GameRecord | None:
    """What the line holds; None if it was refused in words."""
    return value_of(lambda: from_json(line), RecordError)


@bounded(600)
@given(RECORDS)
def test_a_line_is_a_record_that_survives_its_text_or_refused(line: str) -> None:
    found = record(line)
    if found is None:
        return
    assert len(line) <= MAX_RECORD_BYTES
    again = value_of(lambda: to_json(found), RecordError)  # which escapes may have made too long
    assert again is None or from_json(again) == found


@bounded(600)
@given(RECORDS)
def test_a_game_that_was_read_is_judged_and_replayed_without_a_crash(line: str) -> None:
    found = record(line)
    if found is None:
        return
    wrong = problems(found)
    assert all(is_line(problem) for problem in wrong)
    try:
        positions = list(states(found))
    except TreelingsError:
        assert wrong
    else:
        assert len(positions) == len(found.moves) + 1


@bounded(300)
@given(st.lists(RECORDS, min_size=1, max_size=3))
def test_whatever_games_were_read_have_standings(lines: list[str]) -> None:
    found = [game for game in map(record, lines) if game is not None]
    board = leaderboard(LEAGUE, found)
    rows = board.season.rows
    assert sum(row.games for row in rows) == sum(len(game.seats) for game in found)
    assert json.loads(standings_json(board))["format"]
    assert len(standings_csv(board.season).splitlines()) == 1 + len(rows)


@bounded(600)
@given(SITES)
def test_a_league_json_is_nights_that_survive_their_text_or_refused(text: str) -> None:
    found = value_of(lambda: read_site_json(text), RecordError)
    assert found is None or read_site_json(site_json(*found)) == found


def is_printable_report(path: Path) -> bool:
    report = verify([path])
    told = (*report.differences, *report.notes, report.summary)
    assert report.ok == (not report.differences)
    return all(is_line(text) for text in told)


@bounded(250)
@given(
    st.binary(max_size=200) | st.lists(RECORDS, max_size=3).map(lambda lines: "\n".join(lines).encode(errors="replace"))
)
def test_any_file_of_records_gets_a_verdict(tmp_path: Path, raw: bytes) -> None:
    file = tmp_path / "games.jsonl"
    file.write_bytes(raw)
    games = value_of(lambda: list(read_records(file)), RecordError)
    if games is not None:
        assert verify([file]).games == len(games)
    assert is_printable_report(file)


@bounded(120)
@given(
    st.sampled_from(("league.json", "standings.json", "standings.csv", "records/night-1.jsonl")),
    st.integers(0, 2**63),
    st.booleans(),
)
def test_a_site_that_was_tampered_with_gets_a_verdict(tmp_path: Path, name: str, seed: int, as_bytes: bool) -> None:
    folder = tmp_path / "site"
    if not folder.exists():
        nights, records = random_league(Random(5), league=LEAGUE, bots=BOTS[:3], nights=1, deals=1)
        write_site(folder, LEAGUE, nights, records)
        assert verify([folder]).ok
    rng, file = Random(seed), folder / name
    right = file.read_bytes()
    if as_bytes or not name.endswith(".json"):
        wrong = mutated_bytes(rng, right)
    else:
        wrong = mutated_json(rng, json.loads(right)).encode(errors="replace")
    file.write_bytes(wrong)
    assert is_printable_report(folder)
    if wrong != right and name.startswith("standings"):
        assert not verify([folder]).ok
    file.write_bytes(right)


@bounded(600)
@given(
    st.text(st.characters(), max_size=60) | made(lambda rng: mutated_text(rng, rng.choice(NOISE), NOISE)),
    st.integers(1, 80),
)
def test_whatever_is_shown_is_printable_bounded_and_says_where_it_was_cut(text: str, limit: int) -> None:
    shown = printable(text, limit)
    assert shown.isprintable()
    assert len(shown) <= limit
    if text.isprintable() and len(text) <= limit:
        assert shown == text
    elif len(text) > limit:
        assert shown.endswith("…")
