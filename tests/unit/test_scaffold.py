"""A new bot's folder: what is in it, that it plays, and what it is never made of."""

import errno
import resource
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.config import check_title
from referee.errors import UsageError
from referee.scaffold import LANGUAGES, fit_author, make_bot
from referee.submissions import check_name, inspect, look_at, sample_bot


def made(into: Path, name: str = "mybot", author: str = "Ann") -> Path:
    make_bot(name, author=author, into=into)
    return into / name


MADE_BY_OTHERS = {"python": (), "javascript": ("node_modules/x.js",), "cpp": ("bot",), "go": ("bot",)}
"""Files that npm and make add."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_folder_is_a_submission(language: str, tmp_path: Path) -> None:
    files = make_bot("mybot", author="Ann", into=tmp_path, language=language)
    about = look_at(tmp_path / "mybot")
    assert (about.name, about.author) == ("mybot", "Ann")
    assert sorted(files) == sorted(path for path in (tmp_path / "mybot").rglob("*") if path.is_file())
    assert not [path for path in files if "@NAME@" in path.read_text() or "@AUTHOR@" in path.read_text()]
    for path in MADE_BY_OTHERS[language]:
        (tmp_path / "mybot" / path).parent.mkdir(exist_ok=True)
        (tmp_path / "mybot" / path).touch(0o755)
    assert inspect(tmp_path / "mybot").name == "mybot"


def own_test(folder: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-W", "error", "-m", "unittest"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def test_its_own_test_runs_and_is_true(tmp_path: Path) -> None:
    folder = made(tmp_path)
    done = own_test(folder)
    assert done.returncode == 0, done.stderr
    assert "Ran 1 test" in done.stderr
    code = (folder / "bot.py").read_text()
    (folder / "bot.py").write_text(code.replace("return max(view.legal_moves, key=worth)", "return 'R'"))
    assert own_test(folder).returncode == 1


def test_its_own_test_holds_nothing_against_a_bot_that_waits_for_the_machine(tmp_path: Path) -> None:
    folder = made(tmp_path)
    code = (folder / "bot.py").read_text()
    waits = "import time\n\nwaits = iter([1.1])\n\n\nclass MyBot"
    code = code.replace("class MyBot", waits).replace(
        "        state =", "        time.sleep(next(waits, 0))\n        state ="
    )
    (folder / "bot.py").write_text(code)
    done = own_test(folder)
    assert done.returncode == 0, done.stderr


def test_what_is_there_already_is_left_alone(tmp_path: Path) -> None:
    folder = made(tmp_path)
    (folder / "bot.py").write_text("my own work")
    with pytest.raises(UsageError, match=r"mybot: is there already; choose another name"):
        made(tmp_path)
    assert (folder / "bot.py").read_text() == "my own work"
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="is there already"):
        made(tmp_path, "dangling")
    (tmp_path / "file").write_text("")
    for place in ("file", "file/below", "dangling"):
        with pytest.raises(UsageError, match=rf"{place}: expected a folder to make the bot's in"):
            made(tmp_path / place)


def test_of_a_folder_that_cannot_be_made_whole_nothing_stays(tmp_path: Path) -> None:
    # The largest file that this process may write, as on a disk that is full.
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OSError, match="mybot") as problem:
            made(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert problem.value.errno == errno.EFBIG
    assert list(tmp_path.iterdir()) == []
    made(tmp_path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("My Bot", "expected 1 to 32 of a-z 0-9 _ -.*, such as my-bot, got 'My Bot'$"),
        ("a-vs-b", 'no "-vs-" in it, such as a-b, got'),
        ("../up", "such as up, got"),
        ("\x1b[2J", r"such as 2j, got '\\\\x1b\[2J'$"),
        ("§", "in it, got '§'$"),
        ("x" * 40, f"such as {'x' * 32}, got"),
        ("greedy", "greedy is a sample bot; choose another, e.g. my-greedy"),
    ],
)
def test_a_name_that_is_none_is_told_what_to_be(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said):
        made(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


def test_an_author_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="author: expected 1 to 64 printable characters"):
        made(tmp_path, author=" Ann")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("author", ['A "B" \\n C', "'''", '"""', "@NAME@", "Zoë 🐦", "#"])
def test_an_author_is_what_it_is_whatever_is_in_it(author: str, tmp_path: Path) -> None:
    assert tomllib.loads((made(tmp_path, author=author) / "bot.toml").read_text())["author"] == author


@given(st.lists(st.text(), max_size=3))
def test_any_texts_come_to_an_author(wishes: list[str]) -> None:
    assert check_title(fit_author(*wishes))


def test_the_first_author_that_is_one_is_taken() -> None:
    assert fit_author(" \n", "Ann\tLee\n", "ann") == "Ann Lee"
    assert fit_author("", "") == "anonymous"
    assert fit_author("x" * 63 + " y") == "x" * 63


@given(st.text(max_size=60))
def test_a_name_that_is_suggested_is_one(text: str) -> None:
    try:
        check_name(text)
    except ValueError as problem:
        _, found, like = str(problem).partition(", such as ")
        assert not found or check_name(like) == like


def test_the_sample_bot_in_javascript_is_its_template_filled_in(tmp_path: Path) -> None:
    make_bot("zzz", author="Treelings League", into=tmp_path, language="javascript")
    sample = sample_bot("javascript")
    assert sample is not None
    contents = {
        path.relative_to(tmp_path / "zzz").as_posix(): path.read_text().replace("zzz", "javascript")
        for path in (tmp_path / "zzz").rglob("*")
        if path.is_file() and path.name != "README.md"
    }
    shipped = [path for path in sample.rglob("*") if path.is_file() and "node_modules" not in path.parts]
    assert contents == {path.relative_to(sample).as_posix(): path.read_text() for path in shipped}
