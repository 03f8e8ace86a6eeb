"""The pages as HTML: the template environment and one function a page."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final
from uuid import NAMESPACE_OID, uuid5

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from referee.errors import RecordError
from referee.model import BotEntry, Fault, FaultKind, GameRecord, PlayedMove, by_reasons
from referee.publish import charts
from referee.publish.bots import BotFault, BotView
from referee.publish.nights import Match, NightView, deal_number, game_number
from referee.publish.overview import Overview
from referee.publish.paces import Pace
from referee.publish.replays import replays
from referee.publish.treeline import CARD_HEIGHT, COLUMN_WIDTH, Treeline, draw
from referee.ratings import SeatEffect
from referee.records import states
from referee.standings import RANKING_RULES, margins
from referee.text import printable
from treelings import GUILD_NAMES, GUILDS, State, TreelingsError

_LONGEST_TEXT: Final = 2_000
_BADGE_LEFT: Final = 80
_BADGE_LETTER: Final = 7.5
_ENDINGS: Final = {1: "st", 2: "nd", 3: "rd"}


class Pages:
    """Renders the pages of one league; each call gives a whole document."""

    def __init__(self, league: Overview) -> None:
        env = Environment(
            loader=PackageLoader("referee.publish"),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_shown,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        env.filters.update(
            percent=_percent, signed=_signed, seconds=_seconds, thousands=_thousands, ordinal=_ordinal,
            when=_when, short=_short, heat=_heat, words=_words, together=_together,
            breakable=_breakable, elo=_elo, ms=_ms, day=_day, urn=_urn, strongest=_strongest,
        )  # fmt: skip
        env.globals.update(
            league=league, card_height=CARD_HEIGHT, column_width=COLUMN_WIDTH, ranking_rules=RANKING_RULES,
            guilds=tuple(zip(GUILDS, GUILD_NAMES, strict=True)), deal_number=deal_number, game_number=game_number,
            charts=charts,
        )  # fmt: skip
        env.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
        self._env = env
        self._league = league

    def index(self, paces: Mapping[str, Pace]) -> str:
        """The season, with each bot's pace in it: index.html."""
        return self._env.get_template("index.html").render(root="", paces=paces)

    def night(self, view: NightView, paces: Mapping[str, Pace]) -> Iterator[str]:
        """One night, with each bot's pace in it: night-<n>.html, in parts, since it names every match."""
        changes = self._league.changes.get(view.night.number, ())
        there = {bot.name for bot in view.night.bots}
        played = {row.bot for row in view.rows}
        away = {bot: why for bot, why in view.night.sat_out().items() if bot not in played}
        away |= {bot.name: "" for bot in self._before(view) if bot.name not in there}
        return self._env.get_template("night.html").generate(
            root="", view=view, paces=paces, changes=changes, away=away, voids=by_reasons(view.night.voids)
        )

    def feed(self) -> str:
        """The nights, of which there is one at least, as an Atom feed (RFC 4287): feed.xml.

        Its links are relative, and its ids follow from the nights' commitments: it needs no address of the site.
        """
        updated = max(view.night.finished or view.night.opened for view in self._league.nights)
        return self._env.get_template("feed.xml").render(updated=updated)

    def badge(self, bot: BotView) -> str:
        """A bot's rank and Elo as a small picture: badges/<name>.svg."""
        text = "no game yet"
        if bot.standing and bot.rating:
            text = f"{_ordinal(bot.standing.rank)} of {len(self._league.rows)} · Elo {_elo(bot.rating.elo)}"
        return self._env.get_template("badge.svg").render(
            bot=bot, text=text, left=_BADGE_LEFT, right=12 + _BADGE_LETTER * len(text)
        )

    def bot(self, bot: BotView, pace: Pace | None) -> str:
        """One bot, with the pace of all its moves, None before the first: bots/<name>.html."""
        return self._env.get_template("bot.html").render(root="../", bot=bot, pace=pace, alike=_alike)

    def match(self, match: Match) -> str:
        """One match with its games, their moves included: matches/<night>-<match>.html.

        Raises RecordError if a record breaks the rules.
        """
        deals = [(number, tuple(games)) for number, games in groupby(match.games, deal_number)]
        return self._env.get_template("match.html").render(
            root="../", match=match, deals=deals, drawn=_drawn, rounds=_rounds, thinking=_thinking,
            fault_of=_fault_of, margins_of=_margins, mean_margins=_mean_margins, replays=replays,
        )  # fmt: skip

    def _before(self, view: NightView) -> Sequence[BotEntry]:
        """The bots of the night before."""
        nights = [each.night for each in self._league.nights]
        at = nights.index(view.night)
        return nights[at - 1].bots if at else ()


def _shown(value: object) -> object:
    """Every text that reaches a page: bounded, and with nothing in it that turns the line around."""
    return printable(value, _LONGEST_TEXT) if type(value) is str else value


def _drawn(games: Sequence[GameRecord]) -> list[tuple[GameRecord, Treeline]]:
    """The games of a deal, each with its final table; all of them have their ground at one height."""
    finals = [_final(game) for game in games]
    highest = max(max(final.heights(seat)) for final in finals for seat in range(final.players))
    return [
        (game, draw(final, [holder.bot for holder in game.seats], game.scores, highest))
        for game, final in zip(games, finals, strict=True)
    ]


def _final(game: GameRecord) -> State:
    try:
        *_, final = states(game)
    except TreelingsError as error:
        raise RecordError(f"record {game.id!r} of match {game.match!r}: {error}") from error
    return final


def _rounds(game: GameRecord) -> Iterator[Sequence[PlayedMove]]:
    players = len(game.seats)
    for start in range(0, len(game.moves), players):
        yield game.moves[start : start + players]


def _thinking(game: GameRecord, seat: int) -> float:
    return sum(played.ms for played in game.moves if played.seat == seat and not played.by_referee)


def _margins(game: GameRecord) -> list[float] | None:
    """By seat, as standings count them; None after a forfeit that ended the game."""
    ahead = margins(game)
    return None if ahead is None else [float(margin) for margin in ahead]


def _mean_margins(games: Sequence[GameRecord]) -> list[tuple[str, float]]:
    """Each bot's over the rotations of a deal, the highest first; empty unless every one of them was played out."""
    played = [ahead for game in games if (ahead := _margins(game)) is not None]
    if len(played) < len(games[0].seats):
        return []
    sums: defaultdict[str, float] = defaultdict(float)
    for game, ahead in zip(games, played, strict=True):
        for holder, margin in zip(game.seats, ahead, strict=True):
            sums[holder.bot] += margin
    return sorted(((bot, total / len(games)) for bot, total in sums.items()), key=lambda each: (-each[1], each[0]))


def _fault_of(game: GameRecord, seat: int) -> Fault | None:
    return next((fault for fault in game.faults if fault.seat == seat), None)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _signed(number: float) -> str:
    text = f"{number:+.2f}"
    return "0.00" if text in ("+0.00", "-0.00") else text.replace("-", "−")


def _elo(number: float) -> str:
    return f"{whole:+,}".replace("-", "−") if (whole := round(number)) else "0"


def _strongest(effects: Sequence[SeatEffect]) -> SeatEffect:
    return max(effects, key=lambda effect: (abs(effect.elo), -effect.seat))


def _urn(view: NightView, kind: str) -> str:
    """A name for all times that is nobody else's: nobody has the same commitment."""
    return uuid5(NAMESPACE_OID, f"treelings {kind} {view.night.commitment}").urn


def _ms(ms: float) -> str:
    """As many digits as tell fast bots apart: 0.42 ms, 3.1 ms, 250 ms, 1.20 s."""
    if ms >= 1_000:
        return _seconds(ms)
    return f"{ms:.{2 if ms < 1 else 1 if ms < 100 else 0}f} ms"


def _seconds(ms: float) -> str:
    return f"{ms / 1000:,.2f} s"


def _thousands(number: int) -> str:
    return f"{number:,}"


def _ordinal(number: int) -> str:
    return f"{number}{'th' if number % 100 in (11, 12, 13) else _ENDINGS.get(number % 10, 'th')}"


def _when(stamp: str) -> str:
    return stamp[:16].replace("T", " ") + " UTC"


def _day(stamp: str) -> str:
    return stamp[:10]


def _short(version: str) -> str:
    return version.removeprefix("sha256:")[:8]


def _heat(share: float) -> int:
    return min(10, max(0, int(share * 10 + 0.5)))


def _together(numbers: Sequence[int]) -> str:
    *first, last = map(str, numbers)
    return f"{', '.join(first)} and {last}" if first else last


def _breakable(name: str) -> Markup:
    """A bot's name that is broken after "-" and "_" where it has to be."""
    return Markup(re.sub("([-_]+)", r"\1<wbr>", str(escape(_shown(name)))))  # noqa: S704 - escaped before


def _alike(faults: Sequence[BotFault]) -> list[list[BotFault]]:
    """Faults of the same kind whose details differ in nothing but numbers, together; in the order of the first ones."""
    groups: dict[tuple[FaultKind, str], list[BotFault]] = {}
    for each in faults:
        groups.setdefault((each.fault.kind, re.sub(r"[0-9]+([.,][0-9]+)*", "0", each.fault.detail)), []).append(each)
    return list(groups.values())


def _words(name: str) -> str:
    return name.replace("_", " ")
