"""What the pages say of ratings, form and nights; the feed and the badges."""

import re
from dataclasses import replace
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest

from referee.model import BotEntry, GameRecord, Night, PlayedMove, VoidGame, sits_out
from referee.publish import publish_site
from referee.publish.charts import BAR_WIDTH, elo_chart, whiskers
from referee.publish.nights import changes, game_number
from referee.publish.overview import Overview, overview
from referee.publish.paces import Times
from referee.records import to_json
from tests.support.records import AtHand, random_league
from tests.support.site import sample_league

ATOM = "{http://www.w3.org/2005/Atom}"
UTC = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


@pytest.fixture(scope="module")
def shown() -> Overview:
    return overview("thursday", *sample_league())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    nights, records = sample_league()
    folder = tmp_path_factory.mktemp("published") / "site"
    publish_site(folder, league="thursday", nights=nights, games=AtHand(records))
    return folder


def text_of(path: Path) -> str:
    """What a reader sees, in one line."""
    return " ".join(re.sub("<[^>]*>", " ", path.read_text(encoding="utf-8")).split())


# ratings


def test_the_standings_have_elo_its_interval_and_the_possible_ranks(site: Path, shown: Overview) -> None:
    text = text_of(site / "index.html").replace("−", "-")
    for row in shown.rows:
        rating = shown.season.ratings[row.bot]
        assert f"{rating.elo:+.0f} {rating.low:+.0f} … {rating.high:+.0f}" in text
        assert f"{rating.first_rank}–{rating.last_rank}" in text


def test_marks_are_explained_where_they_are_and_nowhere_else(site: Path, tmp_path: Path) -> None:
    assert "fewer than 30 deals" in text_of(site / "night-1.html")
    assert "fewer than 30 deals" not in text_of(site / "index.html")
    assert "lower bound" not in text_of(site / "index.html")
    nights, records = random_league(Random(3), nights=1, deals=1, bots=("amber", "birch"), fault_chance=0)
    amber = [next(at for at, seat in enumerate(record.seats) if seat.bot == "amber") for record in records]
    won = [replace(record, ranks=(1, 2) if at == 0 else (2, 1)) for record, at in zip(records, amber, strict=True)]
    publish_site(tmp_path / "site", league="x", nights=nights, games=AtHand(won))
    assert "lower bound" in text_of(tmp_path / "site" / "index.html")


def test_a_league_of_several_sizes_has_a_table_of_each(site: Path, shown: Overview) -> None:
    assert list(shown.sizes) == [2, 4]
    text = text_of(site / "index.html")
    assert "2 seats, % Elo 4 seats, % Elo" in text
    assert "At tables of 2, seat" in text
    assert "At tables of 4, seat" in text


def test_intervals_of_a_table_share_one_scale(shown: Overview) -> None:
    bars = whiskers(shown.season)
    ratings = shown.season.ratings
    assert min(bar.low for bar in bars.values()) == 5
    assert max(bar.high for bar in bars.values()) == BAR_WIDTH - 5
    assert sorted(bars, key=lambda bot: bars[bot].at) == sorted(bars, key=lambda bot: ratings[bot].elo)
    assert all(bar.low <= bar.at <= bar.high for bar in bars.values())


def test_a_chart_has_a_point_for_each_night_and_round_lines(shown: Overview) -> None:
    nights = shown.bots["amber"].nights
    chart = elo_chart(nights)
    assert [point.night.number for point in chart.points] == [1, 2]
    assert [point.night.new for point in chart.points] == [False, True]
    assert all(point.high < point.y < point.low for point in chart.points)  # from the top down
    assert 0.0 in {line.elo for line in chart.lines}
    assert all(chart.lines[-1].y <= point.high and point.low <= chart.lines[0].y for point in chart.points)


def test_pairs_say_how_many_deals_they_met_in(site: Path, shown: Overview) -> None:
    cells = re.findall(
        r'<td class="h\d+">(?:<b>(\d+)\*</b>|(\d+))<small>(\d+)</small></td>', (site / "index.html").read_text()
    )
    assert len(cells) == len(shown.duels)
    assert sorted(int(deals) for *_, deals in cells) == sorted(duel.deals for duel in shown.duels.values())
    assert sum(bool(sure) for sure, *_ in cells) == sum(bool(duel.verdict) for duel in shown.duels.values())


def test_rings_beyond_chance_are_named(tmp_path: Path) -> None:
    bots = ("amber", "birch", "cedar")
    nights, records = random_league(Random(3), nights=1, deals=6, bots=bots, fault_chance=0)

    def ring(record: GameRecord) -> GameRecord:
        first, second = (bots.index(seat.bot) for seat in record.seats)
        return replace(record, ranks=(1, 2) if second == (first + 1) % 3 else (2, 1))

    publish_site(tmp_path / "site", league="x", nights=nights, games=AtHand([ring(record) for record in records]))
    words = "amber beats birch , birch beats cedar , cedar beats amber"
    assert words in text_of(tmp_path / "site" / "index.html")
    publish_site(tmp_path / "site", league="x", nights=nights, games=AtHand(records))
    assert "No three bots beat each other in a ring" in text_of(tmp_path / "site" / "index.html")


# a bot


def test_a_bots_best_and_worst_game_lead_to_the_game_itself(site: Path, shown: Overview) -> None:
    bot = shown.bots["amber"]
    page = (site / "bots" / "amber.html").read_text()
    for result in (bot.best, bot.worst):
        assert result is not None
        assert f"../matches/{result.match.page}.html#game={game_number(result.game)}" in page
    played = [
        own - (sum(game.scores) - own) / (len(game.scores) - 1)
        for view in shown.nights
        for match in view.matches
        for game in match.games
        for holder, own in zip(game.seats, game.scores or (), strict=bool(game.scores))
        if holder.bot == "amber" and game.scores
    ]
    assert bot.best is not None
    assert bot.worst is not None
    assert (bot.best.margin, bot.worst.margin) == (max(played), min(played))


def test_links_to_a_bots_games_lead_to_these_where_others_of_the_match_are_missing(tmp_path: Path) -> None:
    nights, records = random_league(Random(3), nights=1, deals=3, bots=("amber", "birch"), fault_chance=0)
    there = [record for record in records if (record.deal, record.rotation) != (records[0].deal, 0)]
    slow = replace(there[-1], moves=tuple(replace(move, ms=900.0) for move in there[-1].moves))
    publish_site(tmp_path / "site", league="x", nights=nights, games=AtHand([*there[:-1], slow]))
    bot = overview("x", nights, there).bots["amber"]
    assert bot.best is not None
    assert bot.worst is not None
    page = (tmp_path / "site" / "bots" / "amber.html").read_text()
    seat = next(at for at, holder in enumerate(slow.seats) if holder.bot == "amber")
    assert re.findall(r"#game=(\d+)(?:&amp;turn=(\d+))?", page) == [
        (str(game_number(slow)), str(seat)),
        (str(game_number(bot.best.game)), ""),
        (str(game_number(bot.worst.game)), ""),
    ]


def test_a_bots_times_are_those_of_its_own_moves() -> None:
    nights, (record, *_) = random_league(Random(3), nights=1, deals=1, bots=("amber", "birch"), fault_chance=0)
    seat = next(at for at, holder in enumerate(record.seats) if holder.bot == "amber")
    moves = [move if move.seat != seat else replace(move, ms=2.0) for move in record.moves]
    own = [at for at, move in enumerate(moves) if move.seat == seat]
    moves[own[3]] = replace(moves[own[3]], ms=900.0)
    moves[own[5]] = PlayedMove(seat, moves[own[5]].move, 5_000.0, by_referee=True)
    timed = replace(record, moves=tuple(moves))
    (match,) = overview("x", nights, [timed]).nights[0].matches
    times = Times()
    times.add(match, [to_json(timed)])
    pace = times.paces()["amber"]
    assert (pace.median_ms, pace.longest_ms, pace.longest.turn) == (2.0, 900.0, own[3])


# a night


def test_a_night_tells_what_changed_since_the_one_before(site: Path, shown: Overview) -> None:
    first, second = shown.nights
    assert 1 not in shown.changes
    found = shown.changes[2]
    assert [change.bot for change in found] == [row.bot for row in second.rows]
    ranks = {row.bot: row.rank for row in first.rows}
    assert all(change.climbed == ranks[change.bot] - change.rank for change in found)
    assert {change.news for change in found} == {"new version"}
    assert "Since night 1" in text_of(site / "night-2.html")
    assert "Since night" not in text_of(site / "night-1.html")


def _with_bots(night: Night, records: list[GameRecord], *bots: str) -> tuple[Night, list[GameRecord]]:
    """The night as if these bots alone had been in it, each as its number says: "amber 1"."""
    entries = tuple(BotEntry(bot.name, bot.author, bot.version) for bot in night.bots if bot.name in bots)
    return replace(night, bots=entries), [
        record for record in records if {seat.bot for seat in record.seats} <= set(bots)
    ]


def test_new_bots_those_that_are_back_and_those_that_stayed_away_are_named(tmp_path: Path) -> None:
    nights, records = random_league(Random(2), nights=3, deals=1, bots=("amber", "birch", "cedar"), fault_chance=0)
    told, kept = [], []
    for night, bots in zip(nights, (("amber", "birch"), ("amber", "cedar"), ("amber", "birch")), strict=True):
        entry, games = _with_bots(night, [each for each in records if each.night == night.number], *bots)
        told.append(entry)
        kept += games
    shown = overview("x", told, kept)
    assert {change.bot: change.news for change in shown.changes[2]} == {"amber": "new version", "cedar": "new bot"}
    assert {change.bot: change.news for change in shown.changes[3]} == {"amber": "new version", "birch": "back again"}
    assert changes(shown.nights[0], ())[0].news == "new bot"
    publish_site(tmp_path / "site", league="x", nights=told, games=AtHand(kept))
    assert "Not there this night: cedar ." in text_of(tmp_path / "site" / "night-3.html")


def test_bots_that_sat_a_night_out_are_named_with_the_reason_and_those_that_played_later_are_not(
    tmp_path: Path,
) -> None:
    (night,), records = random_league(
        Random(2), nights=1, deals=1, bots=("amber", "birch", "cedar", "dogwood"), fault_chance=0
    )
    voids = (
        VoidGame("night 1/amber-vs-cedar/0/r0", ("cedar sits out: no <b>runtime</b> \u202ehere",)),
        VoidGame("night 1/birch-vs-dogwood/0/r0", ("birch sits out: no runtime node here; dogwood sits out: gone",)),
        VoidGame("night 1/amber-vs-birch/0/r0", ("the engine is gone",)),
    )
    played = [record for record in records if {seat.bot for seat in record.seats} == {"amber", "dogwood"}]
    publish_site(tmp_path / "site", league="x", nights=[replace(night, voids=voids)], games=AtHand(played))
    assert (
        "Not there this night: birch ( no runtime node here ), cedar ( no &lt;b&gt;runtime&lt;/b&gt; \\u202ehere )."
        in text_of(tmp_path / "site" / "night-1.html")
    )


def test_of_many_bots_that_were_not_there_the_first_are_named_and_all_counted(tmp_path: Path) -> None:
    names = [f"bot{number}" for number in range(50)]
    nights, _ = random_league(Random(2), nights=1, deals=1, bots=("amber", "birch"))
    bots = tuple(BotEntry(name, "Ann", nights[0].bots[0].version) for name in names)
    voids = (VoidGame("x/0/r0", (sits_out(dict.fromkeys(names, "x" * 10_000)),)),)
    publish_site(tmp_path / "site", league="x", nights=[replace(nights[0], bots=bots, voids=voids)], games=AtHand(()))
    told = text_of(tmp_path / "site" / "night-1.html").partition("Not there this night: ")[2].partition(" more.")[0]
    assert re.findall("bot[0-9]+ ", told) == [f"bot{number} " for number in range(20)]
    assert told.endswith(") and 30")
    assert len(told) < 50_000


# the feed and the badges


def test_the_feed_has_an_entry_for_each_night_with_what_atom_asks_for(site: Path) -> None:
    feed = ElementTree.parse(site / "feed.xml").getroot()
    assert feed.tag == f"{ATOM}feed"
    entries = feed.findall(f"{ATOM}entry")
    assert len(entries) == 2
    for each in (feed, *entries):
        assert each.findtext(f"{ATOM}title")
        assert re.fullmatch(UTC, each.findtext(f"{ATOM}updated") or "")
        assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", each.findtext(f"{ATOM}id") or "")
    assert feed.findtext(f"{ATOM}author/{ATOM}name") == "thursday"
    assert len({each.findtext(f"{ATOM}id") for each in (feed, *entries)}) == 3
    assert all((site / link.attrib["href"]).is_file() for link in feed.iter(f"{ATOM}link"))


def test_a_nights_name_in_the_feed_stays_when_the_night_goes_on(tmp_path: Path) -> None:
    nights, records = sample_league()

    def ids(number: int) -> list[str | None]:
        publish_site(tmp_path / "site", league="thursday", nights=nights[:number], games=AtHand([
            record for record in records if (record.night or 0) <= number
        ]))  # fmt: skip
        feed = ElementTree.parse(tmp_path / "site" / "feed.xml").getroot()
        return [each.findtext(f"{ATOM}id") for each in (feed, *feed.findall(f"{ATOM}entry"))]

    one, two = ids(1), ids(2)
    assert one == [two[0], two[2]]


def test_there_is_no_feed_before_the_first_night(tmp_path: Path) -> None:
    publish_site(tmp_path / "site", league="thursday", nights=(), games=AtHand(()))
    assert not (tmp_path / "site" / "feed.xml").exists()
    assert "feed.xml" not in (tmp_path / "site" / "index.html").read_text()


def test_each_bot_has_a_badge_with_its_rank_and_elo(site: Path, shown: Overview) -> None:
    for row in shown.rows:
        badge = ElementTree.parse(site / "badges" / f"{row.bot}.svg").getroot()
        words = badge.attrib["aria-label"]
        assert words.startswith(f"{row.bot}: {row.rank}")
        assert words.replace("−", "-").endswith(f"Elo {shown.season.ratings[row.bot].elo:+.0f}")


@pytest.mark.parametrize("text", ["<script>", "]]>&", '"><x', "\x00\x1b\ufffe"])
def test_hostile_names_leave_feed_and_badges_well_formed(tmp_path: Path, text: str) -> None:
    nights, records = random_league(Random(3), nights=1, deals=1, bots=("birch", text))
    publish_site(tmp_path / "site", league="thursday", nights=nights, games=AtHand(records))
    for path in (tmp_path / "site" / "feed.xml", *(tmp_path / "site" / "badges").iterdir()):
        tree = ElementTree.parse(path)
        assert not [each for each in tree.iter() if each.tag.endswith("script")]
