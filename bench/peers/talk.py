"""What a bot is told and answers in JSON, and the sample bot `random` behind it, whichever way that travels."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sample_bots.random.bot import RandomBot
from treelings import Clock, GameStart, Move, State, View

Told = dict[str, Any]

CLOCK: Final = Clock()
_KEPT: Final = 8


def name_of(deal: str) -> str:
    """The name of a deal's game in its first rotation, as a league of ours has it: the bot's dice follow from it."""
    return f"{deal}/r0"


def query(game: str, state: State, history: Sequence[Move]) -> Told:
    """What the seat on turn is asked: all that a query of ours tells (game.proto, Query), and what game it is of."""
    view = View.of(state)
    return {
        "game": game,
        "seat": view.seat,
        "players": view.players,
        "refill": view.refill,
        "turn": view.turn,
        "rows": view.rows,
        "heights": view.heights,
        "market": view.market,
        "unseen": view.unseen,
        "firefly_out": view.firefly_out,
        "above_firefly": view.above_firefly,
        "moves": [move.notation for move in history[-view.players :]],
        "legal": [move.notation for move in view.legal_moves],
        "limit_ms": CLOCK.move_ms,
        "bank_ms": CLOCK.bank_ms,
    }


def view_of(told: Mapping[str, Any], history: tuple[Move, ...]) -> View:
    """What the seat sees, taken as it came; `history` holds all moves so far."""
    return View(
        told["seat"],
        told["turn"],
        told["players"],
        told["refill"],
        tuple(told["rows"]),
        tuple(map(tuple, told["heights"])),
        tuple(told["market"]),
        tuple(told["unseen"]),
        told["above_firefly"],
        told["firefly_out"],
        tuple(map(Move.parse, told["legal"])),
        history,
        told["limit_ms"],
        told["bank_ms"],
    )


class Games:
    """The bot's side: an instance of the bot for each of the last few games."""

    def __init__(self) -> None:
        self._games: dict[str, tuple[RandomBot, list[Move]]] = {}

    def move(self, told: Mapping[str, Any]) -> str:
        """The bot's move, in words."""
        key = f"{told['game']}/{told['seat']}"
        if told["turn"] < told["players"]:
            bot = RandomBot()
            bot.start(GameStart(told["game"], told["seat"], told["players"], told["refill"], CLOCK))
            self._games[key] = (bot, [])
            if len(self._games) > _KEPT:  # nobody need say when a game has ended
                del self._games[next(iter(self._games))]
        bot, history = self._games[key]
        history += map(Move.parse, told["moves"])
        return bot.choose(view_of(told, tuple(history))).notation
