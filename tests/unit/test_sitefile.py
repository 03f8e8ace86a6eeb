import json
from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest

from referee.config import ClockSection
from referee.errors import RecordError
from referee.match import ATTEMPTS
from referee.model import Night, UntilDecided, VoidGame
from referee.schedule import MAX_BOTS
from referee.sitefile import read_site_json, site_json
from tests.support.records import random_league


def nights() -> tuple[Night, ...]:
    told, _ = random_league(Random(1), deals=1)
    playing = replace(
        told[1], finished=None, secret=None, voids=(VoidGame("night 2/amber-vs-birch/0/r0", ("no engine",)),)
    )
    return told[0], playing


def test_what_was_written_is_read_again() -> None:
    assert read_site_json(site_json("Thursday’s league", nights())) == ("Thursday’s league", nights())


def test_keys_are_those_of_the_page() -> None:
    value = json.loads(site_json("thursday", nights()))
    assert list(value) == ["format", "league", "nights"]
    night = value["nights"][0]
    assert list(night) == [
        "number", "opened", "finished", "commitment", "secret", "settings", "bots", "voids",
    ]  # fmt: skip
    assert list(night["settings"]) == ["seats", "deals", "refill", "max_tables", "clock"]
    assert list(night["settings"]["clock"]) == ["startup_ms", "move_ms", "bank_ms", "increment_ms"]
    assert list(night["bots"][0]) == ["name", "author", "version"]


def test_a_night_that_goes_on_until_it_is_decided_says_so() -> None:
    first, second = nights()
    aimed = replace(first, until_decided=UntilDecided(2, 40))
    text = site_json("thursday", (aimed, second))
    assert read_site_json(text) == ("thursday", (aimed, second))
    assert json.loads(text)["nights"][0]["until_decided"] == {"top": 2, "at_most": 40}


def test_unknown_keys_are_ignored() -> None:
    value = json.loads(site_json("thursday", nights()))
    value["nights"][0]["weather"] = "rain"
    assert read_site_json(json.dumps(value)) == ("thursday", nights())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda value: value.update(format="treelings-site/2"), "key format: expected: 'treelings-site/1'"),
        (lambda value: value["nights"].reverse(), "nights numbered 1, 2, 3 and so on without a gap, not 2 as 1"),
        (lambda value: value["nights"][1].update(number=1), "without a gap, not 1 as 2"),
        (lambda value: value["nights"][1].update(number=3), "without a gap, not 3 as 2"),
        (lambda value: value["nights"].pop(0), "without a gap, not 2 as 1"),
        (lambda value: value["nights"].extend(value["nights"] * 500), "key nights: .*at most 1000"),
        (
            lambda value: value["nights"][0].update(until_decided={"top": 5, "at_most": 9}),
            "until_decided: top at most 4, as many as there are bots",
        ),
        (
            lambda value: value["nights"][1].update(until_decided={"top": 1, "at_most": 0}),
            r"until_decided\.at_most: .*greater than or equal to 1",
        ),
        (lambda value: value["nights"][0].update(finished="2026-11-01T17:59:59Z"), "finished not before opened"),
        (lambda value: value["nights"][1]["voids"][0].update(reasons=[]), r"voids\[0\]\.reasons: .*at least 1"),
        (
            lambda value: value["nights"][1]["voids"][0].update(reasons=["x"] * (ATTEMPTS + 1)),
            rf"voids\[0\]\.reasons: .*at most {ATTEMPTS}",
        ),
        (
            lambda value: value["nights"][0].update(bots=[value["nights"][0]["bots"][0]] * (MAX_BOTS + 1)),
            rf"nights\[0\]\.bots: .*at most {MAX_BOTS}",
        ),
        (lambda value: value["nights"][0].update(secret="00"), r"key nights\[0\]\.secret"),
        (lambda value: value["nights"][0].update(opened="today"), r"key nights\[0\]\.opened"),
        (
            lambda value: value["nights"][0].update(opened="2026-13-01T00:00:00Z"),
            "a time that there is: month must be in",
        ),
        (lambda value: value["nights"][0]["settings"].update(seats=[6]), r"settings\.seats\[0\]"),
        (lambda value: value["nights"][0]["settings"].update(deals=0), r"settings\.deals"),
        (lambda value: value["nights"][1]["bots"][0].update(name="../x"), r"key nights\[1\]\.bots\[0\]\.name"),
        (lambda value: value["nights"][1].pop("voids"), r"key nights\[1\]\.voids: expected it to be there"),
    ],
)
def test_a_wrong_shape_is_refused_naming_the_key(change: Callable[[dict[str, object]], object], message: str) -> None:
    value = json.loads(site_json("thursday", nights()))
    change(value)
    with pytest.raises(RecordError, match=rf"^league\.json: .*{message}"):
        read_site_json(json.dumps(value))


def test_a_night_may_have_as_many_bots_as_can_be_planned_and_as_many_attempts_as_are_made() -> None:
    first, second = nights()
    many = tuple(replace(first.bots[0], name=f"bot{number}") for number in range(MAX_BOTS))
    void = VoidGame("night 1/amber-vs-birch/0/r0", ("no engine",) * ATTEMPTS)
    full = replace(first, bots=many, voids=(void,), finished=first.opened)
    assert read_site_json(site_json("thursday", (full, second))) == ("thursday", (full, second))


@pytest.mark.parametrize("key", list(ClockSection.model_fields))
def test_a_clock_has_the_ranges_of_league_toml(key: str) -> None:
    schema = ClockSection.model_json_schema()["properties"][key]
    least, most = schema["minimum"], schema["maximum"]
    value = json.loads(site_json("thursday", nights()))
    clock = value["nights"][0]["settings"]["clock"]
    for fits in (least, most):
        clock[key] = fits
        read_site_json(json.dumps(value))
    for beyond in (least - 1, most + 1):
        clock[key] = beyond
        with pytest.raises(RecordError, match=rf"settings\.clock\.{key}"):
            read_site_json(json.dumps(value))
