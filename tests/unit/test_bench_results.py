"""What the benches have found is kept and shown as it was measured."""

from pathlib import Path

import pytest

from bench.results import BEGIN, END, PAGE, Figure, Part, Results, as_markdown, load, save, shown


@pytest.mark.parametrize(
    ("value", "goal", "met"),
    [(1.1, "<= 1.15", True), (1.2, "<= 1.15", False), (3.0, ">= 3", True), (2.9, ">= 3", False), (7.0, "", None)],
)
def test_a_figure_knows_whether_it_is_as_its_goal_wants_it(value: float, goal: str, met: bool | None) -> None:
    assert Figure("", value, goal).met is met


@pytest.mark.parametrize(
    ("value", "text"), [(1234567.8, "1,234,568"), (45.67, "45.7"), (1.234, "1.23"), (0.01234, "0.012")]
)
def test_a_figure_is_shown_with_about_three_digits(value: float, text: str) -> None:
    assert shown(value) == text


def test_results_are_kept_and_shown_between_the_marks_of_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page"
    page.write_text(f"Before.\n{BEGIN}\nold figures\n{END}\nAfter.\n", encoding="utf-8")
    results = Results(
        {"cores": "2"},
        {
            "core": Part(
                "the core", "2026-11-30", "abc", {"a": Figure("a ratio", 1.5, ">= 2"), "b": Figure("a time", 7)}
            )
        },
    )
    save(results, tmp_path / "results.json", page)
    assert load(tmp_path / "results.json") == results
    text = page.read_text(encoding="utf-8")
    assert text.startswith("Before.\n")
    assert text.endswith("After.\n")
    assert "old figures" not in text
    assert "| a ratio | 1.50 | ≥ 2 | **missed** |" in text
    assert "| a time | 7.00 |  |  |" in text


def test_a_part_measured_anew_takes_its_place_and_unknown_parts_go() -> None:
    old, new = Part("old", "", "", {}), Part("new", "", "", {})
    results = Results({}, {"league": old, "gone": old}).with_part("core", new, {"core": 1, "league": 1})
    assert list(results.parts.items()) == [("core", new), ("league", old)]


def test_the_page_shows_the_results_that_are_kept() -> None:
    results = load()
    assert results is not None
    assert as_markdown(results).strip() in PAGE.read_text(encoding="utf-8")
