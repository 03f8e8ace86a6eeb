"""examples: the training makes a bot better, and what it has made plays as a submission."""

import importlib.util
import re
import shutil
import signal
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tests.support.command import treelings

EXAMPLES = Path(__file__).parents[2] / "examples"


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("example_train", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def example() -> ModuleType:
    return loaded(EXAMPLES / "train.py")


def test_some_games_against_itself_make_it_better_than_random_by_three_standard_errors(example: ModuleType) -> None:
    weights = example.train(600, seed=1)
    points = list(example.scores(weights, range(10**6, 10**6 + 100)))
    assert np.mean(points) - 3 * np.std(points) / len(points) ** 0.5 > 0.5


def test_ctrl_c_ends_the_training_in_a_line_and_keeps_what_was_learned(
    example: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.signal(signal.SIGVTALRM, signal.default_int_handler)  # Ctrl-C, by the processor's time
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.5)
    try:
        weights = example.train(10**9)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    assert weights.any()
    assert re.fullmatch(r"stopped in game [\d,]+ of 1,000,000,000\n", capsys.readouterr().err)


def test_nothing_is_trained_where_the_weights_cannot_be_kept(tmp_path: Path) -> None:
    without_the_bot = loaded(Path(shutil.copy(EXAMPLES / "train.py", tmp_path)))
    with pytest.raises(FileNotFoundError):
        without_the_bot.main(0)


def test_the_bot_is_a_submission_that_beats_random_in_a_match(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "learned_bot", tmp_path / "learned", ignore=shutil.ignore_patterns("__pycache__"))
    done = treelings(
        "match", "learned", "random", "--deals", "5", "--secret", "00" * 32, "--sandbox", "process", "--trust-bots",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.code == 0, done.err
    rows = [line.split()[:2] for line in done.out.splitlines()]
    assert ["1", "learned"] in rows
    assert "forfeits" not in done.err


def test_the_bot_plays_at_five_seats(tmp_path: Path) -> None:
    done = treelings(
        "match", EXAMPLES / "learned_bot", *["random"] * 4, "--deals", "1", "--sandbox", "process", "--trust-bots",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "forfeits" not in done.err
