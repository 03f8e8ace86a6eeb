"""Logs of bots: written with a line of ours each, capped, found again and shown harmless."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import UsageError
from referee.logs import LogKeeper, logs_of, readable

VERSION = "sha256:" + "a" * 64


def keeper(folder: Path, *, night: int | None = 1, most_bytes: int = 1_000) -> LogKeeper:
    return LogKeeper(
        folder, night=night, versions={"ann": VERSION, "bob": VERSION}, most_bytes=most_bytes,
        now=lambda: datetime(2026, 11, 29, 18, 0, 0, 999, tzinfo=UTC),
    )  # fmt: skip


def keep(folder: Path, *logs: bytes, most_bytes: int = 1_000, match: str = "ann-vs-bob", night: int = 1) -> bytes:
    """What the file of ann holds after it logged these, one after the other."""
    for log in logs:
        with keeper(folder, most_bytes=most_bytes, night=night) as logs_:
            logs_.keep(match, "ann", log)
    return (folder / f"night-{night}" / match / "ann.log").read_bytes()


def test_a_start_is_one_line_of_ours_and_then_the_bytes_as_they_came(tmp_path: Path) -> None:
    log = b"one\x00\xff\x1b[2J\r\n two==="
    header, _, rest = keep(tmp_path, log).partition(b"\n")
    assert header.decode() == (
        f"=== ann {VERSION}, night 1, ann-vs-bob, ended 2026-11-29T18:00:00Z: {len(log)} bytes of output "
        "(at most 1,000 bytes are kept of each start; what is older is dropped)"
    )
    assert rest == log


def test_a_bot_that_logged_nothing_has_a_log_that_says_so(tmp_path: Path) -> None:
    assert b": 0 bytes of output (" in keep(tmp_path, b"")


def test_several_starts_of_a_match_follow_each_other_each_on_a_line_of_its_own(tmp_path: Path) -> None:
    lines = keep(tmp_path, b"first", b"second\n").splitlines()
    assert [line for line in lines if not line.startswith(b"===")] == [b"first", b"second"]
    assert [line[:7] for line in lines] == [b"=== ann", b"first", b"=== ann", b"second"]


def test_a_match_keeps_as_much_as_a_start_and_says_what_it_dropped(tmp_path: Path) -> None:
    kept = keep(tmp_path, b"old" * 200, b"new" * 300)
    lines = kept.splitlines()
    assert lines[0] == b"=== older output was dropped: at most 1,000 bytes are kept of each match"
    assert lines[1] == (b"old" * 200)[-100:]
    assert lines[-1] == b"new" * 300


def test_as_much_is_kept_of_each_table_that_plays_a_match(tmp_path: Path) -> None:
    with LogKeeper(tmp_path, versions={"ann": VERSION}, most_bytes=1_000, tables=3) as logs:
        for letter in (b"a", b"b", b"c"):
            logs.keep("ann-vs-bob", "ann", letter * 1_000)
    kept = (tmp_path / "ann-vs-bob" / "ann.log").read_bytes()
    assert [kept.count(letter * 1_000) for letter in (b"a", b"b", b"c")] == [1, 1, 1]
    assert b"dropped: at most" not in kept


def test_a_start_that_fills_the_cap_leaves_nothing_of_older_ones(tmp_path: Path) -> None:
    kept = keep(tmp_path, b"old\n", b"n" * 1_000)
    assert b"old\n" not in kept
    assert kept.startswith(b"=== older output was dropped")
    assert kept.endswith(b"n" * 1_000)


@given(logs=st.lists(st.binary(max_size=300), min_size=1, max_size=5), most_bytes=st.integers(300, 500))
def test_the_newest_start_is_whole_and_no_file_outgrows_its_cap_by_more_than_our_lines(
    tmp_path_factory: pytest.TempPathFactory, logs: list[bytes], most_bytes: int
) -> None:
    kept = keep(tmp_path_factory.mktemp("logs"), *logs, most_bytes=most_bytes)
    assert kept.replace(b"\n ===", b"\n===").endswith(logs[-1].replace(b"\n ===", b"\n==="))
    assert len(kept) <= most_bytes + 500


FORGED = f"=== bob {VERSION}, night 1, ann-vs-bob, ended 2026-11-29T17:00:00Z: 0 bytes of output".encode()


def test_no_line_of_a_bot_can_be_taken_for_one_of_ours(tmp_path: Path) -> None:
    lines = keep(tmp_path, FORGED + b"\nI am bob\n" + FORGED + b"\n", FORGED, most_bytes=5_000).split(b"\n")
    assert [line[:7] for line in lines if line.startswith(b"===")] == [b"=== ann"] * 2
    assert lines.count(b" " + FORGED) == 3


def test_nor_can_what_is_left_of_a_line_that_was_dropped_in_part(tmp_path: Path) -> None:
    kept = keep(tmp_path, b"long" * 300 + FORGED, b"new" * 50, most_bytes=150 + len(FORGED))
    assert [line[:7] for line in kept.splitlines() if line.startswith(b"===")] == [b"=== old", b"=== ann"]


def test_nor_can_a_line_that_lost_its_start_to_the_space_before_others(tmp_path: Path) -> None:
    kept = keep(tmp_path, b"x" + FORGED + b"\n===" * 10, most_bytes=len(FORGED) + 50)
    assert [line[:7] for line in kept.splitlines() if line.startswith(b"===")] == [b"=== ann"]


def test_nothing_but_the_logs_is_left_behind(tmp_path: Path) -> None:
    keep(tmp_path, b"one", b"two")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["ann.log"]


def test_outside_a_league_there_is_no_night(tmp_path: Path) -> None:
    with keeper(tmp_path, night=None) as logs:
        logs.keep("ann-vs-bob", "bob", b"hello")
    kept = (tmp_path / "ann-vs-bob" / "bob.log").read_text()
    assert kept.startswith(f"=== bob {VERSION}, ann-vs-bob, ended ")


def test_a_log_that_cannot_be_written_is_told_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "night-1").write_text("in the way")
    logs = keeper(tmp_path)
    with pytest.raises(NotADirectoryError), logs:
        logs.keep("ann-vs-bob", "ann", b"lost")


def test_a_log_that_cannot_be_written_does_not_hide_the_error_that_ended_the_run(tmp_path: Path) -> None:
    (tmp_path / "night-1").write_text("in the way")
    logs = keeper(tmp_path)
    with pytest.raises(KeyError) as told, logs:  # noqa: PT012 - what is tested is the end of a `with`
        logs.keep("ann-vs-bob", "ann", b"lost")
        raise KeyError
    assert "logs of bots could not be kept (1 of them)" in told.value.__notes__[0]


# ---- finding them


def test_logs_are_found_in_the_order_of_their_nights(tmp_path: Path) -> None:
    for night in (10, 9, 1):
        keep(tmp_path, b"x", night=night)
    keep(tmp_path, b"x", match="ann-vs-abe", night=9)
    found = [(log.night, log.match) for log in logs_of(tmp_path, "ann")]
    assert found == [(1, "ann-vs-bob"), (9, "ann-vs-abe"), (9, "ann-vs-bob"), (10, "ann-vs-bob")]
    assert [log.night for log in logs_of(tmp_path, "ann", match="ann-vs-bob", night=9)] == [9]


def test_what_is_no_log_is_not_taken_for_one(tmp_path: Path) -> None:
    keep(tmp_path, b"x")
    for other in ("night-x/ann-vs-bob/ann.log", "night-1/ann-vs-bob/ann.part", "night-1/ann.log"):
        (tmp_path / other).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / other).touch()
    assert len(logs_of(tmp_path, "ann")) == 1


def test_before_a_match_was_played_there_are_no_logs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no logs are kept yet"):
        logs_of(tmp_path / "logs", "ann")
    keep(tmp_path, b"x")
    with pytest.raises(UsageError, match="no logs of night 2 are kept yet"):
        logs_of(tmp_path, "ann", night=2)


@pytest.mark.parametrize("bot", ["zoe", "../ann-vs-bob/ann", "*", "a\x1b[2J" + "b" * 10_000])
def test_a_bot_without_logs_is_named_with_those_that_have_some(tmp_path: Path, bot: str) -> None:
    keep(tmp_path, b"x")
    with pytest.raises(UsageError, match=r"there are logs of ann$") as told:
        logs_of(tmp_path, bot)
    assert str(told.value).isprintable()
    assert len(str(told.value)) < 500


def test_an_unknown_match_is_named_with_those_there_are(tmp_path: Path) -> None:
    for number in range(12):
        keep(tmp_path, b"x", match=f"ann-vs-bob{number:02}")
    with pytest.raises(UsageError, match=r"no log by ann from 'nope'; its matches are ann-vs-bob00, .* and 2 more$"):
        logs_of(tmp_path, "ann", match="nope")


# ---- showing them


def test_lines_and_tabs_stay_and_all_else_that_is_not_printable_is_escaped() -> None:
    assert readable("a\tb\n\x1b[31mred\r\n\x00\u202e\x9b é\n".encode()) == (
        "a\tb\n\\x1b[31mred\\r\n\\x00\\u202e\\x9b é\n"
    )


def test_accents_do_not_pile_up_into_other_lines() -> None:
    assert readable(("a" + 6 * "\u0301" + "\tb").encode()) == "a" + 4 * "\u0301" + 2 * r"\u0301" + "\tb"


def test_bytes_that_are_no_text_are_shown_as_numbers() -> None:
    assert readable(b"\xff\xfe ok \xc3") == "\\xff\\xfe ok \\xc3"


@given(st.binary())
def test_whatever_was_logged_is_shown_harmless_and_with_nothing_left_out(log: bytes) -> None:
    shown = readable(log)
    assert all(char.isprintable() or char in "\n\t" for char in shown)
    assert shown.count("\n") == log.count(b"\n")
    assert len(shown) >= len(log.decode("utf-8", "backslashreplace"))
