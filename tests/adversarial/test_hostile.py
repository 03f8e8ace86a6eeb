"""Whatever a bot does, it alone pays for it: one test for each kind of the collection."""

import pytest

from tests.adversarial.alone import play_alone
from tests.support.hostile import kinds, load, overloaded, problems

TRIES = 3
"""A machine that is too busy for a fair game says so, and is asked again."""


@pytest.mark.docker
@pytest.mark.usefixtures("runtime_image")
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.alone if load(kind).calm else ()) for kind in kinds()]
)
def test_a_hostile_bot_harms_nobody_else(kind: str) -> None:
    for _ in range(TRIES):
        outcome = play_alone(kind)
        if not overloaded(outcome):
            break
    assert problems(load(kind), outcome) == []


@pytest.mark.parametrize("fault", ["startup", "timeout", "illegal_move", "crash", "out_of_memory", "protocol"])
def test_each_kind_of_fault_has_its_hostile_bot(fault: str) -> None:
    assert [kind for kind in kinds() if load(kind).fault == (fault,)]
