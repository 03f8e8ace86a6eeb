"""What the viewer of a match's page is given: the match's games, each as its deck and moves, as values for JSON."""

from collections.abc import Sequence
from typing import Final

from referee.model import PlayedMove
from referee.publish.nights import Match, deal_number, game_number
from referee.text import printable

_LONGEST_TEXT: Final = 1_000  # of a fault's detail, as long as a record allows


def replays(match: Match) -> dict[str, object]:
    """The games of a match in the order of its page; static/viewer.js reads it. Texts of bots are printable.

    bots   their names; `seats` of a game are indexes of it
    decks  each once; `deck` of a game is an index of it
    games  `moves` in notation with a space between them, `ms` beside it; `by` are the turns that the referee
           played, `said` comments by turn, `faults` seat, turn, kind and detail; `scores` null after a forfeit
    """
    bots = [printable(bot, _LONGEST_TEXT) for bot in match.bots]
    decks = list(dict.fromkeys(game.deck for game in match.games))
    return {
        "bots": bots,
        "decks": decks,
        "games": [
            {
                "number": game_number(game),
                "deal": deal_number(game),
                "rotation": game.rotation,
                "refill": game.refill,
                "deck": decks.index(game.deck),
                "seats": [match.bots.index(holder.bot) for holder in game.seats],
                "moves": " ".join(played.move for played in game.moves),
                "ms": [_rounded(played.ms) for played in game.moves],
                "by": [turn for turn, played in enumerate(game.moves) if played.by_referee],
                "said": _said(game.moves),
                "faults": [
                    [fault.seat, fault.turn, fault.kind.value, printable(fault.detail, _LONGEST_TEXT)]
                    for fault in game.faults
                ],
                "scores": game.scores,
            }
            for game in match.games
        ],
    }


def _said(moves: Sequence[PlayedMove]) -> dict[int, str]:
    return {turn: printable(played.comment, _LONGEST_TEXT) for turn, played in enumerate(moves) if played.comment}


def _rounded(ms: float) -> float:
    """As it is shown: to a tenth below ten milliseconds, else to a whole one."""
    return round(ms, 1) if ms < 10 else round(ms)
