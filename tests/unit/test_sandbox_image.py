"""What the runtime image is made of, and what is said of one that could not have all of it."""

from pathlib import Path

from referee.sandbox.core import TOOLS
from referee.sandbox.doctor import check_image
from referee.sandbox.image import PLAIN
from referee.sandbox.runtimes import ImageStatus

PINNED = Path(__file__).parents[2] / "constraints.txt"


def test_the_core_is_compiled_for_bots_by_what_compiles_it_in_the_tests() -> None:
    assert set(TOOLS) - set(PINNED.read_text().split()) == set()


def test_an_image_whose_core_is_plain_is_worth_a_warning_and_how_to_mend_it() -> None:
    check = check_image(ImageStatus("python", f"a:1{PLAIN}", "python 3.11 core plain", ()))

    assert check.level == "warning"
    assert check.found == f"a:1{PLAIN} (python 3.11 core plain)"
    assert check.advice.endswith("treelings image build --force")
    assert check_image(ImageStatus("python", "a:1", "python 3.11 core compiled", (f"a:1{PLAIN}",))).level == "ok"
