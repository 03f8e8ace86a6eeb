"""`treelings league add`: real trial matches, and what authors are told of them."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.bot_sources import kit_bot, wire_bot
from tests.support.command import NO_ENGINE, Done, treelings
from tests.support.submissions import bot_folder, bot_toml

GOOD = kit_bot()
PLAIN = ("--sandbox", "process", "--trust-bots")


@pytest.fixture
def league(tmp_path: Path) -> Path:
    """A league without bots, on a clock that is short but for a busy machine's start of a process."""
    assert treelings("league", "init", "night", cwd=tmp_path).code == 0
    (tmp_path / "night/league.toml").write_text('name = "night"\n[clock]\nmove_ms = 2_000\n')
    return tmp_path / "night"


def add(league: Path, *arguments: str | Path) -> Done:
    return treelings("league", "add", league, *arguments, cwd=league.parent)


def told(done: Done) -> dict[str, list[str]]:
    """The rows of the report on stderr, by their names."""
    rows: dict[str, list[str]] = {}
    for line in done.err.splitlines():
        if not line.startswith("  "):
            continue
        name, text = line[2:11].strip(), line[11:]
        if name:
            rows[name] = [text]
        else:
            rows[list(rows)[-1]].append(text)
    return rows


def kept(league: Path) -> list[str]:
    return [path.name for path in (league / "bots").iterdir()]


def test_a_good_bot_plays_its_trial_and_joins(league: Path) -> None:
    done = add(league, bot_folder(league.parent, "ann", code=GOOD), *PLAIN)
    assert done.code == 0
    assert re.fullmatch(r"ann [0-9a-f]{8} joins the next night; trial match: 2 games, no fault\n", done.out)
    again = add(league, "ann", *PLAIN)
    assert re.fullmatch(r"ann [0-9a-f]{8} is in already\n", again.out)
    assert len(kept(league)) == 1


def test_an_error_that_costs_no_game_is_told_too(league: Path) -> None:
    code = kit_bot("def end(self, result):\n    raise KeyError('lost')")
    done = add(league, bot_folder(league.parent, "ann", code=code), *PLAIN)
    assert done.code == 0
    assert done.out.endswith("2 games, no fault, but its log has a traceback: KeyError: 'lost'\n")


FAULTS = {
    "startup": ("raise SystemExit('no book')\n", r"exit code 1 \(last line of its log: 'no book'\)", "no book"),
    "timeout": (kit_bot("def choose(self, view):\n    time.sleep(60)"), r"no answer within 2,000 ms", "empty"),
    "illegal_move": (wire_bot("yield READY\nfor query in queries(requests):\n    yield reply(query.turn, 'Q')"),
                     r"'Q'.*; legal: .* \(after [\d.]+ ms\)", "empty"),
    "crash": (kit_bot("def choose(self, view):\n    print('\\x1b[2J')\n    raise KeyError('lost')"),
              r"exit code 1 \(last line of its log: 'KeyError: 'lost''; at bot\.py, line", r"KeyError: 'lost'"),
    "protocol": (wire_bot("yield READY\nfor query in queries(requests):\n    yield reply(query.turn + 1, 'R')"),
                 r"Reply\.turn: expected \d, got \d, after", "empty"),
}  # fmt: skip


@pytest.mark.parametrize("kind", FAULTS)
def test_the_author_is_told_what_the_bot_failed_on(kind: str, league: Path) -> None:
    code, detail, logged = FAULTS[kind]
    done = add(league, bot_folder(league.parent, "bad", code=code), *PLAIN)
    assert done.code == 1
    assert done.out == ""
    assert re.search(
        r"^bad [0-9a-f]{8} is not accepted: it made a fault in its trial match against random$", done.err, re.MULTILINE
    )
    assert "\x1b" not in done.err
    rows = told(done)
    assert rows["got"][0].startswith(f"{kind}: ")
    assert re.search(detail, rows["got"][0])
    assert rows["its log"][-1] == logged
    assert len(rows["its log"]) <= 10
    how = "--move-ms 2000 --sandbox process --trust-bots"
    assert re.fullmatch(rf"treelings match .*bad random --deals 1 --secret [0-9a-f]{{64}} {how}", rows["again"][0])
    assert rows["next"][0].endswith("; then add it again")
    if kind == "startup":
        assert "query" not in rows
        assert "at its start, before it was asked anything" in rows["where"][0]
    else:
        query = json.loads("\n".join(rows["query"]))
        assert query["limit_ms"] == 2_000
        assert f"game 1 of 2, seat {query['seat']}, turn {query['turn']}" == rows["where"][0]
        assert query["turn"] == len(query["history"])
        assert query["legal_moves"]
    assert kept(league) == []
    assert treelings("league", "bots", league, cwd=league.parent).out.splitlines()[1:] == []


def test_the_same_game_can_be_played_again(league: Path) -> None:
    choose = "    if view.turn > 5:\n        raise KeyError(view.turn)\n    return view.legal_moves[0]"
    code = kit_bot(f"def choose(self, view):\n{choose}")
    rows = told(add(league, bot_folder(league.parent, "bad", code=code), *PLAIN))
    command = rows["again"][0].split()[1:]
    treelings(*command, "--records", "games.jsonl", cwd=league.parent)
    records = map(json.loads, (league.parent / "games.jsonl").read_text().splitlines())
    # The first of them, but where the machine was too busy for it at first.
    assert json.loads("\n".join(rows["query"]))["history"] in [
        [move["move"] for move in record["moves"]] for record in records
    ]


def test_one_that_fails_stops_none_of_the_others(league: Path) -> None:
    base = league.parent
    good, other, bad = (bot_folder(base, name, code=GOOD) for name in ("good", "other", "bad"))
    (bad / "bot.py").write_text("raise SystemExit(1)\n")
    done = add(league, bad, "nobody", shutil.make_archive(str(base / "good"), "zip", good), other, "random", *PLAIN)
    assert done.code == 1
    assert [line.split()[0] for line in done.out.splitlines()] == ["good", "other", "random"]
    assert "bad" in done.err
    assert "error: nobody: expected a bot's folder, its .zip or .tar.gz, or the name of a sample bot" in done.err
    assert len(kept(league)) == 3


def test_who_takes_whose_place_is_told(league: Path) -> None:
    add(league, bot_folder(league.parent, "ann"), "--no-trial")
    done = add(league, bot_folder(league.parent, "ann", code="# better"), "--no-trial")
    assert re.fullmatch(r"ann [0-9a-f]{8} joins the next night in place of [0-9a-f]{8}\n", done.out)
    eves = bot_toml("ann", author="Eve")
    done = add(league, bot_folder(league.parent, "ann", code="# mine", toml=eves), "--no-trial")
    assert re.search(r"in place of [0-9a-f]{8} by Somebody, as a bot by Eve\n", done.out)


def test_what_is_no_submission_is_wrong_use(league: Path) -> None:
    done = add(league, bot_folder(league.parent, "bad", toml="name = 3"), "random", *PLAIN)
    assert done.code == 2
    assert "bot.toml: name: expected" in done.err
    assert done.out.startswith("random")


def test_without_an_engine_one_has_to_choose(league: Path) -> None:
    bot = bot_folder(league.parent, "ann", code=GOOD)
    done = treelings("league", "add", league, bot, cwd=league.parent, env=NO_ENGINE)
    assert done.code == 2
    for way in ("start a Docker engine", "--trust-bots", "--no-trial"):
        assert way in done.err
    assert kept(league) == []
    done = treelings("league", "add", league, bot, "--sandbox", "docker", cwd=league.parent, env=NO_ENGINE)
    assert f"Go on with: treelings league add {league} {bot} --sandbox docker (and --no-trial" in done.err
    done = treelings("league", "add", league, bot, "--no-trial", cwd=league.parent, env=NO_ENGINE)
    assert re.fullmatch(r"ann [0-9a-f]{8} joins the next night\n", done.out)
    # Whatever it may do: it is in, and no trial is played for what is in.
    done = treelings("league", "add", league, bot, cwd=league.parent, env=NO_ENGINE)
    assert done.code == 0


def test_a_bot_whose_runtime_is_not_here_is_not_let_in_and_does_not_stop_the_next(league: Path) -> None:
    toml = 'name = "js"\nauthor = "Ann"\ncommand = ["node", "bot.js"]\nruntime = "node"\n'
    bot_folder(league.parent, "js", toml=toml, files={"bot.js": "// nothing\n"})
    bot_folder(league.parent, "ann", code=GOOD)
    done = treelings("league", "add", league, "js", "ann", *PLAIN, cwd=league.parent, env={"PATH": "/nowhere"})
    assert done.code == 1
    assert "js" in done.err.splitlines()[1]
    assert "is not accepted: its trial match could not be played, through no fault of its own" in done.err
    assert told(done)["why"] == ["runtime node: node is not on the PATH: install Node.js 18 or newer"]
    assert re.fullmatch(r"ann [0-9a-f]{8} joins the next night; trial match: 2 games, no fault\n", done.out)
    assert len(kept(league)) == 1


def test_samples_need_no_sandbox(league: Path) -> None:
    assert treelings("league", "add", league, "greedy", cwd=league.parent, env=NO_ENGINE).code == 0


def test_a_match_takes_archives_too(league: Path) -> None:
    packed = shutil.make_archive(str(league.parent / "ann"), "gztar", bot_folder(league.parent, "ann", code=GOOD))
    done = treelings("match", packed, "random", "--deals", "1", *PLAIN, cwd=league.parent)
    assert done.code == 0
    assert "ann-vs-random" in done.out


def test_an_interrupted_trial_leaves_nothing(league: Path) -> None:
    bot = bot_folder(league.parent, "slow", code=kit_bot("def start(self, game):\n    time.sleep(60)"))
    command = [sys.executable, "-m", "referee.cli", "league", "add", str(league), str(bot), *PLAIN]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not kept(league) and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, words = process.communicate(timeout=60)
    assert process.returncode == 1
    assert words.splitlines()[-1] == "Interrupted."
    assert kept(league) == []


@pytest.mark.docker
@pytest.mark.usefixtures("runtime_image")
def test_in_containers_as_in_the_league(league: Path) -> None:
    good = bot_folder(league.parent, "good", code=GOOD)
    greedy = kit_bot("def choose(self, view):\n    self.kept = [bytearray(1_000_000) for _ in range(1_000)]")
    done = add(league, good, bot_folder(league.parent, "hungry", code=greedy), "--sandbox", "docker")
    assert done.code == 1
    assert done.out.startswith("good ")
    rows = told(done)
    assert rows["got"][0].startswith("out_of_memory: the bot was ended by its memory limit")
    assert json.loads("\n".join(rows["query"]))["legal_moves"]
    assert len(kept(league)) == 1
