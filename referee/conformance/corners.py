"""The corners of the protocol that have to do with games: starts, queries, moves, time, ends, one game after another.

Each is a function that drives the bot through one corner and says what it saw, or raises Wrong.
"""

from typing import Final

from referee.conformance.decks import MOST_MOVES, TO_A_PASS
from referee.conformance.desk import Desk
from referee.conformance.table import fewest_cards, most_cards
from referee.conformance.talk import Ended, Late
from treelings import Clock
from treelings.cards import MAX_PLAYERS, MIN_PLAYERS
from treelings.rules import REFILLS

_TRIES: Final = 3  # of an answer that the machine, too, may make late
_AT_ONCE_MS: Final = 500


async def starts(desk: Desk) -> str:
    """Nothing before Start, then one Ready, at every size of table."""
    for players in range(MIN_PLAYERS, MAX_PLAYERS + 1):
        table = await desk.table(players, players - 1, "end" if players % 2 else "start")
        if players == MIN_PLAYERS:
            await table.talk.silence(desk.pace.silence_ms)
        await table.begin()
        if players == MIN_PLAYERS:
            await table.talk.silence(desk.pace.silence_ms)
        await table.close()
    return "one Ready to each Start, and nothing before it"


async def queries(desk: Desk) -> str:
    """One Reply to a Query, which names its turn."""
    table = await desk.table(4, 2)
    await table.begin()
    await table.ask()
    turn = table.state.turn
    await table.answer()
    await table.talk.silence(desk.pace.silence_ms)
    await table.play(2)
    await table.close()
    return f"one Reply, to turn {turn}, and none that nobody asked for"


async def games(desk: Desk, players: int) -> str:
    """Whole games with both refills, from the first and from the last seat."""
    moves = 0
    for seat, refill in zip((0, players - 1), REFILLS, strict=True):
        table = await desk.table(players, seat, refill)
        await table.begin()
        await table.play()
        await table.close("festival")
        moves += table.state.turn
    return f"2 games to their end, {moves} moves, both refills"


async def passes(desk: Desk) -> str:
    """A market that is empty, with nothing left to fill it."""
    table = await desk.table(5, 4, deck=TO_A_PASS, others=most_cards)
    await table.begin()
    await table.play()
    await table.close("festival")
    return f"passed in turn {table.state.turn - 1}, with nothing left to take"


async def long_games(desk: Desk) -> str:
    """A game that goes on for as long as the others can make it, told in pieces."""
    table = await desk.table(2, 1, others=fewest_cards)
    await table.begin()
    await table.play()
    await table.close("festival")
    return f"{table.state.turn} moves"


async def most_moves(desk: Desk) -> str:
    """The Query with more legal moves than any other, and the first of a game."""
    table = await desk.table(2, 0, deck=MOST_MOVES)
    await table.begin()
    legal = len(table.state.legal_moves())
    await table.play(2)
    await table.close()
    return f"chose among {legal} legal moves, told in {table.largest_query:,} bytes"


async def short_of_time(desk: Desk) -> str:
    """An answer when the bank is nearly empty, whatever the limit of a move."""
    pace = desk.pace
    clock = Clock(pace.clock.startup_ms, pace.clock.move_ms, pace.tight_ms, 0)
    for tries_left in reversed(range(_TRIES)):
        table = await desk.table(2, 0, clock=clock, name="short of time")
        await table.begin()
        try:
            await table.play(1)
        except Late:
            if not tries_left:
                raise
            table.talk.cancel()
        else:
            await table.close()
            break
    return f"answered within {pace.tight_ms:,} ms, all that its bank held"


async def ends(desk: Desk) -> str:
    """Every outcome, also of games that end before the bot is asked anything."""
    for outcome, queries in (("festival", None), ("forfeit", 2), ("void", 1), ("void", 0)):
        table = await desk.table(3, 2)
        await table.begin()
        await table.play(queries)
        await table.end(desk.patience_ms, outcome)
    return "after festival, forfeit and void it ended the stream with status OK and said nothing"


async def next_games(desk: Desk) -> str:
    """Games one after the other, each with other seats: nothing of the last one counts in the next."""
    for players, seat, queries in ((2, 0, 3), (5, 3, 2), (3, 2, 2), (2, 1, 3)):
        table = await desk.table(players, seat, "end" if seat % 2 else "start")
        await table.begin()
        await table.play(queries)
        await table.close()
    return "4 games on one connection, at 2, 5, 3 and 2 seats"


async def broken_off(desk: Desk) -> str:
    """A stream that the referee cancels, waiting for an answer or not, and one that it leaves without End."""
    table = await desk.table(2, 0)
    await table.begin()
    await table.ask()
    table.talk.cancel()
    await desk.still_plays("after one that was cancelled with a Query open")
    table = await desk.table(4, 0)
    await table.begin()
    await table.play(2)
    table.talk.cancel()
    await desk.still_plays("after one that was cancelled between two Queries")
    table = await desk.table(2, 0)
    await table.begin()
    await table.play(1)
    await table.talk.half_close()
    came = await table.talk.receive(desk.patience_ms)
    if not isinstance(came, Ended):
        raise table.talk.got("the end of the stream, after the referee has left it without End", came)
    await desk.still_plays("after one that the referee left without End")
    return "played on after games that were cancelled or left"


async def two_at_once(desk: Desk) -> str:
    """A second stream while a game goes on: side by side, or one after the other, but never one for the other."""
    first = await desk.table(2, 0)
    await first.begin()
    await first.play(1)
    second = await desk.table(3, 1, "end")
    await second.start()
    came = await second.talk.comes(min(_AT_ONCE_MS, desk.patience_ms))
    if came:
        await second.ready()
        for _ in range(3):
            await first.ask()
            await second.ask()
            await second.answer()
            await first.answer()
    else:
        await first.play(2)
    await first.close()
    if not came:
        await second.ready()
        await second.play(2)
    await second.close()
    return "played side by side, and not mixed" if came else "the second game waited for the first"
