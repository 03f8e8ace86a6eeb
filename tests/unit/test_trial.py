"""The trial match: what is played, what is told of it, and what becomes of the bot in its league."""

import json
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from referee.errors import EngineGone, SandboxError, SubmissionError
from referee.league import League
from referee.model import FaultKind, Submission
from referee.ports import Failure, RunningBot
from referee.reports import Trial
from referee.submissions import inspect, sample_bot, take_in
from referee.trial import last_error, last_lines, play_trial, view_as_json, view_at
from tests.support.league import new_league
from tests.support.players import Act, FakeBot, FakeLink, FakePlayer, FakeSandbox
from tests.support.submissions import bot_folder
from tests.support.virtual_time import run_virtually
from treelings import Clock, Refill, View

SECRET = bytes(range(32))
CLOCK = Clock(startup_ms=500, move_ms=1_000, bank_ms=2_500, increment_ms=100)
TIMEOUT = Failure(FaultKind.TIMEOUT, "no answer within 1,000 ms", 1_001.0)


class Bots:
    """Fake bots by name, a new one for each game; keeps all of them."""

    def __init__(self, **make: Callable[[], FakePlayer]) -> None:
        self._make = make
        self.games: dict[str, list[FakePlayer]] = {}

    def connect(self, bot: RunningBot) -> FakeLink:
        return FakeLink(bot, self._player)

    def _player(self, name: str) -> FakePlayer:
        player = self._make.get(name, FakePlayer)()
        self.games.setdefault(name, []).append(player)
        return player


def scripted(*script: Act, start: Failure | Exception | None = None) -> Callable[[], FakePlayer]:
    return lambda: FakePlayer(script, start=start)


@pytest.fixture
def bot(tmp_path: Path) -> Submission:
    return inspect(bot_folder(tmp_path, "ann"))


async def tried(
    bot: Submission, bots: Bots, *, sandbox: FakeSandbox | None = None, seats: int = 2, refill: Refill = "start"
) -> Trial:
    box = sandbox or FakeSandbox()
    trial = await play_trial(
        bot, sandbox=box, connect=bots.connect, secret=SECRET, clock=CLOCK, seats=seats, refill=refill
    )
    assert box.running() == []
    return trial


# ---- what is played


async def test_one_deal_is_played_in_both_rotations_against_random(bot: Submission) -> None:
    trial = await tried(bot, Bots())
    assert trial.passed
    assert (trial.opponents, trial.games, trial.stumble, trial.void) == (("random",), 2, None, None)
    assert [[seat.bot for seat in record.seats] for record in trial.records] == [["ann", "random"], ["random", "ann"]]
    assert len({record.deck for record in trial.records}) == 1
    assert {record.ended for record in trial.records} == {"festival"}


async def test_it_is_played_by_the_leagues_clock_and_refill(bot: Submission) -> None:
    bots = Bots()
    trial = await tried(bot, bots, refill="end")
    (first, _) = (player.started[0] for player in bots.games["ann"])
    assert (first.clock, first.refill) == (CLOCK, "end")
    assert {record.refill for record in trial.records} == {"end"}


@pytest.mark.parametrize("seats", [3, 4, 5])
async def test_a_larger_table_is_filled_up_with_random(bot: Submission, seats: int) -> None:
    trial = await tried(bot, Bots(), seats=seats)
    assert trial.passed
    assert trial.games == seats == len(trial.records)
    assert trial.opponents == ("random", "random-2", "random-3", "random-4")[: seats - 1]


async def test_a_stranger_called_random_meets_another(tmp_path: Path) -> None:
    trial = await tried(inspect(bot_folder(tmp_path, "random")), Bots())
    assert trial.opponents == ("random-2",)


async def test_the_opponent_is_the_shipped_sample(bot: Submission) -> None:
    sandbox = FakeSandbox()
    await tried(bot, Bots(), sandbox=sandbox)
    folder = sample_bot("random")
    assert folder
    assert {each.submission.version for each in sandbox.started} == {bot.version, inspect(folder).version}


async def test_to_lose_is_no_failure(bot: Submission) -> None:
    trial = await tried(bot, Bots())
    assert any(record.ranks != (1, 1) for record in trial.records)
    assert trial.passed


async def test_the_bots_log_is_kept_and_no_one_elses(bot: Submission) -> None:
    assert (await tried(bot, Bots())).log == b"log of ann"


async def test_its_starts_and_ends_are_counted(bot: Submission) -> None:
    good = await tried(bot, Bots())
    assert (good.processes, good.disorderly) == (1, 0)
    assert good.start_ms > 0
    bad = await tried(bot, Bots(ann=lambda: FakePlayer(leaves_in_order=False)), seats=3)
    assert bad.passed
    assert (bad.processes, bad.disorderly) == (3, 2)


async def test_progress_is_told_game_by_game(bot: Submission) -> None:
    heard: list[tuple[int, int]] = []
    await play_trial(
        bot, sandbox=FakeSandbox(), connect=Bots().connect, secret=SECRET, clock=CLOCK, seats=3,
        progress=lambda played, games: heard.append((played, games)),
    )  # fmt: skip
    assert heard == [(1, 3), (2, 3), (3, 3)]


# ---- what a bot fails on


async def test_the_first_fault_ends_the_match(bot: Submission) -> None:
    trial = await tried(bot, Bots(ann=scripted(1.0, TIMEOUT)))
    assert not trial.passed
    assert trial.void is None
    assert len(trial.records) == 1
    assert trial.stumble is not None
    assert trial.stumble.game == 0
    assert (trial.stumble.fault.kind, trial.stumble.fault.turn) == (FaultKind.TIMEOUT, 2)


async def test_a_fault_in_the_second_game_counts_too(bot: Submission) -> None:
    scripts: list[Sequence[Act]] = [(), (TIMEOUT,)]
    trial = await tried(bot, Bots(ann=lambda: FakePlayer(scripts.pop(0))))
    assert trial.stumble is not None
    assert (trial.stumble.game, trial.stumble.fault.seat, trial.stumble.fault.turn) == (1, 1, 1)


@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("act", [TIMEOUT, "Z", "-", Failure(FaultKind.CRASH, "the bot ended")])
async def test_the_query_is_told_as_the_bot_got_it(bot: Submission, act: Act, seats: int) -> None:
    bots = Bots(ann=scripted(700.0, 900.0, 900.0, act))
    trial = await tried(bot, bots, seats=seats)
    assert trial.stumble is not None
    asked = bots.games["ann"][0].views[-1]
    assert trial.stumble.view == asked
    assert asked.limit_ms == asked.bank_ms == 300  # so the clock was followed too


async def test_a_bot_that_fails_at_its_start_was_asked_nothing(bot: Submission) -> None:
    trial = await tried(bot, Bots(ann=scripted(start=Failure(FaultKind.STARTUP, "the bot ended with exit code 1"))))
    assert trial.stumble is not None
    assert trial.stumble.view is None
    assert trial.stumble.fault.detail == "the bot ended with exit code 1"


async def test_where_its_copy_lies_is_nothing_to_the_author(bot: Submission) -> None:
    class Bot(FakeBot):
        async def stop(self) -> bytes:
            await super().stop()
            return f'File "{self.submission.folder}/bot.py", line 5'.encode()

    class Talking(FakeSandbox):
        async def start(self, submission: Submission, match: str) -> Bot:
            started = Bot(submission)
            self.started.append(started)
            return started

    assert (await tried(bot, Bots(), sandbox=Talking())).log == b'File "bot.py", line 5'


# ---- what fails on our side


def test_a_game_that_our_side_cannot_play_is_no_trial(bot: Submission) -> None:
    trial = run_virtually(tried(bot, Bots(ann=scripted(SandboxError("the referee stood still")))))
    assert not trial.passed
    assert trial.stumble is None
    assert trial.void == "SandboxError: the referee stood still"
    assert trial.records == ()


async def test_an_opponent_that_forfeits_is_no_trial(bot: Submission) -> None:
    trial = await tried(bot, Bots(random=scripted(TIMEOUT)))
    assert not trial.passed
    assert trial.stumble is None
    assert trial.void == "random forfeited: timeout: no answer within 1,000 ms"


async def test_a_fault_of_the_bot_goes_before_one_of_its_opponent(bot: Submission) -> None:
    trial = await tried(bot, Bots(ann=scripted(1.0, TIMEOUT), random=scripted(TIMEOUT)), seats=3)
    assert trial.stumble is not None
    assert trial.void is None


async def test_an_engine_that_is_gone_ends_all(bot: Submission) -> None:
    with pytest.raises(EngineGone):
        await tried(bot, Bots(), sandbox=FakeSandbox([EngineGone("no engine")]))


# ---- queries and logs, to be shown


async def test_every_query_of_a_game_can_be_told_from_its_record(bot: Submission) -> None:
    bots = Bots()
    trial = await tried(bot, bots, seats=3)
    record = trial.records[0]
    by_turn = {view.turn: view for players in bots.games.values() for view in players[0].views}
    for turn in range(len(record.moves)):
        assert view_at(record, turn, CLOCK) == by_turn[turn]
    with pytest.raises(ValueError, match="expected a turn from 0 to"):
        view_at(record, len(record.moves) + 1, CLOCK)


async def test_a_view_as_json_has_all_of_its_fields(bot: Submission) -> None:
    trial = await tried(bot, Bots(ann=scripted(1.0, TIMEOUT)))
    assert trial.stumble is not None
    view = trial.stumble.view
    assert view is not None
    told = view_as_json(view)
    assert list(told) == list(View._fields)
    assert told["turn"] == 2
    assert told["history"] == [move.notation for move in view.history]
    assert json.loads(json.dumps(told)) == told


def test_the_last_lines_of_a_log_are_escaped_and_bounded() -> None:
    log = b"first\n\n\x1b[31mred\n" + b"x" * 500 + b"\nnot \xff UTF-8\n\n"
    assert last_lines(log, 3) == ["\\x1b[31mred", "x" * 199 + "…", "not \\xff UTF-8"]
    assert last_lines(b"", 3) == []


@pytest.mark.parametrize(
    ("log", "error"),
    [
        (b"all is well\n", None),
        (b"", None),
        (b'Traceback (most recent call last):\n  File "bot.py", line 1\n    x\nKeyError: 1\nafter\n', "KeyError: 1"),
        (b"Traceback (most recent call last):\n  x\nA: 1\nTraceback (most recent call last):\n  x\nB: 2\n", "B: 2"),
        (b"Traceback (most recent call last):\n  x\nA: \x1b[2J\n", "A: \\x1b[2J"),
        (b"Traceback (most recent call last):\n  x\n", "cut off"),
    ],
)
def test_the_last_error_of_a_log_ends_its_last_traceback(log: bytes, error: str | None) -> None:
    assert last_error(log) == error


def test_the_last_error_of_a_group_is_the_last_of_its_own() -> None:
    def raised(error: Exception) -> Exception:
        try:
            raise error
        except (ValueError, ExceptionGroup) as caught:
            return caught

    def logged(*errors: Exception) -> bytes:
        group = raised(ExceptionGroup("both", errors))
        return b"before\n" + "".join(traceback.format_exception(group)).encode() + b"after\n"

    assert last_error(logged(ValueError("one"), KeyError("two"))) == "ExceptionGroup: both (2 sub-exceptions)"
    assert last_error(logged(raised(ValueError("one")))) == "ValueError: one"


# ---- into the league


class Verdicts:
    """Trial matches whose outcome is known before."""

    def __init__(self, *, passed: bool) -> None:
        self._void = None if passed else "never played"
        self.tried: list[Submission] = []

    async def __call__(self, bot: Submission) -> Trial:
        assert (bot.folder / "bot.toml").is_file()
        self.tried.append(bot)
        return Trial(("random",), SECRET, 2, (), None, b"", self._void)


def kept(league: League) -> set[str]:
    return {path.name for path in (league.folder / "bots").iterdir()}


async def test_a_bot_that_passes_is_in_the_league(tmp_path: Path) -> None:
    with new_league(tmp_path, ()) as league:
        added = await league.try_and_add(bot_folder(tmp_path, "ann"), Verdicts(passed=True))
        assert added.changed
        assert added.accepted
        assert added.trial is not None
        assert league.bots() == (added.submission,)
        assert kept(league) == {added.submission.folder.name}


async def test_of_a_bot_that_fails_nothing_stays(tmp_path: Path) -> None:
    with new_league(tmp_path, ()) as league:
        folder = bot_folder(tmp_path, "ann")
        added = await league.try_and_add(folder, Verdicts(passed=False))
        assert not added.accepted
        assert not added.changed
        assert added.submission.folder == folder
        assert league.bots() == ()
        assert kept(league) == set()


async def test_a_new_version_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    with new_league(tmp_path, ("ann",)) as league:
        before = league.bots(), kept(league)
        await league.try_and_add(bot_folder(tmp_path, "ann", code="# worse"), Verdicts(passed=False))
        assert (league.bots(), kept(league)) == before


async def test_nothing_stays_either_of_a_trial_that_breaks_off(tmp_path: Path) -> None:
    async def broken(bot: Submission) -> Trial:
        raise SandboxError("no sandbox")

    with new_league(tmp_path, ()) as league:
        with pytest.raises(SandboxError):
            await league.try_and_add(bot_folder(tmp_path, "ann"), broken)
        assert kept(league) == set()


async def test_no_trial_is_played_by_what_is_no_submission(tmp_path: Path) -> None:
    verdicts = Verdicts(passed=True)
    with new_league(tmp_path, ()) as league:
        with pytest.raises(SubmissionError, match=r"no bot\.toml"):
            await league.try_and_add(tmp_path / "league" / "bots", verdicts)
        assert kept(league) == set()
    assert verdicts.tried == []


async def test_files_that_a_killed_add_has_left_let_nobody_in_without_a_trial(tmp_path: Path) -> None:
    ann = bot_folder(tmp_path, "ann")
    with new_league(tmp_path, ()) as league:
        take_in(ann, league.folder / "bots")
        assert not (await league.try_and_add(ann, Verdicts(passed=False))).accepted
        assert league.bots() == ()
        assert (await league.try_and_add(ann, Verdicts(passed=True))).changed


async def test_samples_and_versions_that_were_in_before_play_none(tmp_path: Path) -> None:
    sample = sample_bot("greedy")
    assert sample
    verdicts = Verdicts(passed=False)
    with new_league(tmp_path, ("ann",)) as league:
        first = tmp_path / "submitted" / "ann"
        league.add(bot_folder(tmp_path, "ann", code="# the second version"))
        assert (await league.try_and_add(sample, verdicts)).changed
        assert (await league.try_and_add(first, verdicts)).changed  # back to the first one
        assert not (await league.try_and_add(first, verdicts)).changed
    assert verdicts.tried == []
