"""Wheels as anybody builds them, each built once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def build_wheel(project: Path, into: Path, **environment: str) -> Path:
    """Build a project's wheel into an empty folder; the variables are added to the environment."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", into, project],
        env=os.environ | environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = into.glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The kit's wheel, compiled."""
    return build_wheel(ROOT / "sdk", tmp_path_factory.mktemp("kit"), TREELINGS_COMPILE="1")
