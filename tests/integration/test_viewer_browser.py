"""The replay viewer of a match's page in a browser: right in every position, by keyboard, on a phone, harmless."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from referee.model import Fault, FaultKind, GameRecord, Night
from referee.publish import publish_site
from referee.records import states
from referee.schedule import plan_match
from tests.support.browser import browser, chromium, was_refused
from tests.support.records import AtHand, forfeited, random_league, random_record
from treelings import GUILDS, State
from treelings.rules import REFILLS

pytestmark = pytest.mark.browser

BEGUN = datetime(2026, 11, 29, 18, tzinfo=UTC)
HOSTILE = "</script><script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">"

# Every game at every third turn and the last, by way of the slider, as it is drawn: columns as guild, height and *
# where one scores.
_ALL = """() => {
  const part = name => document.querySelector(`[data-part="${name}"]`);
  const texts = (root, what) => [...root.querySelectorAll(what)].map(each => each.textContent);
  return [...part('game').options].map(option => {
    part('game').value = option.value;
    part('game').dispatchEvent(new Event('change'));
    const shown = [];
    const last = Number(part('scrub').max);
    for (let turn = 0; turn <= last; turn = turn < last ? Math.min(turn + 3, last) : last + 1) {
      part('scrub').value = String(turn);
      part('scrub').dispatchEvent(new Event('input'));
      const seats = [...document.querySelectorAll('.clearing')].sort((a, b) => a.dataset.seat - b.dataset.seat);
      shown.push({
        turn,
        rows: seats.map(seat => [...seat.querySelectorAll('.tree')].map(tree =>
          tree.lastChild.textContent + (tree.querySelectorAll('i').length - 1) + (tree.matches('.scores') ? '*' : ''))),
        points: seats.map(seat => Number(seat.querySelector('.sum b').textContent)),
        mover: seats.findIndex(seat => seat.matches('.mover')),
        market: texts(part('market'), 'li').join(''),
        pile: parseInt(part('pile').textContent),
        firefly: part('firefly').textContent,
        words: part('words').textContent,
      });
    }
    return shown;
  });
}"""


@pytest.fixture(scope="module")
def context() -> Iterator[BrowserContext]:
    executable = chromium()
    assert executable is not None, "tests/conftest.py sees to that"
    with browser(executable) as context:
        yield context


@dataclass
class Viewer:
    """A page, and what its browser complained of or asked for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def open(self, path: Path, fragment: str = "") -> None:
        self.page.goto("about:blank")
        self.page.goto(path.as_uri() + fragment)

    def part(self, name: str) -> Any:
        return self.page.locator(f"[data-part={name}]")

    def turn(self) -> int:
        return int(self.part("scrub").input_value())

    def points(self) -> list[int]:
        """By seat, as the table shows them."""
        return [int(points) for points in reversed(self.page.locator(".clearing .sum b").all_inner_texts())]


@pytest.fixture
def viewer(context: BrowserContext) -> Iterator[Viewer]:
    viewer = Viewer(context.new_page())
    viewer.page.on("console", lambda message: viewer.complaints.append(message.text))
    viewer.page.on("pageerror", lambda error: viewer.complaints.append(str(error)))
    viewer.page.on(
        "requestfailed", lambda request: viewer.complaints.append(request.url) if was_refused(request) else None
    )
    viewer.page.on("request", lambda request: viewer.asked.append(request.url))
    yield viewer
    viewer.page.close()


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[GameRecord, ...]]:
    """The page of a match of two bots, one of them hostile in all that it may say, and its games."""
    nights, (first, *others) = random_league(Random(3), nights=1, deals=2, bots=("amber", "birch"), fault_chance=0.0)
    said = replace(first.moves[3], comment=HOSTILE)
    faulty = replace(others[-1], faults=(Fault(0, 4, FaultKind.CRASH, HOSTILE),), moves=others[-1].moves[:4],
        ended="forfeit", scores=None, ranks=(2, 1), festival_turn=None)  # fmt: skip
    records = (replace(first, moves=(*first.moves[:3], said, *first.moves[4:])), *others[:-1], faulty)
    return _page(tmp_path_factory.mktemp("www"), nights, records), records


def _page(folder: Path, nights: tuple[Night, ...], records: tuple[GameRecord, ...]) -> Path:
    publish_site(folder / "site", league="thursday", nights=nights, games=AtHand(records))
    (page,) = (folder / "site" / "matches").iterdir()
    return page


def _shown(record: GameRecord) -> list[dict[str, object]]:
    """What the viewer is to show in each position, by the referee's own rules."""
    return [_position(record, state) for state in states(record)]


def _position(record: GameRecord, state: State) -> dict[str, object]:
    done = state.turn == len(record.moves)
    rows = [
        [
            f"{guild}{height}{'*' if scores else ''}"
            for guild, height, scores in zip(state.rows[seat], state.heights(seat), state.scoring()[seat], strict=True)
        ]
        for seat in range(state.players)
    ]
    if not state.firefly_out:
        firefly = f"the firefly lies below {state.above_firefly} of them"
    elif done:
        firefly = f"the firefly showed up in turn {state.festival_turn}"
    else:
        firefly = f"the firefly is out since turn {state.festival_turn}: the last round"
    market = "".join(guild * count for guild, count in zip(GUILDS, state.market, strict=True))
    return {
        "rows": rows, "points": list(state.scores()), "mover": -1 if done else state.seat, "market": market,
        "pile": state.pile, "firefly": firefly,
    }  # fmt: skip


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_script_plays_by_the_rules_in_every_position(viewer: Viewer, players: int, tmp_path: Path) -> None:
    bots = ("amber", "birch", "cedar", "dusk", "ember")[:players]
    nights, _ = random_league(Random(1), bots=bots, nights=1, seats=(players,), deals=1)
    specs = plan_match(league="thursday", night=1, bots=bots, deals=4, refill="start").games[: 2 * players + 2]
    rng = Random(players)
    records = tuple(
        random_record(replace(spec, refill=REFILLS[number % 2]), rng.randbytes(32), rng, fault_chance=0.002)
        for number, spec in enumerate(specs)
    )
    viewer.open(_page(tmp_path, nights, records))
    games: list[list[dict[str, object]]] = viewer.page.evaluate(_ALL)
    assert len(games) == len(records)
    for record, shown in zip(records, games, strict=True):
        wanted = _shown(record)
        for got in shown:
            turn: Any = got["turn"]
            assert {key: got[key] for key in wanted[turn]} == wanted[turn], f"{record.id}, turn {turn}"
            assert turn == len(record.moves) or str(got["words"]).endswith(f" {record.moves[turn].move}")
        if record.scores is not None:
            assert shown[-1]["points"] == list(record.scores)
    assert {record.refill for record in records} == set(REFILLS)
    assert viewer.complaints == []


def test_every_move_is_told_in_words_that_name_its_cards_and_ends(viewer: Viewer, two: Any) -> None:
    path, records = two
    viewer.open(path)
    for turn, (before, after) in enumerate(pairwise(states(records[0]))):
        viewer.page.evaluate("turn => { location.hash = `turn=${turn}`; }", turn)
        viewer.page.wait_for_function(
            "turn => document.querySelector('[data-part=scrub]').value === turn", arg=str(turn)
        )
        said = viewer.part("words").inner_text()
        cards = sum(after.heights(before.seat)) - sum(before.heights(before.seat))
        assert sum(map(int, re.findall(r"(\d+) (?:red|orange|yellow|green|blue|purple)", said))) == cards
        for end, mark in (("left", "<"), ("right", ">")):
            assert (f"to the {end}" in said) == (mark in records[0].moves[turn].move)


def test_it_steps_to_the_end_by_keyboard_alone_and_shows_the_recorded_scores(viewer: Viewer, two: Any) -> None:
    path, (record, *_) = two
    viewer.open(path)
    viewer.part("player").focus()
    for turn in range(len(record.moves)):
        assert viewer.turn() == turn
        viewer.page.keyboard.press("ArrowRight")
    assert viewer.points() == list(record.scores)
    assert "The end" in viewer.part("words").inner_text()
    viewer.page.keyboard.press("Home")
    assert viewer.turn() == 0
    viewer.page.keyboard.press("End")
    viewer.page.keyboard.press("ArrowLeft")
    assert viewer.turn() == len(record.moves) - 1
    # Every control has a name, is reached by Tab and shows that it is.
    viewer.part("game").focus()
    names = []
    for _ in range(8):
        viewer.page.keyboard.press("Tab")
        names.append(viewer.page.evaluate("document.activeElement.ariaLabel || document.activeElement.textContent"))
        assert viewer.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert names[0] == "Link to this turn"
    assert names[2:] == ["To the start", "One turn back", "Play", "One turn on", "To the end", "Turn"]
    viewer.page.keyboard.press("Home")
    assert viewer.turn() == 0


def test_it_plays_on_until_it_is_paused_and_marks_the_move_in_the_list(viewer: Viewer, two: Any) -> None:
    path, (record, *_) = two
    viewer.page.clock.install(time=BEGUN)
    viewer.open(path)
    viewer.page.clock.pause_at(BEGUN + timedelta(hours=1))  # and from here on it is told how much time passes
    viewer.part("player").focus()
    viewer.page.keyboard.press(" ")
    viewer.page.clock.run_for(5_500)
    expect(viewer.part("play")).to_have_accessible_name("Pause")
    viewer.page.keyboard.press(" ")
    viewer.page.clock.run_for(5_000)
    assert viewer.turn() == 5
    current = viewer.page.locator("[aria-current=step]")
    assert current.count() == 1
    assert record.moves[5].move in current.inner_text()
    viewer.part("play").click()
    viewer.page.clock.run_for(60_000)
    assert viewer.points() == list(record.scores)
    expect(viewer.part("play")).to_have_accessible_name("Play")


def test_a_link_opens_a_game_at_a_turn_and_the_address_follows(viewer: Viewer, two: Any) -> None:
    path, records = two
    viewer.open(path, "#turn=17")
    assert viewer.turn() == 17
    expect(viewer.part("player")).to_be_focused()
    viewer.page.keyboard.press("ArrowRight")
    viewer.page.wait_for_function("location.hash === '#turn=18'")
    viewer.open(path, "#game=2&turn=7")
    assert "deal 1, rotation 0" in viewer.page.evaluate(
        "document.querySelector('[data-part=game]').selectedOptions[0].text"
    )
    assert viewer.turn() == 7
    viewer.part("moves").get_by_role("button").nth(3).click()
    viewer.page.wait_for_function("location.hash === '#game=2&turn=3'")
    assert str(viewer.part("link").get_attribute("href")) == "#game=2&turn=3"
    viewer.page.evaluate("location.hash = '#game=1&turn=999'")
    viewer.page.wait_for_function("document.querySelector('[data-part=game]').value === '1'")
    assert viewer.points() == list(records[1].scores)
    viewer.page.get_by_role("link", name="Watch deal 1, rotation 0").click()
    viewer.page.wait_for_function("document.querySelector('[data-part=game]').value === '2'")
    assert viewer.turn() == 0
    for odd in ("#turn=-3", "#turn=x", "#game=99&turn=1e3", "#game=&turn="):
        viewer.open(path, odd)
        assert viewer.page.locator(".clearing").count() == 2
    assert viewer.complaints == []


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_shows_it_whole(viewer: Viewer, two: Any, width: int) -> None:
    path, records = two
    viewer.page.set_viewport_size({"width": width, "height": 800})
    viewer.page.emulate_media(color_scheme="dark")
    viewer.open(path, f"#turn={len(records[0].moves)}")
    assert viewer.page.evaluate("document.scrollingElement.scrollWidth") == width
    for name in ("market", "seats", "scrub", "play", "moves", "words"):
        box = viewer.part(name).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    assert viewer.page.locator(".tree").count() == sum(len(row) for row in list(states(records[0]))[-1].rows)


def test_a_hostile_bots_words_stay_words(viewer: Viewer, two: Any) -> None:
    path, _ = two
    viewer.open(path, "#turn=3")
    assert HOSTILE in viewer.part("said").inner_text()
    viewer.open(path, "#game=3&turn=4")
    assert HOSTILE in viewer.part("words").inner_text()
    assert "amber" in viewer.page.title()
    assert viewer.page.locator("main img").count() == 0
    assert viewer.page.locator("script").count() == path.read_text().count("<script")
    assert viewer.complaints == []
    assert {url.rpartition("/")[2].partition("#")[0] for url in viewer.asked} <= {
        "blank", path.name, "style.css", "viewer.js", "sort.js", "firefly.svg", "forest.svg"
    }  # fmt: skip


def test_nothing_moves_for_those_who_asked_for_that(viewer: Viewer, two: Any) -> None:
    viewer.page.emulate_media(reduced_motion="reduce")
    viewer.open(two[0], "#turn=9")
    assert viewer.page.evaluate("document.getAnimations().length") == 0
    viewer.page.emulate_media(reduced_motion="no-preference")
    assert viewer.page.evaluate("document.getAnimations().length") > 0


def test_without_a_script_the_final_tables_and_the_moves_are_there(context: BrowserContext, two: Any) -> None:
    path, (record, *_) = two
    page = context.new_page()
    context.new_cdp_session(page).send("Emulation.setScriptExecutionDisabled", {"value": True})
    page.goto(path.as_uri())
    assert not page.locator("#replay").is_visible()
    assert page.locator(".treeline").first.is_visible()
    page.locator("summary", has_text="moves").first.click()
    assert page.locator("table.moves").first.inner_text().count(record.moves[0].move)
    page.close()


def test_the_script_is_small() -> None:
    assert Path("referee/publish/static/viewer.js").stat().st_size <= 40_000


def test_a_match_of_twenty_games_is_a_light_page(tmp_path: Path) -> None:
    nights, records = random_league(Random(4), nights=1, deals=10, bots=("amber", "birch"))
    assert len(records) == 20
    assert _page(tmp_path, nights, records).stat().st_size < 150_000


def test_a_game_of_which_a_seat_forfeited_says_so_from_that_turn_on(viewer: Viewer, tmp_path: Path) -> None:
    record = forfeited(3, 1)
    nights, _ = random_league(Random(1), bots=tuple(seat.bot for seat in record.seats), nights=1, seats=(3,), deals=1)
    (fault,) = record.faults
    viewer.open(_page(tmp_path, nights, (record,)), f"#turn={fault.turn}")
    assert "forfeits" in viewer.part("words").inner_text()
    assert "the referee plays for" in viewer.part("words").inner_text()
    assert viewer.page.locator(f"[data-seat='{fault.seat}']").inner_text().count("forfeited") == 1
    viewer.page.keyboard.press("ArrowLeft")
    assert "forfeit" not in viewer.part("words").inner_text()
