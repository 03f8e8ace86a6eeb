"""A checkup: its steps, how far a bot comes in them, and what is measured on the way."""

import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from referee.checkup import Outcome, Step, checkup, step_names
from referee.config import ClockSection, LeagueConfig
from referee.errors import EngineGone, SandboxError, UsageError
from referee.limits import Limits
from referee.model import FaultKind, Submission
from referee.ports import Failure, RunningBot
from tests.support.players import Act, FakeBot, FakeLink, FakePlayer, FakeSandbox
from tests.support.submissions import bot_folder

CONFIG = LeagueConfig(name="x", seats=(2, 5), clock=ClockSection(startup_ms=60_000))
CRASH = Failure(FaultKind.CRASH, "the bot ended with exit code 1")


class Bots:
    """Makes the players of "ann" from scripts, one for each game; everybody else plays the first legal move."""

    def __init__(self, *scripts: Sequence[Act], start: Failure | None = None, leaves_in_order: bool = True) -> None:
        self._scripts = list(scripts)
        self._start = start
        self._leaves_in_order = leaves_in_order

    def connect(self, bot: RunningBot) -> FakeLink:
        return FakeLink(bot, self._player)

    def _player(self, name: str) -> FakePlayer:
        if name != "ann":
            return FakePlayer()
        script = self._scripts.pop(0) if self._scripts else ()
        return FakePlayer(script, start=self._start, leaves_in_order=self._leaves_in_order)


class Talking(FakeSandbox):
    """Bots that have logged this."""

    def __init__(self, log: bytes) -> None:
        super().__init__()
        self._log = log

    async def start(self, submission: Submission, match: str) -> FakeBot:
        log = self._log

        class Bot(FakeBot):
            async def stop(self) -> bytes:
                await super().stop()
                return log

        bot = Bot(submission)
        self.started.append(bot)
        return bot


async def steps_of(
    source: Path, bots: Bots | None = None, *, sandbox: FakeSandbox | None = None, config: LeagueConfig = CONFIG,
    sandbox_for: Callable[[Submission], FakeSandbox] | None = None,
) -> dict[str, Step]:  # fmt: skip
    box = sandbox or FakeSandbox()
    copies = source.parent / "copies"
    copies.mkdir()
    found = checkup(
        source, copies, config, sandbox_for=sandbox_for or (lambda _: box), connect=(bots or Bots()).connect,
        new_secret=lambda: bytes(32),
    )  # fmt: skip
    steps = {step.name: step async for step in found}
    assert tuple(steps) == step_names(config)
    assert box.running() == []
    return steps


def outcomes(steps: dict[str, Step]) -> str:
    return "".join(step.outcome.value[0] for step in steps.values())


@pytest.fixture
def ann(tmp_path: Path) -> Path:
    return bot_folder(tmp_path, "ann")


async def test_a_good_bot_passes_every_step(ann: Path) -> None:
    steps = await steps_of(ann)
    assert outcomes(steps) == "pppppppp"
    assert steps["files"].figures["files"] == 2
    assert steps["bot.toml"].figures["name"] == "ann"
    # The bot begins before that: what it does while those of other seats are started costs it nothing.
    assert re.fullmatch(r"ready; waited for [\d,]+ of 60,000 ms once all bots were started", steps["start"].fact)
    assert steps["two seats"].figures["games"] == 2
    assert steps["five seats"].figures["games"] == 5
    assert steps["ending"].figures == {"games": 7, "processes": 2, "disorderly": 0}


async def test_an_archive_is_checked_like_its_folder(ann: Path) -> None:
    steps = await steps_of(Path(shutil.make_archive(str(ann), "zip", ann)))
    assert steps["log"].outcome is not Outcome.NOT_REACHED


async def test_the_table_sizes_are_the_leagues(ann: Path) -> None:
    config = CONFIG.model_copy(update={"seats": (3,)})
    assert list(await steps_of(ann, config=config))[4:5] == ["three seats"]


async def test_files_that_nobody_may_hand_in_end_it_at_once(ann: Path) -> None:
    (ann / "link").symlink_to("/etc/passwd")
    steps = await steps_of(ann)
    assert outcomes(steps) == "fnnnnnnn"
    assert "link: expected a plain file, got a link" in steps["files"].fact


@pytest.mark.parametrize("toml", ["name = 3", 'name = "ann"', ""])
async def test_a_wrong_bot_file_is_the_second_step(toml: str, tmp_path: Path) -> None:
    steps = await steps_of(bot_folder(tmp_path, "ann", toml=toml))
    assert outcomes(steps) == "pfnnnnnn"
    assert "bot.toml" in steps["bot.toml"].fact


async def test_without_a_bot_file_too(ann: Path) -> None:
    (ann / "bot.toml").unlink()
    assert outcomes(await steps_of(ann)) == "pfnnnnnn"


async def test_a_bot_that_does_not_get_ready_fails_at_its_start(ann: Path) -> None:
    steps = await steps_of(ann, Bots(start=Failure(FaultKind.STARTUP, "too slow")))
    assert outcomes(steps) == "pppfnnnn"
    trial = steps["start"].trial
    assert trial is not None
    assert trial.stumble is not None
    assert trial.stumble.fault.detail == "too slow"


async def test_the_table_size_that_a_bot_fails_at_is_named(ann: Path) -> None:
    steps = await steps_of(ann, Bots((), (), (), (1.0, CRASH)))
    assert outcomes(steps) == "pppppfnn"
    assert steps["five seats"].fact.startswith("crash in game 2 of 5: seat ")
    assert steps["five seats"].trial is not None


async def test_the_slowest_move_is_the_one_nearest_to_its_limit(ann: Path) -> None:
    config = CONFIG.model_copy(update={"clock": ClockSection(move_ms=1_000, bank_ms=1_500, increment_ms=0)})
    steps = await steps_of(ann, Bots((400.0, 700.0, 300.0)), config=config)
    step = steps["two seats"]
    # After 1,100 ms the bank holds 400 ms, of which 300 are three quarters.
    assert (step.figures["slowest_ms"], step.figures["limit_ms"]) == (300.0, 400)
    assert step.outcome is Outcome.WARNING
    assert steps["five seats"].outcome is Outcome.PASSED


async def test_up_to_half_of_the_limit_nothing_is_said(ann: Path) -> None:
    config = CONFIG.model_copy(update={"clock": ClockSection(move_ms=1_000)})
    assert (await steps_of(ann, Bots((500.0,)), config=config))["two seats"].outcome is Outcome.PASSED


async def test_a_process_that_cannot_go_on_is_told_though_no_game_is_lost(ann: Path) -> None:
    steps = await steps_of(ann, Bots(leaves_in_order=False))
    assert steps["ending"].outcome is Outcome.WARNING
    assert steps["ending"].figures == {"games": 7, "processes": 7, "disorderly": 5}


@pytest.mark.parametrize(
    ("log", "advice"),
    [
        (b"", []),
        (b"thinking\n", []),
        (b"Traceback (most recent call last):\n  x\nKeyError: 'lost'\n", ["KeyError: 'lost'"]),
        (b"x" * 60_000, ["17,142 bytes a game are much"]),
        (b"x" * Limits().log_bytes, ["299,593 bytes a game and more are much"]),
    ],
)
async def test_a_log_is_looked_at(log: bytes, advice: list[str], ann: Path) -> None:
    step = (await steps_of(ann, sandbox=Talking(log)))["log"]
    assert len(step.advice) == len(advice)
    assert all(words in said for words, said in zip(advice, step.advice, strict=True))
    assert step.outcome is (Outcome.WARNING if advice else Outcome.PASSED)
    assert step.figures["bytes"] == 2 * len(log)
    assert ("or more" in step.fact) == (len(log) >= Limits().log_bytes)


async def test_a_sandbox_that_is_not_there_is_no_fault_of_the_bots(ann: Path) -> None:
    class Gone(FakeSandbox):
        async def open(self) -> None:
            raise SandboxError("no engine")

    steps = await steps_of(ann, sandbox=Gone())
    assert outcomes(steps) == "ppunnnnn"
    assert steps["sandbox"].fact == "no engine"


@pytest.mark.parametrize(("starts", "told"), [(0, "pppunnnn"), (2, "pppppunn")])
async def test_nor_is_an_engine_that_goes_away(starts: int, told: str, ann: Path) -> None:
    steps = await steps_of(ann, sandbox=FakeSandbox([*[None] * starts, EngineGone("no engine any more")]))
    assert outcomes(steps) == told
    assert "no engine any more" in [step.fact for step in steps.values()]


class Unclosable(FakeSandbox):
    """One that cannot be closed either, as when its engine is gone."""

    async def close(self) -> None:
        raise EngineGone("no engine to close")


@pytest.mark.parametrize(
    ("bots", "failures", "told"),
    [
        (Bots(), [EngineGone("no engine any more")], "pppunnnn"),
        (Bots((CRASH,)), [], "ppppfunn"),
        (Bots(), [], "ppppppun"),
    ],
)
async def test_every_step_is_told_though_the_sandbox_cannot_be_closed(
    bots: Bots, failures: list[SandboxError | OSError | None], told: str, ann: Path
) -> None:
    steps = await steps_of(ann, bots, sandbox=Unclosable(failures))
    assert outcomes(steps) == told
    assert "no engine to close" in [step.fact for step in steps.values()]


async def test_nor_an_opponent_that_forfeits(ann: Path) -> None:
    class Weak(Bots):
        def _player(self, name: str) -> FakePlayer:
            return FakePlayer([CRASH]) if name == "random-3" else super()._player(name)

    steps = await steps_of(ann, Weak())
    assert outcomes(steps) == "pppppunn"
    assert steps["five seats"].fact.startswith("random-3 forfeited")


async def test_a_bot_that_nobody_trusts_is_wrong_use(ann: Path) -> None:
    def refuse(bot: Submission) -> FakeSandbox:
        raise UsageError(f"{bot.name}: no sample bot")

    with pytest.raises(UsageError, match="ann: no sample bot"):
        await steps_of(ann, sandbox_for=refuse)
