"""Which folders and archives are bots, what is kept of them, and what is answered to the others."""

import hashlib
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from referee.errors import SubmissionError
from referee.submissions import find_bot, inspect, is_sample, look_at, sample_bot, sample_bots, take_in
from referee.vendoring import lacks_packages
from tests.support.descriptors import open_descriptors
from tests.support.submissions import bot_folder, bot_toml


@pytest.fixture
def into(tmp_path: Path) -> Path:
    folder = tmp_path / "bots"
    folder.mkdir()
    return folder


def refusal(folder: Path) -> str:
    with pytest.raises(SubmissionError) as caught:
        inspect(folder)
    assert not [file for _, file in open_descriptors() if Path(file).is_relative_to(folder)]
    message = str(caught.value)
    assert str(folder) in message
    assert len(message.splitlines()) <= 2
    return message.replace(f"{folder}", "BOT")


def test_a_submission_is_what_bot_toml_says(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann")
    bot = inspect(folder)
    assert (bot.name, bot.author, bot.command, bot.runtime, bot.folder) == (
        "ann", "Somebody", ("python", "bot.py"), "python", folder,
    )  # fmt: skip
    assert bot.version.startswith("sha256:")
    assert len(bot.version) == 71


def test_the_digest_is_the_documented_one(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann", toml=bot_toml("ann"), files={"data/x.txt": "1"})
    # Computed by hand with sha256sum over the encoding that the docstring of `_digest` describes.
    parts = [b"treelings-submission/1\n"]
    for path, content in (
        ("bot.py", b"print('a bot')\n"),
        ("bot.toml", bot_toml("ann").encode()),
        ("data/x.txt", b"1"),
    ):
        parts.append(path.encode() + b"\0-\0" + str(len(content)).encode() + b"\0" + content)
    assert inspect(folder).version == f"sha256:{hashlib.sha256(b''.join(parts)).hexdigest()}"


def test_taking_in_copies_the_files_under_their_digest(tmp_path: Path, into: Path) -> None:
    folder = bot_folder(tmp_path, "ann", files={"data/deep/x.txt": "1"})
    taken = take_in(folder, into)
    assert taken.version == inspect(folder).version
    assert taken.folder == into / taken.version.removeprefix("sha256:")
    assert (taken.folder / "data/deep/x.txt").read_text() == "1"
    assert [path.name for path in into.iterdir()] == [taken.folder.name]


def test_copies_are_readable_by_all_and_their_files_writable_by_none(tmp_path: Path, into: Path) -> None:
    folder = bot_folder(tmp_path, "ann", files={"run.sh": "#!", "data/x": ""})
    (folder / "run.sh").chmod(0o700)
    (folder / "bot.py").chmod(0o600)
    folder.chmod(0o700)
    home = take_in(folder, into).folder
    modes = {str(path.relative_to(home)): path.stat().st_mode & 0o7777 for path in (home, *home.rglob("*"))}
    assert modes == {".": 0o755, "bot.py": 0o444, "bot.toml": 0o444, "run.sh": 0o555, "data": 0o755, "data/x": 0o444}


def test_taking_in_the_same_files_twice_changes_nothing(tmp_path: Path, into: Path) -> None:
    folder = bot_folder(tmp_path, "ann")
    first = take_in(folder, into)
    before = first.folder.stat().st_mtime_ns
    assert take_in(folder, into) == first
    assert first.folder.stat().st_mtime_ns == before


def test_a_copy_that_was_changed_is_noticed(tmp_path: Path, into: Path) -> None:
    folder = bot_folder(tmp_path, "ann")
    home = take_in(folder, into).folder
    (home / "bot.py").chmod(0o644)
    (home / "bot.py").write_text("evil")
    with pytest.raises(SubmissionError, match="were changed since they were taken in"):
        take_in(folder, into)


@pytest.mark.parametrize("left_out", ["__pycache__/bot.pyc", ".git/config", ".venv/bin/python", ".hidden", "sub/.x"])
def test_caches_and_dotfiles_are_left_out(tmp_path: Path, left_out: str) -> None:
    plain = inspect(bot_folder(tmp_path / "a", "ann"))
    assert inspect(bot_folder(tmp_path / "b", "ann", files={left_out: "x"})).version == plain.version


def test_a_dotfile_that_is_a_link_does_no_harm(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann")
    (folder / ".venv").symlink_to("/")
    assert inspect(folder).name == "ann"


CHANGES: dict[str, Callable[[Path], object]] = {
    "content": lambda folder: (folder / "bot.py").write_text("other"),
    "a new file": lambda folder: (folder / "new.py").write_text(""),
    "another name": lambda folder: (folder / "a.txt").rename(folder / "b.txt"),
    "the executable bit": lambda folder: (folder / "a.txt").chmod(0o755),
    "content moved from one file to the next": lambda folder: (
        (folder / "a.txt").write_text("1"),
        (folder / "c.txt").write_text("23"),
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_digest_follows(tmp_path: Path, change: Callable[[Path], object]) -> None:
    folder = bot_folder(tmp_path, "ann", files={"a.txt": "12", "c.txt": "3"})
    before = inspect(folder).version
    change(folder)
    assert inspect(folder).version != before


def test_the_digest_does_not_depend_on_place_time_or_other_mode_bits(tmp_path: Path) -> None:
    one = bot_folder(tmp_path / "a", "ann")
    other = bot_folder(tmp_path / "b", "ann")
    os.utime(other / "bot.py", (0, 0))
    (other / "bot.py").chmod(0o640)
    assert inspect(one).version == inspect(other).version


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.dictionaries(st.from_regex(r"[a-z0-9_]{1,8}\.txt", fullmatch=True), st.binary(max_size=50), max_size=5))
def test_a_copy_has_the_digest_of_its_source(tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]) -> None:
    base = tmp_path_factory.mktemp("source")
    folder = bot_folder(base, "ann")
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (base / "bots").mkdir()
    assert inspect(take_in(folder, base / "bots").folder).version == inspect(folder).version


# ---- archives


@pytest.mark.parametrize("form", ["zip", "gztar"])
@pytest.mark.parametrize("top", [True, False])
def test_a_folder_and_its_archive_are_the_same_version(tmp_path: Path, into: Path, form: str, top: bool) -> None:
    files = {"run": "#!", "data/x": "1", ".git/config": "x", "__pycache__/x.pyc": "", "__MACOSX/._bot.py": ""}
    folder = bot_folder(tmp_path, "ann", files=files)
    (folder / "run").chmod(0o755)
    packed = shutil.make_archive(
        str(tmp_path / "packed"), form, root_dir=tmp_path if top else folder, base_dir="ann" if top else "."
    )
    assert take_in(Path(packed), into) == take_in(folder, into)
    assert [path.name for path in into.iterdir()] == [inspect(folder).version.removeprefix("sha256:")]


def test_the_name_of_an_archive_is_nothing_to_go_by(tmp_path: Path, into: Path) -> None:
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "gztar", bot_folder(tmp_path, "ann")))
    renamed = packed.rename(tmp_path / "ann.zip")
    assert take_in(renamed, into).name == "ann"
    renamed.write_text("import treelings")
    with pytest.raises(SubmissionError, match=r"ann\.zip: .* got a file that is named \.zip, but is no zip archive"):
        take_in(renamed, into)


def test_neither_folder_nor_file(tmp_path: Path, into: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SubmissionError, match=r"pipe: expected a folder, a \.zip or a \.tar\.gz, got something else"):
        take_in(tmp_path / "pipe", into)


def test_a_hostile_name_of_an_archive_is_shown_escaped(tmp_path: Path, into: Path) -> None:
    packed = shutil.make_archive(str(tmp_path / "packed"), "zip", bot_folder(tmp_path, "ann", toml="name = 3"))
    with pytest.raises(SubmissionError) as caught:
        take_in(Path(packed).rename(tmp_path / "a\x1b[2J\n.zip"), into)
    assert f"{tmp_path}/a\\x1b[2J\\n.zip/bot.toml: name: expected" in str(caught.value)
    assert all(line.isprintable() for line in str(caught.value).splitlines())


def test_an_archive_is_found_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "ann.zip").touch()
    assert find_bot(f"{tmp_path}/ann.zip") == tmp_path / "ann.zip"


# ---- refused files


def test_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "expected a folder with a bot.toml" in refusal(tmp_path / "file")


def test_no_bot_toml(tmp_path: Path) -> None:
    assert "BOT: no bot.toml; write one with name, author, command and runtime" in refusal(tmp_path)


def test_a_link(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann")
    (folder / "etc").symlink_to("/etc")
    assert refusal(folder) == "BOT: etc: expected a plain file, got a link"


def test_bot_toml_as_a_link(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann")
    (folder / "bot.toml").rename(tmp_path / "elsewhere")
    (folder / "bot.toml").symlink_to(tmp_path / "elsewhere")
    assert refusal(folder) == "BOT: bot.toml: expected a plain file, got a link"


def test_a_pipe_without_waiting_for_it(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann")
    os.mkfifo(folder / "pipe")
    assert refusal(folder) == "BOT: pipe: expected a plain file, got a pipe"


def test_a_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = bot_folder(tmp_path, "ann")
    monkeypatch.chdir(folder)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind("sock")
    assert refusal(folder) == "BOT: sock: expected a plain file, got a socket"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device")
def test_a_device(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann")
    try:
        os.mknod(folder / "null", 0o020666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("this machine lets nobody make a device")
    assert refusal(folder) == "BOT: null: expected a plain file, got a device"


@pytest.mark.parametrize("bit", [0o4755, 0o2755])
def test_a_setuid_or_setgid_file(tmp_path: Path, bit: int) -> None:
    folder = bot_folder(tmp_path, "ann")
    (folder / "bot.py").chmod(bit)
    assert "BOT: bot.py: expected a plain file, got a setuid or setgid one" in refusal(folder)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("naïve.py", "naïve.py"), ("a b.py", "a b.py"), ("a\nb.py", "a\\nb.py"), ("-rf", "-rf"), ("a;b", "a;b"),
        ("\x1b[31m", "\\x1b[31m"), ("<b>", "<b>"), ("x" * 120, "x" * 120), ("a\u202eb", "a\\u202eb"),
    ],
)  # fmt: skip
def test_an_odd_name(tmp_path: Path, name: str, shown: str) -> None:
    folder = bot_folder(tmp_path, "ann", files={name: ""})
    assert f"BOT: {shown}: expected names of letters, digits and . _ + - (ASCII)" in refusal(folder)


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann")
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.py")).write_text("")
    assert "\\udcff.py: expected names" in refusal(folder)


def test_a_path_that_is_too_long(tmp_path: Path) -> None:
    assert "paths of at most 200" in refusal(bot_folder(tmp_path, "ann", files={f"{'x' * 99}/{'y' * 99}/z": ""}))


@pytest.mark.parametrize("twin", ["BOT.py", "Data/y"])
def test_names_that_differ_only_by_case(tmp_path: Path, twin: str) -> None:
    folder = bot_folder(tmp_path, "ann", files={"data/x": "", twin: ""})
    assert "only by case; rename one" in refusal(folder)


def test_too_many_files(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann", files={f"f{i}": "" for i in range(1_999)})
    assert "expected at most 2000 files" in refusal(folder)
    (folder / "f0").unlink()
    assert inspect(folder).name == "ann"


def test_too_many_folders(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann")
    for i in range(301):
        (folder / f"d{i}").mkdir()
    assert "in 300 folders, got more" in refusal(folder)


def test_too_many_bytes(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann")
    (folder / "big").touch()
    os.truncate(folder / "big", 20_000_000)
    assert "BOT: big: expected at most 20,000,000 bytes in all, got more" in refusal(folder).replace("bot.py", "big")


@contextmanager
def as_an_ordinary_user() -> Iterator[None]:
    """Root may read everything, so it steps down."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_file_that_cannot_be_read() -> None:
    with TemporaryDirectory() as place:  # tmp_path lies where only its owner may go
        Path(place).chmod(0o755)
        folder = bot_folder(Path(place), "ann")
        (folder / "bot.py").chmod(0)
        with as_an_ordinary_user():
            assert "bot.py: cannot be read: Permission denied" in refusal(folder)


def test_nothing_is_left_of_a_refused_submission(tmp_path: Path, into: Path) -> None:
    with pytest.raises(SubmissionError):
        take_in(bot_folder(tmp_path, "ann", toml="name = 3"), into)
    assert list(into.iterdir()) == []


# ---- refused bot.toml

GOOD = {"name": '"ann"', "author": '"A"', "command": '["python", "bot.py"]', "runtime": '"python"'}


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("nmae", '"x"', "BOT/bot.toml: unknown key 'nmae'; did you mean 'name'?"),
        ("name", None, "BOT/bot.toml: name: expected a value, but the key is missing"),
        ("author", None, "author: expected a value"),
        ("command", None, "command: expected a value"),
        ("runtime", None, "runtime: expected a value"),
        ("name", '"Ann"', "name: expected 1 to 32 of a-z 0-9 _ - beginning with a letter or digit"),
        ("name", '""', "name: expected 1 to 32"),
        ("name", '"-a"', "name: expected 1 to 32"),
        ("name", '"a\\n"', "name: expected 1 to 32"),
        ("name", f'"{"a" * 33}"', "name: expected 1 to 32"),
        ("name", '"a-vs-b"', 'no "-vs-" in it, such as a-b, got \'a-vs-b\''),
        ("name", '"vs-b"', 'no "-vs-" in it'),
        ("name", '"a-vs"', 'no "-vs-" in it'),
        ("name", '"<script>"', "name: expected 1 to 32"),
        ("author", '""', "author: expected 1 to 64 printable characters"),
        ("author", '"a\\u001b[31m"', "author: expected 1 to 64 printable characters"),
        ("author", f'"{"a" * 65}"', "author: expected 1 to 64 printable characters"),
        ("command", "[]", "command: expected a list of 1 to 32 printable words"),
        ("command", '"python bot.py"', "command: expected a list, got 'python bot.py'"),
        ("command", '["python", 3]', "command.1: expected a valid string, got 3"),
        ("command", '["python", "a\\u0000"]', "command: expected a list of 1 to 32 printable words"),
        ("command", '["python", "bot.p"]', "command: expected bot.p in the folder, got no such file"),
        ("command", '["python", "../x.py"]', "command: expected ../x.py in the folder"),
        ("command", '["python", "/etc/x.py"]', "command: expected /etc/x.py in the folder"),
        ("command", '["python", "-m", "pkg.main"]', "expected pkg/main.py or pkg/main/__main__.py in the folder"),
        ("command", '["python"]', "command: expected a file for python to run"),
        ("command", '["python", "-u"]', "command: expected a file for python to run"),
        ("command", '["bash", "x"]', 'expected "python" or a file of the bot such as "./run" first, got \'bash\''),
        ("command", '["./run"]', "expected a file of the bot, got './run', which is not there"),
        ("command", '["./bot.py"]', "'./bot.py' cannot be run; make it executable (chmod +x), and pack it"),
        ("runtime", '"node"', 'command: expected "node" or a file of the bot such as "./run" first, got \'python\''),
        ("runtime", '"native"', 'expected a file of the bot such as "./bot" first, got \'python\''),
        ("runtime", '"perl"', "runtime: expected 'python', 'node' or 'native', got 'perl'"),
    ],
)  # fmt: skip
def test_a_wrong_bot_toml(tmp_path: Path, key: str, value: str | None, says: str) -> None:
    values = {**GOOD, key: value}
    toml = "".join(f"{key} = {value}\n" for key, value in values.items() if value is not None)
    assert says in refusal(bot_folder(tmp_path, "ann", toml=toml))


def test_a_program_that_is_not_built_yet_is_to_be_built(tmp_path: Path) -> None:
    toml = bot_toml("ann").replace('["python", "bot.py"]', '["./bot"]')
    says = refusal(bot_folder(tmp_path, "ann", toml=toml, files={"Makefile": "bot:\n"}))
    assert says.endswith("got './bot', which is not there; the folder has a Makefile: run `make` in it first")


@pytest.mark.parametrize("toml", ["", "not toml at all", "name = 'x'\n[[", "\x00"])
def test_a_bot_toml_that_is_none(tmp_path: Path, toml: str) -> None:
    assert refusal(bot_folder(tmp_path, "ann", toml=toml)).startswith("BOT/bot.toml: ")


@pytest.mark.parametrize(
    "command",
    ['["python", "-u", "-X", "dev", "bot.py"]', '["python", "-m", "pkg"]', '["python", "-c", "x"]', '["./run"]'],
)
def test_other_commands_that_start_something(tmp_path: Path, command: str) -> None:
    toml = bot_toml("ann").replace('["python", "bot.py"]', command)
    folder = bot_folder(tmp_path, "ann", toml=toml, files={"pkg/__main__.py": "", "run": ""})
    (folder / "run").chmod(0o755)
    assert inspect(folder).name == "ann"


# ---- sample bots


def test_every_sample_bot_is_an_acceptable_submission() -> None:
    for folder in sample_bots():
        assert look_at(folder).name == folder.name
        if not lacks_packages(folder):
            assert is_sample(inspect(folder))


def test_a_sample_bot_is_found_by_its_name() -> None:
    assert sample_bot("random") in sample_bots()
    assert sample_bot("nobody") is None
    assert sample_bot("../sample_bots/random") is None
    assert find_bot("random") == sample_bot("random")


def test_a_folder_goes_before_a_sample_bot(tmp_path: Path) -> None:
    assert find_bot(str(tmp_path)) == tmp_path


def test_neither_folder_nor_sample_bot() -> None:
    with pytest.raises(
        SubmissionError,
        match=r"nobody: expected a bot's folder, its \.zip or \.tar\.gz, or the name of a sample bot \(.*random",
    ):
        find_bot("nobody")


@pytest.mark.parametrize("text", ["x" * 256, "x/" * 3_000, "a\0b"])
def test_a_text_that_can_be_no_path_is_no_bot(text: str) -> None:
    with pytest.raises(SubmissionError, match=r"expected a bot's folder, .*, got neither"):
        find_bot(text)


def test_a_path_that_leads_round_in_a_circle_is_told(tmp_path: Path) -> None:
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(SubmissionError, match="round: cannot be read: Too many levels of symbolic links"):
        find_bot(str(tmp_path / "round"))


def test_a_changed_sample_bot_is_a_stranger(tmp_path: Path) -> None:
    assert not is_sample(inspect(bot_folder(tmp_path, "random")))


def test_many_at_once_end_with_one_copy(tmp_path: Path, into: Path) -> None:
    folder = bot_folder(tmp_path, "ann", files={f"f{i}": "x" * 1000 for i in range(50)})
    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(lambda _: take_in(folder, into), range(8)))
    assert taken == [taken[0]] * 8
    assert list(into.iterdir()) == [taken[0].folder]


@pytest.mark.parametrize("command", ['["node", "bot.js"]', '["node", "--max-old-space-size=128", "./bot.js", "x"]'])
def test_a_bot_for_node(tmp_path: Path, command: str) -> None:
    toml = f'name = "ann"\nauthor = "A"\ncommand = {command}\nruntime = "node"\n'
    assert inspect(bot_folder(tmp_path, "ann", toml=toml, files={"bot.js": ""})).runtime == "node"


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ('["node"]', 'expected a file for node to run, e.g. ["node", "bot.js"], got none'),
        ('["node", "--trace-warnings"]', "expected a file for node to run"),
        ('["node", "main.js"]', "expected main.js in the folder, got no such file"),
    ],
)
def test_a_command_that_gives_node_nothing_to_run(tmp_path: Path, command: str, says: str) -> None:
    toml = f'name = "ann"\nauthor = "A"\ncommand = {command}\nruntime = "node"\n'
    assert says in refusal(bot_folder(tmp_path, "ann", toml=toml, files={"bot.js": ""}))


def test_names_as_npm_gives_them(tmp_path: Path) -> None:
    folder = bot_folder(tmp_path, "ann", files={"node_modules/@grpc/grpc-js/index.js": "", "@": ""})
    assert refusal(folder).startswith("BOT: @: expected names of letters")
    (folder / "@").unlink()
    assert inspect(folder).name == "ann"
