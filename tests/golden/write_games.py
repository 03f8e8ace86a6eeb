"""Writes the golden games from the plain engine: python -m tests.golden.write_games."""

import random
from pathlib import Path

from bench.plain import ORDER, PlainState

LEGEND = """\
# players, refill, deck from the top down
# turn | seat | market | cards face down | of these above the firefly | move | rows afterwards, left to right, \
seat 0 / seat 1 ... | scores if it ended now
# end: turn during which the firefly showed up, scores
"""


def main() -> None:
    folder = Path(__file__).parent / "games"
    for players in range(2, 6):
        for refill in ("start", "end"):
            rng = random.Random(f"{players} {refill}")
            cards = list(ORDER * 18)
            rng.shuffle(cards)
            deck = "".join(cards[:88]) + "!" + "".join(cards[88:])
            (folder / f"{players}-{refill}.txt").write_text(_game(deck, players, refill, rng))
    (folder / "5-start-pass.txt").write_text(_game(passing_deck(), 5, "start", None))


def passing_deck() -> str:
    """A deck for five on which the pile runs out before the last turn, if all take as much as they can.

    The first take brings three cards, every other one five, so the firefly is the first card that seat 0's
    last refill turns up.
    """
    hands = "OYGBPOYGBPOYGBP"
    fives = [ORDER.replace(ORDER[k % 6], "") for k in range(17)]
    cards = hands + "RRRGB" + "ROY" + "".join(fives)
    return cards[:88] + "!" + cards[88:]


def _game(deck: str, players: int, refill: str, rng: random.Random | None) -> str:
    game = PlainState.deal(deck, players, refill)
    lines = [f"{players} {refill} {deck}"]
    while not game.over:
        legal = game.legal_moves()
        move = rng.choice(sorted(legal, key=_as_drawn)) if rng else _greediest(game, legal)
        before = (
            f"{game.turn:2} | {game.seat} | {''.join(sorted(game.market, key=ORDER.index)) or 'empty':5} | "
            f"{len(game.pile) - (game.firefly_turn is None):3} | "
            f"{'out' if '!' not in game.pile else game.pile[::-1].index('!'):>3} | {move:8}"
        )
        game.play(move)
        rows = " / ".join(
            " ".join(f"{guild}{height}" for guild, height in zip(player.row, player.heights(), strict=True))
            for player in game.players
        )
        lines.append(f"{before} | {rows} | {_scores(game)}")
    return LEGEND + "\n".join([*lines, f"end {game.firefly_turn} {_scores(game)}"]) + "\n"


def _as_drawn(move: str) -> tuple[int, list[int], int]:
    """The order that the random games were drawn from: by take, then by what is placed, then by how far left."""
    take, placed = move[0], [ORDER.index(guild) for guild in move[1:] if guild in ORDER]
    return (ORDER + "*-").index(take), placed, len(move[1:].partition(">")[0])


def _greediest(game: PlainState, legal: list[str]) -> str:
    def cards(move: str) -> int:
        return len(game.singles()) if move[0] == "*" else game.market.count(move[0])

    return max(legal, key=cards)


def _scores(game: PlainState) -> str:
    return " ".join(map(str, game.scores()))


if __name__ == "__main__":
    main()
