"""league.toml: what it may say, and what is answered to anything else."""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from referee.config import SandboxSection, read_config, template
from referee.errors import ConfigError
from referee.limits import Limits
from referee.model import NightSettings
from treelings import Clock


def config_error(folder: Path, text: str | bytes) -> str:
    raw = text.encode() if isinstance(text, str) else text
    (folder / "league.toml").write_bytes(raw)
    with pytest.raises(ConfigError) as caught:
        read_config(folder)
    message = str(caught.value)
    assert message.startswith(f"{folder / 'league.toml'}: ")
    assert len(message.splitlines()) <= 2
    return message.replace(f"{folder}/", "")


def test_the_template_holds_the_defaults_and_the_name(tmp_path: Path) -> None:
    (tmp_path / "league.toml").write_text(template('A "quoted" \\ league'), encoding="utf-8")
    config = read_config(tmp_path)
    assert config.name == 'A "quoted" \\ league'
    (tmp_path / "league.toml").write_text('name = "x"')
    assert config.model_copy(update={"name": "x"}) == read_config(tmp_path)


def test_every_key_of_the_template_that_is_commented_out_is_known(tmp_path: Path) -> None:
    lines = [line.removeprefix("# ") if re.match(r"# \w+ = ", line) else line for line in template("x").splitlines()]
    (tmp_path / "league.toml").write_text("\n".join(lines))
    config = read_config(tmp_path)
    assert (config.max_tables, config.jobs, config.sandbox.memory_mb) == (200, 2, 256)


def test_settings_are_plain_values(tmp_path: Path) -> None:
    (tmp_path / "league.toml").write_text(
        'name = "x"\nseats = [4, 2]\ndeals = 3\nrefill = "end"\nmax_tables = 7\n[clock]\nmove_ms = 250\n'
    )
    expected = NightSettings((2, 4), 3, "end", 7, Clock(move_ms=250))
    assert read_config(tmp_path).settings() == expected


def test_one_table_size_needs_no_list(tmp_path: Path) -> None:
    (tmp_path / "league.toml").write_text('name = "x"\nseats = 3\n')
    assert read_config(tmp_path).seats == (3,)


def test_what_editors_on_windows_put_before_and_into_a_text_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "league.toml").write_bytes(b'\xef\xbb\xbfname = "x"\r\nseats = 3\r\n')
    assert read_config(tmp_path).settings().seats == (3,)


def test_the_template_names_every_limit_with_its_default(tmp_path: Path) -> None:
    lines = [line.removeprefix("# ") for line in template("x").partition("[sandbox]")[2].splitlines()]
    (tmp_path / "league.toml").write_text("\n".join(['name = "x"', "[sandbox]", *lines]))
    config = read_config(tmp_path)
    assert config.sandbox.model_fields_set == set(SandboxSection.model_fields)
    assert config.limits() == replace(Limits(), cpuset="1", runtime="runsc")


def test_limits_are_in_bytes_and_what_is_not_given_keeps_its_default(tmp_path: Path) -> None:
    (tmp_path / "league.toml").write_text('name = "x"\n[sandbox]\nmemory_mb = 64\nlog_kb = 100\ntmp_mb = 2\ncpus = 2\n')
    assert read_config(tmp_path).limits() == Limits(
        memory_bytes=64 * 1024 * 1024, cpus=2.0, tmp_bytes=2 * 1024 * 1024, log_bytes=100 * 1024
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "league.toml: name: expected a value, but the key is missing"),
        ('name = "x"\nseets = 2', "league.toml: unknown key 'seets'; did you mean 'seats'?"),
        ('name = "x"\n[clock]\nmovems = 2', "league.toml: unknown key 'clock.movems'; did you mean 'move_ms'?"),
        ('name = "x"\n[sandbox]\npids = 15', "league.toml: sandbox.pids: "),  # a bot of the kit starts up with 10
        ('name = "x"\n[sandbox]\nqqq = 2', "league.toml: unknown key 'sandbox.qqq'; known keys: memory_mb, pids"),
        ('name = "x"\ndeals = 0', "league.toml: deals: expected at least 1, got 0"),
        ('name = "x"\ndeals = 10001', "league.toml: deals: expected at most 10000, got 10001"),
        ('name = "x"\ndeals = "10"', "league.toml: deals: expected a valid integer, got '10'"),
        ('name = "x"\ndeals = true', "league.toml: deals: expected a valid integer, got True"),
        ('name = "x"\nseats = []', "seats: expected one or more different table sizes, each 2 to 5, got []"),
        ('name = "x"\nseats = [2, 2]', "seats: expected one or more different table sizes"),
        ('name = "x"\nseats = 6', "seats: expected one or more different table sizes, each 2 to 5, got 6"),
        ('name = "x"\nseats = "2"', "seats: expected a list, got '2'"),
        ('name = "x"\nrefill = "middle"', "refill: expected 'start' or 'end', got 'middle'"),
        ('name = "x"\nmax_tables = 0', "max_tables: expected at least 1, got 0"),
        ('name = "x"\njobs = 0', "jobs: expected at least 1, got 0"),
        ('name = "x"\nsite = ""', "site: "),
        ('name = "x"\nclock = 3', "clock: expected "),
        ('name = "x"\n[clock]\nmove_ms = 0', "clock.move_ms: expected at least 10, got 0"),
        ('name = "x"\n[clock]\nincrement_ms = -1', "clock.increment_ms: expected at least 0, got -1"),
        ('name = "x"\n[sandbox]\ncpus = nan', "sandbox.cpus: expected "),
        ('name = "x"\n[sandbox]\ncpuset = "a"', "sandbox.cpuset: "),
        ('name = "x"\n[sandbox]\nmemory_mb = 1', "sandbox.memory_mb: expected at least 32, got 1"),
        ('name = " x"', "name: expected 1 to 64 printable characters without a space at either end, got ' x'"),
        ('name = "a\\u202eb"', "name: expected 1 to 64 printable characters"),
        (f'name = "{"x" * 65}"', "name: expected 1 to 64 printable characters"),
        ("name = ", "league.toml: not TOML: "),
        ("name = Thursday", 'value (at line 1, column 8); strings need quotes, as in "word"'),
        ("deals = 3\nname = “x”", 'strings need quotes, as in "word"'),
        (b'name = "\xff"', "league.toml: expected UTF-8 text, got byte 0xff"),
        ('name = "x"\n[sandbox]\ncpuset = "\u0661"', "sandbox.cpuset: "),
        ('name = "x"\nsite = "a\\u0000b"', "site: expected a path of 1 to 1,000 printable characters"),
        ("#" * 9_000, "league.toml: expected at most 8,192 bytes, got more"),
        ("a=" + "[" * 5_000, "league.toml: not TOML: "),
        ("deals = 1" + "0" * 5_000, "league.toml: not TOML of ours: a number of too many digits"),
        ("deals = 0x1" + "0" * 5_000, "deals: expected at most 10000, got a number of too many digits"),
    ],
)  # fmt: skip
def test_anything_else_is_refused_in_words(tmp_path: Path, text: str | bytes, says: str) -> None:
    assert says in config_error(tmp_path, text)


def test_a_key_of_thousands_of_parts_is_refused_in_words(tmp_path: Path) -> None:
    message = config_error(tmp_path, "name" + ".a" * 4_000 + " = 1")
    # Which of the two depends on Python: 3.14 takes it for no TOML.
    assert re.search(
        "^.*name: expected a valid string, got a value nested too deeply|: not TOML: TOML key has", message
    )


def test_two_problems_are_told_at_once_and_a_third_waits(tmp_path: Path) -> None:
    message = config_error(tmp_path, 'name = ""\ndeals = 0\njobs = 0\n')
    assert len(message.splitlines()) == 2


def test_a_misspelt_key_is_told_before_the_one_that_is_missing_for_it(tmp_path: Path) -> None:
    first, second = config_error(tmp_path, 'nam = "x"\n').splitlines()
    assert "unknown key 'nam'; did you mean 'name'?" in first
    assert "name: expected a value, but the key is missing" in second


@pytest.mark.parametrize("text", ["deals = ]", "deals =", 'name = "x" y', "= 3"])
def test_where_no_word_stands_no_quotes_are_asked_for(tmp_path: Path, text: str) -> None:
    assert "quotes" not in config_error(tmp_path, text)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"league\.toml: cannot be read: No such file"):
        read_config(tmp_path)


def test_a_pipe_in_its_place_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "league.toml")
    with pytest.raises(ConfigError, match=r"league\.toml: expected a file"):
        read_config(tmp_path)


@pytest.mark.parametrize("name", ["", " x", "a\nb", "x" * 65])
def test_a_league_cannot_be_made_under_an_unfit_name(name: str) -> None:
    with pytest.raises(ConfigError, match="name of the league: expected 1 to 64 printable characters"):
        template(name)
