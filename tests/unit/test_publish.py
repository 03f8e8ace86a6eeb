"""The published site: whole, safe, the same for the same league (records.md, Points; sandbox.md, gRPC)."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import RecordError, RefereeError, UsageError
from referee.model import BotEntry, Fault, FaultKind, GameRecord, Night, PlayedMove, SeatHolder, UntilDecided, VoidGame
from referee.publish import publish_site
from referee.publish.nights import page_name
from referee.publish.overview import overview
from referee.publish.treeline import draw
from referee.records import from_json
from referee.verify import verify
from tests.support.decided import decided_league
from tests.support.records import AtHand, random_league
from tests.support.site import NAMES, sample_league
from treelings import State, derive_deck

STATIC = {path.name for path in Path("referee/publish/static").iterdir()}
SCRIPT = re.compile(r'<script (?:src="(?:\.\./)?(?:sort|viewer)\.js" defer|type="application/json" id="replays")>')
HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "back\u202ewards \x1b[31m",
    '=cmd|"/C calc"!A0',
    "{{ 7 * 7 }}",
    "../../../etc/passwd",
)


class _Page(HTMLParser):
    """What a page links to, which ids it has, and the tags and texts in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[str] = []
        self.texts: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in {"meta", "wbr", "link", "rect", "path", "circle", "line", "br", "img", "input"}:
            self.open.append(tag)
        for name, value in attrs:
            self.attributes.append(name)
            if name in {"href", "src"}:
                self.links.append(value or "")
            if name == "id":
                self.ids.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        if tag not in {"rect", "path", "circle", "line", "wbr"}:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())


def _publish(folder: Path, nights: Sequence[Night], records: Sequence[GameRecord]) -> Path:
    publish_site(folder / "site", league="thursday", nights=nights, games=AtHand(records))
    return folder / "site"


def _bytes(site: Path) -> dict[str, bytes]:
    return {str(path.relative_to(site)): path.read_bytes() for path in site.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _publish(tmp_path_factory.mktemp("published"), *sample_league())


@pytest.fixture(scope="module")
def small() -> tuple[tuple[Night, ...], tuple[GameRecord, ...]]:
    return random_league(Random(3), nights=1, deals=1, bots=("amber", "birch", "cedar"))


# what a site holds


def test_there_is_a_page_for_the_league_and_each_night_bot_and_match(site: Path) -> None:
    nights, records = sample_league()
    assert {path.name for path in site.iterdir()} == {
        "index.html", "night-1.html", "night-2.html", "bots", "matches", "records", "league.json",
        "standings.json", "standings.csv", "feed.xml", "badges", *STATIC,
    }  # fmt: skip
    assert {path.stem for path in (site / "bots").iterdir()} == {bot.name for bot in nights[0].bots}
    assert {path.stem for path in (site / "matches").iterdir()} == {
        f"{record.night}-{record.match}" for record in records
    }


def test_every_link_is_relative_and_leads_to_a_file_and_a_place_in_it(site: Path) -> None:
    pages = {path: _Page(path) for path in site.rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            assert not parts.scheme
            assert not parts.netloc
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), f"{path.name}: {link}"
            assert target.is_relative_to(site)
            if game := re.fullmatch("game=([0-9]+)(&turn=[0-9]+)?", parts.fragment):
                assert pages[target].tags.count("article") > int(game[1])
            elif parts.fragment:
                assert parts.fragment in pages[target].ids, f"{path.name}: {link}"


def test_nothing_on_a_page_runs_but_the_sites_own_scripts_or_is_fetched_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        page = _Page(path)
        assert not {"iframe", "object", "style"} & set(page.tags)
        assert page.tags.count("script") == len(SCRIPT.findall(path.read_text()))
        assert not [name for name in page.attributes if name.startswith("on") or name == "style"]
        assert "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:" in path.read_text()
    assert not re.search(r"@import|https?:|url\((?!\"forest\.svg\"\))", (site / "style.css").read_text())


def test_without_a_script_there_is_nothing_to_press(site: Path) -> None:
    for path in (site / "index.html", site / "night-1.html", *(site / "bots").iterdir()):
        assert "button" not in _Page(path).tags


def test_pages_are_well_formed_with_one_first_heading_a_language_and_captions(site: Path) -> None:
    for path in site.rglob("*.html"):
        page = _Page(path)
        assert page.open == []
        assert page.tags.count("h1") == 1
        assert page.tags.count("table") == page.tags.count("caption")
        assert len(page.ids) == len(set(page.ids))
        assert '<html lang="en">' in path.read_text()


def test_the_index_shows_the_standings_in_order_with_authors_and_versions(site: Path) -> None:
    nights, records = sample_league()
    text = _Page(site / "index.html").text
    rows = overview("thursday", nights, records).rows
    places = [text.index(f"{row.bot}by {row.bot.title()}'s author") for row in rows]
    assert places == sorted(places)
    for row in rows:
        assert row.version.removeprefix("sha256:")[:8] in text
        assert f"{100 * row.score:.1f}" in text
        assert f"{row.wins}–{row.ties}–{row.losses}" in text


def test_a_nights_secret_is_shown_only_once_it_is_revealed(site: Path) -> None:
    nights, _ = sample_league()
    first, second = nights
    assert first.secret is not None
    for name in ("index.html", "night-1.html"):
        assert first.secret in _Page(site / name).text
    for name in ("index.html", "night-2.html"):
        text = _Page(site / name).text
        assert second.commitment in text
        assert "Not revealed yet" in text


def test_a_void_game_is_listed_with_the_reason_of_each_attempt(site: Path) -> None:
    nights, _ = sample_league()
    text = _Page(site / "night-2.html").text
    (void,) = nights[1].voids
    assert void.game in text
    assert all(reason in text for reason in void.reasons)


def test_games_that_are_void_for_one_reason_are_told_together_and_above_the_standings(tmp_path: Path) -> None:
    nights, records = random_league(Random(3), nights=1, deals=1, bots=("amber", "birch"))
    lost = [VoidGame(f"night 1/amber-vs-cedar/0/r{rotation}", ("cedar sits out",)) for rotation in (0, 1)]
    text = _Page(_publish(tmp_path, [replace(nights[0], voids=tuple(lost))], records) / "night-1.html").text
    above, _, below = text.partition("Void games")
    assert "2 games are void: cedar sits out" in above
    assert below.count("cedar sits out") == 1
    assert all(void.game in below for void in lost)


def test_a_match_with_a_missing_game_says_how_many_were_planned(site: Path) -> None:
    nights, records = sample_league()
    lost = nights[1].voids[0].game.split("/")[1]
    played = sum(record.match == lost and record.night == 2 for record in records)
    assert f"{played} games of {played + 1} that were planned" in _Page(site / "matches" / f"2-{lost}.html").text


def test_a_fault_is_shown_with_its_words_on_the_pages_of_its_bot_and_its_match(
    tmp_path: Path, small: tuple[tuple[Night, ...], tuple[GameRecord, ...]]
) -> None:
    nights, (record, *others) = small
    words = "expected one of R R<R, got 'Q' after 3 ms"
    faulty = replace(
        record, faults=(Fault(1, 5, FaultKind.ILLEGAL_MOVE, words),), ended="forfeit", scores=None,
        ranks=(1, 2), moves=record.moves[:5], festival_turn=None,
    )  # fmt: skip
    site = _publish(tmp_path, nights, [faulty, *others])
    match = _Page(site / "matches" / f"1-{record.match}.html").text
    assert f"illegal move in turn 5, {record.seats[1].bot} on seat 1: {words}" in match
    assert "Ended by forfeit after 5 turns" in match
    assert words in _Page(site / "bots" / f"{record.seats[1].bot}.html").text
    assert words not in _Page(site / "bots" / f"{record.seats[0].bot}.html").text


def told_apart(record: GameRecord, number: int) -> GameRecord:
    """The record with faults whose details are of words of their own."""
    words = "x" * (number + 1)
    return replace(record, faults=tuple(replace(fault, detail=f"made up, {words}.") for fault in record.faults))


def test_many_faults_are_all_there_the_first_twenty_unfolded(tmp_path: Path) -> None:
    nights, records = random_league(Random(4), nights=1, deals=25, bots=("amber", "birch"), fault_chance=1.0)
    records = tuple(told_apart(record, number) for number, record in enumerate(records))
    faults = sum(record.seats[fault.seat].bot == "amber" for record in records for fault in record.faults)
    page = _Page(_publish(tmp_path, nights, records) / "bots" / "amber.html")
    assert page.text.count("made up, x") == faults > 20
    assert f"{faults - 20} more" in page.text


def test_faults_that_differ_in_numbers_alone_are_told_once_with_a_link_to_each_game(tmp_path: Path) -> None:
    nights, records = random_league(Random(4), nights=1, deals=25, bots=("amber", "birch"), fault_chance=1.0)
    records = tuple(
        replace(
            record,
            faults=tuple(
                replace(fault, kind=FaultKind.CRASH, detail=f"no answer after {number}.5 ms") for fault in record.faults
            ),
        )
        for number, record in enumerate(records)
    )
    faults = sum(record.seats[fault.seat].bot == "amber" for record in records for fault in record.faults)
    page = _publish(tmp_path, nights, records) / "bots" / "amber.html"
    assert f"crash in {faults} games, first: no answer after" in _Page(page).text
    assert _Page(page).text.count("no answer after") == 1
    assert page.read_text().count("../matches/1-amber-vs-birch.html#d") == faults


def test_a_turn_that_the_detail_names_is_not_said_twice(
    tmp_path: Path, small: tuple[tuple[Night, ...], tuple[GameRecord, ...]]
) -> None:
    nights, (record, *others) = small
    faulty = replace(record, faults=(Fault(1, 5, FaultKind.TIMEOUT, "no answer, at turn 5"),))
    page = _publish(tmp_path, nights, [faulty, *others]) / "bots" / f"{record.seats[1].bot}.html"
    assert "in turn 5" not in _Page(page).text


def test_a_long_name_is_broken_after_a_dash_or_an_underscore(tmp_path: Path) -> None:
    nights, records = random_league(Random(4), nights=1, deals=1, bots=("long-name__x", "birch"))
    page = (_publish(tmp_path, nights, records) / "index.html").read_text()
    assert "<bdi>long-<wbr>name__<wbr>x</bdi>" in page


def test_every_move_is_in_its_games_list_and_the_referees_are_marked(
    tmp_path: Path, small: tuple[tuple[Night, ...], tuple[GameRecord, ...]]
) -> None:
    nights, (record, *others) = small
    first = replace(record.moves[0], by_referee=True)
    marked = replace(record, moves=(first, *record.moves[1:]))
    page = _Page(_publish(tmp_path, nights, [marked, *others]) / "matches" / f"1-{record.match}.html")
    assert f"{first.move} †" in page.text
    assert all(move.move in page.texts or f"{move.move} ✦" in page.texts for move in marked.moves[1:])


def test_a_comment_stands_below_its_move_and_the_site_passes_verification(
    tmp_path: Path, small: tuple[tuple[Night, ...], tuple[GameRecord, ...]]
) -> None:
    nights, (record, *others) = small
    second = replace(record.moves[1], comment="tall & <safe>")
    site = _publish(tmp_path, nights, [replace(record, moves=(record.moves[0], second, *record.moves[2:])), *others])
    texts = _Page(site / "matches" / f"1-{record.match}.html").texts
    at = texts.index("tall & <safe>")
    assert texts[at - 1] == second.move
    assert verify([site]).differences == ()


def test_records_are_written_in_the_order_of_the_plan_and_read_back_the_same(site: Path) -> None:
    _, records = sample_league()
    for night in (1, 2):
        lines = (site / "records" / f"night-{night}.jsonl").read_text().splitlines()
        assert [from_json(line) for line in lines] == [record for record in records if record.night == night]


def test_a_published_site_passes_verification(tmp_path: Path) -> None:
    report = verify([_publish(tmp_path, *random_league(Random(5), seats=(2, 3)))])
    assert report.differences == ()


def test_a_night_that_goes_on_says_which_places_are_decided_and_passes_verification(tmp_path: Path) -> None:
    site = _publish(tmp_path, *decided_league(NAMES[:3], UntilDecided(2, 12)))
    text = " ".join(_Page(site / "night-1.html").texts)
    assert "Places 1 and 2 are not decided at 95 %, after 12 deals a match." in text
    assert "ahead of" in text
    assert "12 a match at most" in text
    assert "Games those that the score counts" in " ".join(_Page(site / "index.html").texts)
    assert verify([site]).differences == ()


def test_a_night_without_such_a_wish_says_nothing_of_it(site: Path) -> None:
    assert "decided" not in (site / "night-1.html").read_text()
    assert "that the score counts" not in (site / "index.html").read_text()


def test_deals_stand_beside_the_elo_that_takes_them_all(site: Path) -> None:
    text = re.sub(r"\s+", " ", _Page(site / "bots" / f"{NAMES[0]}.html").text)
    assert re.search(r"Elo\S+ \S+ … \S+, \d+ deals Score", text)
    assert re.search(r"Mean margin\S+ in \d+ games Median", text)


def test_a_league_without_nights_and_a_night_without_games_have_their_pages(
    tmp_path: Path, small: tuple[tuple[Night, ...], tuple[GameRecord, ...]]
) -> None:
    assert "No night has been opened yet" in _Page(_publish(tmp_path / "new", (), ()) / "index.html").text
    night = replace(small[0][0], finished=None, secret=None)
    site = _publish(tmp_path / "opened", [night], ())
    assert "0 of 6 games" in _Page(site / "night-1.html").text
    assert "Without a finished game so far: amber, birch, cedar." in _Page(site / "index.html").text
    assert "None so far" in _Page(site / "bots" / "amber.html").text


def test_a_match_outside_the_plan_is_shown_apart(
    tmp_path: Path, small: tuple[tuple[Night, ...], tuple[GameRecord, ...]]
) -> None:
    nights, records = small
    stray = replace(records[0], match="amber-vs-nobody")
    site = _publish(tmp_path, nights, [stray, *records[1:]])
    assert "Outside the plan amber vs " in _Page(site / "night-1.html").text
    assert (site / "matches" / "1-amber-vs-nobody.html").is_file()


def test_the_first_page_of_twenty_bots_stays_light(tmp_path: Path) -> None:
    site = _publish(tmp_path, *random_league(Random(9), bots=NAMES, nights=1, deals=1))
    assert (site / "index.html").stat().st_size < 150_000


# the same league, the same bytes


def test_the_order_of_records_and_nights_changes_no_byte(tmp_path: Path) -> None:
    nights, records = sample_league()
    shuffled = list(records)
    Random(1).shuffle(shuffled)
    assert _bytes(_publish(tmp_path / "a", nights, records)) == _bytes(_publish(tmp_path / "b", nights[::-1], shuffled))


# hostile text


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_authors_details_and_reasons_are_shown_and_do_nothing(text: str, tmp_path: Path) -> None:
    nights, records = random_league(Random(3), nights=1, deals=1, bots=("birch", text))
    night = replace(
        nights[0],
        bots=tuple(BotEntry(bot.name, text + "\ud800", bot.version) for bot in nights[0].bots),
        voids=(VoidGame(text, (text,)),),
    )
    seat = next(seat for seat, holder in enumerate(records[0].seats) if holder.bot == text)
    said = replace(records[0].moves[0], comment=text)
    faulty = replace(records[0], moves=(said, *records[0].moves[1:]), faults=(Fault(seat, 3, FaultKind.CRASH, text),))
    site = _publish(tmp_path, [night], [faulty, *records[1:]])
    harmless = re.sub("[\u202e\x1b]", lambda char: char[0].encode("unicode_escape").decode(), text)
    for path in site.rglob("*.html"):
        page = _Page(path)
        assert page.tags.count("img") == (path.parent.name == "bots")  # the badge
        assert page.tags.count("script") == len(SCRIPT.findall(path.read_text()))
        assert harmless in page.text
        assert not re.search("[\u202e\x1b]", path.read_text(encoding="utf-8"))
    files = [path for path in site.rglob("*") if path.is_file()]
    assert all(re.fullmatch(r"[a-z0-9_.~-]+", path.name) for path in files)
    assert not re.search(r"(^|,)=", (site / "standings.csv").read_text(), re.MULTILINE)


def test_accents_in_a_name_do_not_pile_up_into_other_lines(tmp_path: Path) -> None:
    nights, records = random_league(Random(3), nights=1, deals=1, bots=("amber", "birch"))
    bots = tuple(replace(bot, author="a" + 9 * "\u0301") for bot in nights[0].bots)
    site = _publish(tmp_path, [replace(nights[0], bots=bots)], records)
    pages = [path.read_text(encoding="utf-8") for path in site.rglob("*.html")]
    assert 4 * "\u0301" in "".join(pages)
    assert not any(5 * "\u0301" in page for page in pages)


def test_a_very_long_text_is_cut(tmp_path: Path) -> None:
    nights, records = random_league(Random(3), nights=1, deals=1, bots=("amber", "birch"))
    night = replace(nights[0], voids=(VoidGame("night 1/x/0/r0", ("x" * 100_000,)),))
    assert (_publish(tmp_path, [night], records) / "night-1.html").stat().st_size < 20_000


@given(st.text(max_size=20), st.text(max_size=20))
def test_different_names_have_different_harmless_files(one: str, other: str) -> None:
    assert re.fullmatch(r"[a-z0-9_~-]*", page_name(one))
    assert (page_name(one) == page_name(other)) == (one == other)


def test_a_bots_own_name_is_the_name_of_its_page() -> None:
    assert page_name("mc_rollout-2") == "mc_rollout-2"


# replacing a site


def test_an_old_site_is_replaced_as_a_whole_and_nothing_is_left_beside_it(
    tmp_path: Path, small: tuple[tuple[Night, ...], tuple[GameRecord, ...]]
) -> None:
    _publish(tmp_path, *sample_league())
    site = _publish(tmp_path, *small)
    assert not (site / "night-2.html").exists()
    assert not (site / "bots" / "ember.html").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_publish_that_fails_leaves_the_old_site_and_nothing_beside_it(
    tmp_path: Path, small: tuple[tuple[Night, ...], tuple[GameRecord, ...]]
) -> None:
    nights, records = small
    before = _bytes(_publish(tmp_path, nights, records))
    broken = replace(records[0], moves=(PlayedMove(0, "*<ROYG", 1.0),))
    with pytest.raises(RecordError, match=re.escape(records[0].id)):
        _publish(tmp_path, nights, [broken, *records[1:]])
    assert _bytes(tmp_path / "site") == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_what_a_killed_publish_left_is_removed_by_the_next(
    tmp_path: Path, small: tuple[tuple[Night, ...], tuple[GameRecord, ...]]
) -> None:
    leftover = tmp_path / ".treelings-publish-site-abcd1234"
    (leftover / "new" / "bots").mkdir(parents=True)
    other = tmp_path / ".treelings-publish-othersite-abcd1234"
    other.mkdir()
    _publish(tmp_path, *small)
    assert not leftover.exists()
    assert other.exists()


def test_a_link_to_the_site_stays_a_link(
    tmp_path: Path, small: tuple[tuple[Night, ...], tuple[GameRecord, ...]]
) -> None:
    (tmp_path / "www").mkdir()
    (tmp_path / "site").symlink_to(tmp_path / "www", target_is_directory=True)
    _publish(tmp_path, *small)
    assert (tmp_path / "site").is_symlink()
    assert (tmp_path / "www" / "index.html").is_file()


def test_a_folder_that_is_no_site_is_refused_and_kept(
    tmp_path: Path, small: tuple[tuple[Night, ...], tuple[GameRecord, ...]]
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="holds no treelings site"):
        _publish(tmp_path, *small)
    (tmp_path / "site" / "league.json").write_text(json.dumps({"format": "football/1"}))
    with pytest.raises(UsageError, match="holds no treelings site"):
        _publish(tmp_path, *small)
    assert (tmp_path / "site" / "thesis.txt").read_text() == "years of work"


def test_a_site_with_files_of_somebody_else_in_it_is_refused_and_kept(
    tmp_path: Path, small: tuple[tuple[Night, ...], tuple[GameRecord, ...]]
) -> None:
    site = _publish(tmp_path, *small)
    (site / ".git").mkdir()
    with pytest.raises(UsageError, match=r"'\.git', which is no part of a site"):
        _publish(tmp_path, *small)
    assert (site / ".git").is_dir()


def test_a_file_in_place_of_the_site_is_refused(
    tmp_path: Path, small: tuple[tuple[Night, ...], tuple[GameRecord, ...]]
) -> None:
    (tmp_path / "site").write_text("")
    with pytest.raises(UsageError, match="expected a folder to publish to, got a file"):
        _publish(tmp_path, *small)


def test_a_folder_that_cannot_be_made_is_an_error_that_says_why(
    tmp_path: Path, small: tuple[tuple[Night, ...], tuple[GameRecord, ...]]
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RefereeError, match=r"site: cannot publish there: .*file"):
        _publish(tmp_path / "file", *small)


def test_a_record_of_no_night_is_refused(
    tmp_path: Path, small: tuple[tuple[Night, ...], tuple[GameRecord, ...]]
) -> None:
    nights, records = small
    with pytest.raises(UsageError, match="night None is none of league 'thursday'"):
        _publish(tmp_path, nights, [replace(records[0], night=None)])
    assert not (tmp_path / "site").exists()


# views of a bot


def test_a_bots_games_are_lettered_as_its_standing_counts_them() -> None:
    nights, records = sample_league()
    shown = overview("thursday", nights, records)
    for bot in shown.bots.values():
        assert bot.standing is not None
        letters = [letter for entry in bot.matches for letter in entry.outcomes]
        assert (letters.count("W"), letters.count("T"), letters.count("L")) == (
            bot.standing.wins, bot.standing.ties, bot.standing.losses,
        )  # fmt: skip
        assert len(bot.faults) == bot.standing.faults


def test_a_bots_versions_name_the_nights_they_played() -> None:
    nights, records = sample_league()
    bot = overview("thursday", nights, records).bots["amber"]
    assert [played for _, played in bot.versions] == [(1,), (2,)]
    again = replace(nights[1], bots=nights[0].bots)
    same = [
        replace(record, seats=tuple(SeatHolder(seat.bot, "sha256:0") for seat in record.seats)) for record in records
    ]
    assert [played for _, played in overview("thursday", [nights[0], again], same).bots["amber"].versions] == [(1, 2)]


# the drawing


@given(st.integers(2, 5), st.integers(0, 60), st.randoms(use_true_random=False))
def test_columns_that_are_drawn_as_scoring_add_up_to_the_scores(players: int, turns: int, rng: Random) -> None:
    state = State.deal(derive_deck(rng.randbytes(32), "drawing"), players)
    for _ in range(turns):
        if state.over:
            break
        state.play(rng.choice(state.legal_moves()))
    flags = state.scoring()
    assert state.scores() == tuple(
        sum(height for height, scores in zip(state.heights(seat), flags[seat], strict=True) if scores)
        for seat in range(players)
    )
    drawing = draw(state, NAMES[:players], state.scores())
    assert [stand.seat for stand in drawing.stands] == list(reversed(range(players)))
    assert "".join(column.guild for column in drawing.columns) == "".join(reversed_rows(state))
    assert all(0 <= column.x < drawing.wide and 0 < column.y < drawing.ground for column in drawing.columns)


def reversed_rows(state: State) -> list[str]:
    return [state.rows[seat] for seat in reversed(range(state.players))]


@given(st.text(max_size=60), st.integers(2, 5))
def test_a_name_in_a_drawing_is_printable_and_no_wider_than_its_seat(name: str, players: int) -> None:
    state = State.deal(derive_deck(bytes(32), "demo/0"), players)
    for stand in draw(state, [name] * players, None).stands:
        assert stand.label.isprintable()
        assert 8 * len(stand.label) <= stand.wide + 24


def test_a_drawing_names_the_bot_of_each_seat_in_full_where_it_was_cut(tmp_path: Path) -> None:
    long = "grove-of-the-very-longest-name__"
    nights, records = random_league(Random(3), nights=1, deals=1, bots=("amber", long))
    text = (_publish(tmp_path, nights, records) / "matches" / f"1-{records[0].match}.html").read_text()
    assert re.search(r'<text class="bot"[^>]*>amber</text><text class="seat"[^>]*>seat 0: \d+</text>', text)
    assert re.search(rf'<text class="bot"[^>]*>grove-of-[^<]*…<title>{long}</title></text>', text)


def test_standings_say_which_table_sizes_they_put_together(site: Path, tmp_path: Path) -> None:
    for name in ("index.html", "night-1.html"):
        assert "Tables of 2 and 4 seats together" in _Page(site / name).text
    nights, records = random_league(Random(3), nights=1, deals=1, max_tables=2, seats=(3,))
    one_size = _publish(tmp_path, nights, records)
    assert all("seats together" not in _Page(one_size / name).text for name in ("index.html", "night-1.html"))


def test_a_drawing_says_in_words_what_it_shows() -> None:
    state = State.deal(derive_deck(bytes(32), "demo/0"), 2)
    assert draw(state, ("amber", "birch"), None).words == (
        "amber on seat 0: yellow 1 scores, purple 1 scores, orange 1 scores; "
        "birch on seat 1: red 1 scores, yellow 1 scores, blue 1 scores"
    )
