"""How long bots thought: gathered match by match, so that nobody has to hold the moves of a whole league."""

import json
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Self

from referee.model import GameRecord
from referee.publish.nights import Match


@dataclass(frozen=True, slots=True)
class Place:
    """A turn of a game of a match."""

    match: Match
    game: GameRecord
    turn: int


@dataclass(frozen=True, slots=True)
class Pace:
    """What a bot's own moves took: half of them at most `median_ms`, the longest `longest_ms`, at this place."""

    median_ms: float
    longest_ms: float
    longest: Place


class Times:
    """What the moves of bots took; those that the referee made for them do not count."""

    def __init__(self) -> None:
        self._ms: defaultdict[str, array[float]] = defaultdict(lambda: array("d"))
        self._longest: dict[str, tuple[float, Place]] = {}

    @classmethod
    def together(cls, several: Iterable[Self]) -> Self:
        """All that these hold, the first of them first."""
        whole = cls()
        for each in several:
            for bot, ms in each._ms.items():
                whole._ms[bot] += ms
            for bot, longest in each._longest.items():
                whole._note(bot, *longest)
        return whole

    def add(self, match: Match, lines: Sequence[str]) -> None:
        """Count a match, whose records these are, in the order of its games."""
        for game, line in zip(match.games, lines, strict=True):
            for turn, move in enumerate(json.loads(line)["moves"]):
                if "by" not in move:
                    bot, ms = game.seats[move["seat"]].bot, move["ms"]
                    self._ms[bot].append(ms)
                    self._note(bot, ms, Place(match, game, turn))

    def paces(self) -> Mapping[str, Pace]:
        """By bot; of those that made a move."""
        return {bot: Pace(median(self._ms[bot]), *longest) for bot, longest in self._longest.items()}

    def _note(self, bot: str, ms: float, place: Place) -> None:
        """Of equally long ones the first is kept."""
        if bot not in self._longest or ms > self._longest[bot][0]:
            self._longest[bot] = ms, place
